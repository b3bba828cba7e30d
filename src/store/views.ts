// The views that other tools read on PostgreSQL: names, text and times in place of codes and bytes. Their columns do not change; what is
// added comes at the end, and a view with other columns gets another name.

import { KINDS } from '../registry/delegation.ts';

const kindsWith = (field: 'contract' | 'tokenId') =>
  Object.values(KINDS)
    .filter((kind) => kind[field])
    .map(({ code }) => code);

const kindNames = Object.entries(KINDS)
  .map(([kind, { code }]) => `WHEN ${code} THEN '${kind}'`)
  .join(' ');

const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`;
const printable = `encode(s.rights, 'hex') ~ '^([2-6][0-9a-f]|7[0-9a-e])+$'`;

/** Big-endian bytes as a number: five parts of seven bytes, each of which fits an integer. */
const UINT = `CREATE FUNCTION delegations_uint(bytes bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT sum(('x' || substr(lpad(encode(bytes, 'hex'), 70, '0'), 1 + 14 * part, 14))::bit(56)::bigint
    * (ARRAY[${[4, 3, 2, 1, 0].map((power) => `${2n ** (56n * BigInt(power))}::numeric`).join(', ')}])[1 + part])
  FROM generate_series(0, 4) AS part $$`;

/**
 * Whether a span `s` is known to have held: a v1 revocation that names no delegate may have ended it, and the registry's state has not
 * shown yet whether it did.
 */
export const IS_SETTLED = `(s.version > 1 OR NOT EXISTS (SELECT 1 FROM v1_read v WHERE v.chain = s.chain AND v.vault = s.from_addr
    AND v.block >= s.since_block AND v.block <= coalesce(s.until_block, v.block)
    AND (v.read_block IS NULL OR v.read_block > v.block)))`;

const COLUMNS = {
  chain_id: 's.chain',
  registry: 's.version::integer',
  type: `CASE s.kind ${kindNames} END`,
  from_address: hex('s.from_addr'),
  to_address: hex('s.to_addr'),
  contract: `CASE WHEN s.kind IN (${kindsWith('contract')}) THEN ${hex('s.contract')} END`,
  token_id: `CASE WHEN s.kind IN (${kindsWith('tokenId')}) THEN delegations_uint(s.token_id) END`,
  amount: 'delegations_uint(s.amount)',
  rights: `CASE WHEN s.version >= 2 THEN '0x' || rpad(encode(s.rights, 'hex'), 64, '0') END`,
  rights_text: `CASE WHEN ${printable} THEN convert_from(s.rights, 'UTF8') END`,
  since_block: 's.since_block',
  since_log: 's.since_log',
  since_time: 'to_timestamp(b.timestamp)',
  since_transaction: hex('g.transaction_hash'),
  until_block: 's.until_block',
  until_log: 's.until_log',
  until_time: 'to_timestamp(e.timestamp)',
  until_transaction: hex('r.transaction_hash'),
  is_settled: IS_SETTLED,
};

const select = Object.entries(COLUMNS)
  .map(([name, expression]) => `${expression} AS ${name}`)
  .join(', ');

/** Without grants that ended in their own block: they never held. */
export const VIEWS: readonly string[] = [
  UINT,
  `CREATE VIEW delegations_history AS SELECT ${select} FROM span s
    LEFT JOIN block b ON b.chain = s.chain AND b.number = s.since_block
    LEFT JOIN log g ON g.chain = s.chain AND g.block = s.since_block AND g.log_index = s.since_log
    LEFT JOIN block e ON e.chain = s.chain AND e.number = s.until_block
    LEFT JOIN log r ON r.chain = s.chain AND r.block = s.until_block AND r.log_index = s.until_log
    WHERE s.until_block IS NULL OR s.since_block < s.until_block`,
  'CREATE VIEW delegations_current AS SELECT * FROM delegations_history WHERE until_block IS NULL',
  `COMMENT ON VIEW delegations_history IS 'Version 1: every grant that ever held, and what ended it'`,
  `COMMENT ON VIEW delegations_current IS 'Version 1: the grants that hold at the newest indexed block'`,
];

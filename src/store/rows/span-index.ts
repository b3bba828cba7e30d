// The indexes on spans, and how a statement reads by one.
//
// SQLite is told the name, because its planner would read a whole chain rather than use half an index. PostgreSQL picks by its
// statistics, and with few of them it may read a whole wallet for one delegation. It cannot pick a partial index unless the
// statement repeats its condition, so there each index has a condition that is always true and that no other index has.

import { KINDS } from '../../registry/delegation.ts';
import type { ExclusiveClass } from '../../registry/exclusive.ts';
import type { Dialect, Param } from '../engine.ts';
import { EMPTY, encodeHex, encodeUint } from './cells.ts';
import { indexedBy } from './sql.ts';

const LIST_ORDER = 'chain, version, first_block, first_log, since_block, since_log';
const END_ORDER = 'until_block, until_log, since_block, since_log';

/** Rights are stored without the zeros at their end: with an expiry in the last five bytes, they have more than these. */
const EXPIRY_FROM = 27;
/** The columns of a class of exclusive grants, which begin with the identifier of the rights. */
const CLASS = ['substr(rights, 1, 24)', 'kind', 'contract', 'token_id'];
export const CLASS_CELLS = CLASS.length;
export const encodeClass = ({ id, kind, contract, tokenId }: ExclusiveClass): Param[] => [
  encodeHex(id),
  KINDS[kind].code,
  contract === null ? EMPTY : encodeHex(contract),
  tokenId === null ? EMPTY : encodeUint(tokenId),
];
export const isOfClass = (span: string, cells: readonly string[]): string =>
  CLASS.map((column, at) => `${column.replace(/rights|^\w+$/, `${span}.$&`)} = ${cells[at]}`).join(' AND ');

interface Index {
  readonly columns: string;
  /** Which spans it has: a span is in one half of those with two, so the open half is as small as the live set. */
  readonly until?: 'IS NULL' | 'IS NOT NULL';
  readonly isV1?: true;
  readonly hasContract?: true;
  /** Only rights with an expiry: of others, the end is zeros, which are not stored. */
  readonly expires?: true;
  /** The column of PostgreSQL's own condition, which is never negative. */
  readonly own?: string;
}

const halves = <Name extends string>(name: Name, index: Index, end = '') =>
  ({
    [`open_${name}`]: { ...index, until: 'IS NULL' },
    [`closed_${name}`]: { ...index, columns: `${index.columns}${end}`, until: 'IS NOT NULL' },
  }) as Record<`${'open' | 'closed'}_${Name}`, Index>;

/**
 * - vault, delegate: one delegation, and the other wallets of a wallet by address
 * - pair: everything from one v1 wallet to another, which v1 can end with one log
 * - from, to: the list of a wallet, in its order
 * - last: grants of one sort of a wallet, in the order of its list
 * - granted, received: what began of a wallet, in order; until_from, until_to: what ended
 * - since_contract, until_contract: what began and ended of a contract
 * - until: what ended on a chain
 * - exclusive_from, exclusive_to: grants with an expiry of a wallet, in the order of its list, and to a wallet, by address
 */
const INDEXES = {
  ...halves('vault', { columns: 'hot, key, from_addr', own: 'kind' }, ', until_block'),
  ...halves('delegate', { columns: 'cold, key, to_addr', own: 'first_log' }, ', until_block'),
  ...halves('pair', { columns: 'cold, hot', own: 'key', isV1: true }, ', until_block'),
  ...halves('from', { columns: `cold, ${LIST_ORDER}`, own: 'cold' }),
  ...halves('to', { columns: `hot, ${LIST_ORDER}`, own: 'hot' }),
  // Statements that compare the version must not seem to repeat the condition.
  ...halves('last', { columns: 'cold, key, first_block, first_log, since_block, since_log', own: 'version + 0' }),
  granted: { columns: 'cold, chain, since_block, since_log', own: 'since_block' },
  received: { columns: 'hot, chain, since_block, since_log', own: 'since_log' },
  until_from: { columns: `cold, ${END_ORDER}`, until: 'IS NOT NULL', own: 'until_log' },
  until_to: { columns: `hot, ${END_ORDER}`, until: 'IS NOT NULL', own: 'until_block' },
  since_contract: { columns: 'contract, chain, since_block, since_log', hasContract: true, own: 'first_block' },
  until_contract: { columns: `contract, chain, ${END_ORDER}`, until: 'IS NOT NULL', hasContract: true },
  until: { columns: `chain, ${END_ORDER}`, until: 'IS NOT NULL', own: 'chain' },
  ...halves('exclusive_from', {
    columns: `cold, ${CLASS.join(', ')}, first_block, first_log, since_block, since_log`,
    expires: true,
  }),
  exclusive_to: { columns: `hot, ${CLASS.join(', ')}, from_addr`, expires: true },
} as const satisfies Readonly<Record<string, Index>>;
export type SpanIndex = keyof typeof INDEXES;

/** The condition that spans are in an index. `s` is the table or its alias with a dot, `until` says more exactly when they ended. */
export function isInIndex(dialect: Dialect['name'], index: SpanIndex, s: string, until?: string): string {
  const { until: half, isV1, hasContract, expires, own }: Index = INDEXES[index];
  const conditions: string[] = [];
  if (half !== undefined) conditions.push(`${s}until_block ${until ?? half}`);
  if (isV1) conditions.push(`${s}version = 1`);
  if (hasContract) conditions.push(`length(${s}contract) > 0`);
  if (expires) conditions.push(`length(${s}rights) > ${EXPIRY_FROM}`);
  if (own !== undefined && dialect === 'postgres') conditions.push(`${s}${own} >= 0`);
  return conditions.join(' AND ');
}

/** What follows FROM: the spans `s` of an index that match a condition. */
export function spansBy(
  dialect: Dialect['name'],
  index: SpanIndex,
  s: string,
  where: string,
  { until, joins = '' }: { readonly until?: string; readonly joins?: string | undefined } = {},
): string {
  const conditions = [isInIndex(dialect, index, `${s}.`, until), where].filter((one) => one !== '');
  return `span AS ${s}${indexedBy(dialect, `span_${index}`)} ${joins} WHERE ${conditions.join(' AND ')}`;
}

export const createSpanIndexes = (dialect: Dialect['name']): string[] =>
  (Object.keys(INDEXES) as SpanIndex[]).map((index) => {
    const isIn = isInIndex(dialect, index, '');
    return `CREATE INDEX span_${index} ON span (${INDEXES[index].columns})${isIn === '' ? '' : ` WHERE ${isIn}`}`;
  });

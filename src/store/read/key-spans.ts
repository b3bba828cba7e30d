// Which of given delegations held, as SQL: what every check reads, of one pair or many, at the head or as of a block.

import { type DelegationKey, KINDS, NO_RIGHTS } from '../../registry/delegation.ts';
import type { Dialect, Param } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { EMPTY, encodeHex, encodeRights, encodeUint } from '../rows/cells.ts';
import type { KeyColumn } from '../rows/key-columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { params } from '../rows/sql.ts';

/** What the columns of a span are compared with: parameters, literals, or columns of a table of lookups. */
export type SpanCells = Readonly<Partial<Record<'chain' | 'hot' | 'cold' | 'key' | 'version' | KeyColumn, string>>>;

export const isSpan = (span: string, cells: SpanCells): string =>
  Object.entries(cells)
    .map(([name, value]) => `${span}.${name} = ${value}`)
    .join(' AND ');

/**
 * The spans `s` of one delegation that hold at the head, or held at the block: one at most, unless index hashes collide. In SQLite
 * they can be joined to a table of lookups; in PostgreSQL a lateral join does that.
 */
export function heldSpans(
  dialect: Dialect['name'],
  selected: string,
  cells: SpanCells,
  block: string | null,
  joined = '',
): string[] {
  const select = `SELECT ${selected} FROM ${joined}`;
  const open = `${select}${spansBy(dialect, 'open_vault', 's', isSpan('s', cells))}`;
  if (block === null) return [open];
  // Spans of one delegation never overlap: of the closed ones only the first to end after the block can hold at it.
  const isEnded = `${isSpan('e', cells)} AND e.since_block < e.until_block`;
  const firstToEnd = (what: string) =>
    `(SELECT ${what} FROM ${spansBy(dialect, 'closed_vault', 'e', isEnded, { until: `> ${block}` })} ORDER BY e.until_block LIMIT 1)`;
  const closed =
    dialect === 'sqlite'
      ? `${select}span s WHERE s.rowid = ${firstToEnd('e.rowid')} AND`
      : `${select}${firstToEnd('e.*')} AS s WHERE`;
  return [`${open} AND s.since_block <= ${block}`, `${closed} s.since_block <= ${block}`];
}

/** The keys of one question differ in kind, version, and in whether they have what the question names. */
const namedIn = (keys: readonly DelegationKey[]) => ({
  contract: keys.find(({ contract }) => contract !== null)?.contract ?? null,
  tokenId: keys.find(({ tokenId }) => tokenId !== null)?.tokenId ?? null,
  rights: keys.find(({ rights }) => rights !== null && rights !== NO_RIGHTS)?.rights ?? null,
});

/** Builds a statement once for all questions whose keys differ only in what they name. */
export function byShape<T>(
  build: (keys: readonly DelegationKey[], isHead: boolean) => T,
): (keys: readonly DelegationKey[], isHead: boolean) => T {
  const built = new Map<string, T>();
  return (keys, isHead) => {
    let shape = String(isHead);
    for (const { version, kind, rights } of keys)
      shape += ` ${version}${kind}${rights === null || rights === NO_RIGHTS ? '' : '*'}`;
    return built.getOrInsertComputed(shape, () => build(keys, isHead));
  };
}

/** The parameters of the keys of one question: the hash of each, then what the question names. */
export function encodeKeys(keys: readonly DelegationKey[], hash: IndexHash): Param[] {
  if (keys.length === 0) return [];
  const { contract, tokenId, rights } = namedIn(keys);
  const cells: Param[] = keys.map(hash.key);
  cells.push(EMPTY);
  if (contract !== null) cells.push(encodeHex(contract));
  if (tokenId !== null) cells.push(encodeUint(tokenId));
  if (rights !== null) cells.push(encodeRights(rights));
  return cells;
}

/** What a span of each key is compared with, apart from its wallets, by the parameters of `encodeKeys`. */
export function cellsOfKeys(keys: readonly DelegationKey[], first: number) {
  const named = namedIn(keys);
  const [empty = '', ...rest] = params(first + keys.length, 4);
  const [contract, tokenId, rights] = [named.contract, named.tokenId, named.rights].map((one) =>
    one === null ? empty : (rest.shift() as string),
  );
  return keys.map((key, position) => ({
    key: `$${first + position}`,
    version: String(key.version),
    kind: String(KINDS[key.kind].code),
    contract: (key.contract === null ? empty : contract) as string,
    token_id: (key.tokenId === null ? empty : tokenId) as string,
    rights: (key.rights === null || key.rights === NO_RIGHTS ? empty : rights) as string,
  }));
}

// The part of a list that is the same however its spans are returned: its sides, its order, and where it begins.

import { isAddress } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Dialect, Param } from '../engine.ts';
import { requireLimit, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { encodeHex } from '../rows/cells.ts';
import { OTHER_WALLET } from '../rows/packed.ts';
import { spansBy } from '../rows/span-index.ts';
import { params } from '../rows/sql.ts';
import type { ListQuery, ListSide } from '../store.ts';
import { HEAD, isBelowHead, mayHaveEnded, unsettledBy } from './unsettled.ts';

/** In the order of a list. `own` is the wallet's column. */
export const SIDES = {
  incoming: { code: 0, hash: 'hot', own: 'to_addr', index: 'to' },
  outgoing: { code: 1, hash: 'cold', own: 'from_addr', index: 'from' },
} as const;

const BOTH = ['incoming', 'outgoing'] as const;
const INCOMING = ['incoming'] as const;
const OUTGOING = ['outgoing'] as const;

/** The sides that a page reads: after an outgoing delegation there are no incoming ones. */
export const sidesOf = (direction?: ListSide, after?: ListSide): readonly ListSide[] => {
  if ((direction ?? after) === 'outgoing') return OUTGOING;
  return direction === undefined ? BOTH : INCOMING;
};

export const POSITION = ['first_block', 'first_log', 'since_block', 'since_log'] as const;
/** The order of each side, as columns of a span `s`. */
export const ORDER = POSITION.map((name) => `s.${name}`).join(', ');

/** What a list takes: the wallet, how many delegations, the hash of the wallet on each side, and a position. */
export function encodeWallet({ chainId, wallet, direction, after, limit }: Omit<ListQuery, 'at'>, hash: IndexHash) {
  const cells: Param[] = [encodeHex(wallet), limit];
  for (const side of sidesOf(direction, after?.side)) cells.push(hash[SIDES[side].hash](chainId, wallet));
  if (after !== undefined) cells.push(after.first.block, after.first.logIndex, after.since.block, after.since.logIndex);
  return cells;
}

/** What a statement is about. Its parameter $1 is the chain. */
interface Scanned {
  readonly version: Version;
  /** The block to read as of: a parameter, or the head. */
  readonly block: '$2' | typeof HEAD;
  /** The number of the parameter from which on it has those of `encodeWallet`. */
  readonly first: number;
  readonly direction: ListSide | undefined;
  /** The side of the position to read after. */
  readonly after: ListSide | undefined;
}

/** The parts of a statement that reads a list. */
export function listScans(dialect: Dialect['name'], { version, block, first, direction, after }: Scanned) {
  const sides = sidesOf(direction, after);
  const [wallet = '', limit = '', ...rest] = params(first, 2 + sides.length + POSITION.length);
  const hashOf = (side: ListSide) => rest[sides.indexOf(side)] as string;
  const position = rest.slice(sides.length).join(', ');
  const unsettled = sides.map((side) =>
    side === 'incoming'
      ? mayHaveEnded(dialect, { hot: hashOf(side), to: wallet }, block)
      : `(r.vault = ${wallet} AND ${mayHaveEnded(dialect, null, block)})`,
  );
  return {
    sides,
    limit,
    /** Selects a wallet whose unsettled revocation may decide the list. */
    unsettledVault: hasUnnamedRevocations(version)
      ? `SELECT r.vault ${unsettledBy(dialect, block)} AND (${unsettled.join(' OR ')}) LIMIT 1`
      : null,
    /** Selects the spans `s` of one side that are open or closed. */
    scan(side: ListSide, half: 'open' | 'closed', selected: string, joins?: string): string {
      const { hash: column, own, index } = SIDES[side];
      const conditions = [
        `s.${column} = ${hashOf(side)} AND s.chain = $1 AND s.version = ${version} AND s.${own} = ${wallet}`,
      ];
      // Nothing has ended after the head, so a list as of the head never reads closed spans.
      if (half === 'closed') conditions.push(isBelowHead(block));
      if (block !== HEAD) conditions.push(`s.first_block <= ${block}`);
      // Always true. PostgreSQL expects fewer rows of the index with it, and prefers it to the primary key.
      else if (dialect === 'postgres')
        conditions.push('s.first_block <= (SELECT h.head_number FROM chain h WHERE h.chain = $1)');
      if (side === after) conditions.push(`(${ORDER}) > (${position})`);
      if (side === 'outgoing' && direction === undefined) conditions.push(`s.${OTHER_WALLET[side]} <> ${wallet}`);
      return `SELECT ${selected} FROM ${spansBy(dialect, `${half}_${index}`, 's', conditions.join(' AND '), { joins })}`;
    },
  };
}

export function requireList({ wallet, direction, after, limit }: Omit<ListQuery, 'at'>): void {
  if (!isAddress(wallet)) throw new StoreError('bad-question', `wallet ${wallet} is not a lower-case address`);
  if (after !== undefined && after.side !== (direction ?? after.side))
    throw new StoreError(
      'bad-question',
      `a position among the ${after.side} delegations is not in a list of ${direction} ones`,
    );
  requireLimit(limit);
}

// A write transaction on one chain. Only the newest writer of a chain may commit: every earlier one is fenced off by its epoch.
//
// Commits and revisions are stamped with random numbers. After a restored backup, or a failover that lost commits, their counts
// repeat; an equal stamp means the same history up to that point.

import { isIndexOf } from '../../registry/custom-network.ts';
import type { Network } from '../../registry/network.ts';
import type { Param, WriteTransaction } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { encodeHex, jsonText } from '../rows/cells.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import type { ChainState } from '../store.ts';

export interface ChainWriter {
  readonly tx: WriteTransaction;
  readonly chainId: number;
  readonly hash: IndexHash;
}

/** Holds the chain's row until the transaction ends. */
export interface LockedWriter extends ChainWriter {
  /** The chain's state. This commit is counted already. */
  readonly before: ChainState;
}

/** Below 2^52, so that its sum with a count is exact. */
function drawStamp(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low;
}

interface Claim extends Pick<ChainState, 'chainId' | 'firstBlock' | 'partial'> {
  readonly network: Network | undefined;
}

/** Makes a writer the only one of its chain. */
export async function claim(tx: WriteTransaction, { chainId, firstBlock, partial, network }: Claim) {
  const [row = []] = await tx.rows(
    `INSERT INTO chain (chain, epoch, first_block, revision, commits, stamp, partial, network) VALUES ($1, 1, $2, 0, 0, $3, $4, $5)
      ON CONFLICT (chain) DO UPDATE SET epoch = chain.epoch + 1, commits = chain.commits + 1, stamp = excluded.stamp
      RETURNING ${CHAIN.sql}`,
    [chainId, firstBlock, drawStamp(), partial ? 1 : 0, network?.custom ?? null],
  );
  const state = decodeChain(row);
  if (state.epoch === 1) await stampRevision(tx, state);
  return network === undefined ? state : keepNetwork(tx, state, network);
}

/** Its name and block time can change, but not its registries: the index would lack the history of another one. */
async function keepNetwork(tx: WriteTransaction, state: ChainState, network: Network): Promise<ChainState> {
  const { chainId } = state;
  const custom = network.custom ?? null;
  if (!isIndexOf(network, state.network)) {
    const [was, is] = [state.network, custom].map((text) => (text === null ? 'a network in the table' : `"${text}"`));
    throw new StoreError(
      'bad-store',
      `Chain ${chainId} was indexed as ${was} and cannot go on as ${is}, which has other registries. Set NETWORK_${chainId} as it was, or index the chain into an empty database.`,
    );
  }
  await tx.run('UPDATE chain SET network = $2 WHERE chain = $1', [chainId, custom]);
  return { ...state, network: custom };
}

/** Counts the commit. Without an epoch, whoever follows the chain. */
export async function lockChain({ tx, chainId, hash }: ChainWriter, epoch?: number): Promise<LockedWriter> {
  const isWriter = epoch === undefined ? '' : 'AND epoch = $3';
  const [row] = await tx.rows(
    `UPDATE chain SET commits = commits + 1, stamp = $2 WHERE chain = $1 ${isWriter} RETURNING ${CHAIN.sql}`,
    [chainId, drawStamp(), ...(epoch === undefined ? [] : [epoch])],
  );
  if (row !== undefined) return { tx, chainId, hash, before: decodeChain(row) };
  const [chain] = await tx.rows('SELECT 1 FROM chain WHERE chain = $1', [chainId]);
  if (chain === undefined) throw new StoreError('not-started', `Chain ${chainId} is not in this store.`);
  throw new StoreError('overtaken', `Chain ${chainId}: another writer has claimed the chain since epoch ${epoch}.`);
}

/** Stamps a new revision of a chain. */
export function stampRevision(tx: WriteTransaction, { chainId, revision, head }: ChainState) {
  const cells = [chainId, revision, drawStamp(), head?.number ?? 0];
  return tx.run('INSERT INTO revision (chain, revision, stamp, head) VALUES ($1, $2, $3, $4)', cells);
}

/** Records that answers from a block on may differ from those of earlier revisions. */
export const recordRewrite = ({ tx, chainId, before: { revision } }: LockedWriter, fromBlock: number) =>
  tx.run('INSERT INTO rewrite (chain, revision, from_block) VALUES ($1, $2, $3)', [chainId, revision + 1, fromBlock]);

/** Writes what a writer may change of the state that it has locked. */
export async function writeState({ tx, chainId }: ChainWriter, state: ChainState): Promise<ChainState> {
  const { head, halt, disputes, provable, imported } = state;
  const cells = {
    head_number: head?.number ?? null,
    head_hash: head && encodeHex(head.hash),
    head_timestamp: head?.timestamp ?? null,
    verified: state.verified,
    revision: state.revision,
    confirmed_at: state.confirmedAt,
    tip: state.tip,
    agreed_block: state.agreedBlock,
    halt: halt && jsonText(halt),
    disputes: disputes.length === 0 ? null : jsonText(disputes),
    partial: Number(state.partial),
    proving: Number(state.proving),
    provable: provable === null ? null : Number(provable),
    imported: imported && jsonText(imported),
  } satisfies Partial<Record<keyof typeof CHAIN.col, Param>>;
  const set = Object.keys(cells).map((name, position) => `${name} = $${position + 2}`);
  await tx.run(`UPDATE chain SET ${set.join(', ')} WHERE chain = $1`, [chainId, ...Object.values(cells)]);
  return state;
}

/** Starts a new revision after stored history changed. Lists that were pinned at or after the block must start again. */
export async function rewriteFrom(writer: LockedWriter, fromBlock: number): Promise<ChainState> {
  await recordRewrite(writer, fromBlock);
  const state = { ...writer.before, revision: writer.before.revision + 1 };
  await stampRevision(writer.tx, state);
  return writeState(writer, state);
}

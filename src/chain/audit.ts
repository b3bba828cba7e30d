// Reads final blocks again and mends what the index lacks. What a node said once is not taken for the truth for ever.

import type { Address } from '../registry/delegation.ts';
import { type Network, registryAt } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { BlockInput, ChainState, LogRecord, Store } from '../store/store.ts';
import { compareLogs, confirmLogs, eventText, storedLogs } from './compare.ts';
import { Untrusted } from './errors.ts';
import { type BlockLogs, groupLogs } from './logs.ts';
import type { NodeLog } from './node.ts';
import { eventOf, type Nodes, readVault, resolveBlocks } from './resolve.ts';
import type { Scanner } from './scan.ts';

export interface AuditContext {
  readonly network: Network;
  readonly store: Store;
  readonly scanner: Scanner;
}

export interface Audit {
  readonly logs: number;
  /** Logs that the index lacked, and has now. */
  readonly missed: number;
  /** The lowest block with a log of ours that no receipt knows; null where all are known. */
  readonly wrongFrom: number | null;
  readonly state: ChainState;
}

/** Compares a range of final blocks log by log. */
export async function auditLogs(
  { network, store, scanner }: AuditContext,
  nodes: Nodes,
  state: ChainState,
  from: number,
  to: number,
): Promise<Audit> {
  const { chainId } = network;
  const found = groupLogs(await scanner.logs(nodes.node, from, to));
  const stored = await storedLogs(store, chainId, from, to);
  const { missing, surplus } = compareLogs(network, found, stored);
  const logs = stored.length;
  // They come in order: the first one tells, and is the lowest.
  const [first] = surplus;
  if (first !== undefined) {
    await requireUnknown(nodes, network, first);
    return { logs, missed: 0, wrongFrom: first.block.number, state };
  }
  if (missing.length === 0) return { logs, missed: 0, wrongFrom: null, state };
  await confirmLogs(nodes.node, missing);
  const lacking = new Set(missing);
  const blocks = found
    .map((block): BlockLogs => ({ ...block, logs: block.logs.filter((log: NodeLog) => lacking.has(log)) }))
    .filter(({ logs }) => logs.length > 0);
  const repaired = await repair(store, state, await resolveBlocks(nodes, network, blocks));
  return { logs, missed: missing.length, wrongFrom: null, state: await readStates(store, network, nodes, repaired) };
}

/** Throws where the nodes have the log after all: then the one whose logs lack it is at fault. */
async function requireUnknown({ node, others }: Nodes, network: Network, log: LogRecord): Promise<void> {
  const { block, transactionHash, event } = log;
  const receipt = await node.receipt(transactionHash);
  // A node that does not know the transaction may be pruned: it proves nothing.
  if (receipt === null) throw new Untrusted(`the node lacks the transactions of block ${block.number}`);
  const isIn = (logs: readonly NodeLog[]) =>
    logs
      .filter(({ blockHash, address }) => blockHash === block.hash && registryAt(network, address) !== null)
      .some((one) => eventText(eventOf(network, one)) === eventText(event));
  if (isIn(receipt)) throw new Untrusted(`the node lacks logs of block ${block.number}`);
  for (const other of others) {
    const theirs = await other.receipt(transactionHash).catch(() => null);
    if (theirs !== null && isIn(theirs)) throw new Untrusted(`another node has the log of block ${block.number}`);
  }
}

async function repair(store: Store, state: ChainState, blocks: readonly BlockInput[]): Promise<ChainState> {
  const { chainId, epoch, head } = state;
  try {
    return (await store.repair({ chainId, epoch, after: head, blocks })).state;
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'numbered-otherwise') throw error;
    // They have no place among ours: everything from there on is read anew.
    const first = blocks[0]?.number ?? 0;
    const [below] = (await store.blocks(chainId, { from: state.firstBlock, to: first - 1 })).slice(-1);
    if (below === undefined) throw error;
    const rollback = { chainId, epoch, after: head, rollbackTo: below.number, blocks: [], head: below };
    return (await store.apply(rollback)).state;
  }
}

/** A repair makes earlier readings of a wallet's v1 state void: they are made again, at their own blocks. */
async function readStates(store: Store, network: Network, nodes: Nodes, state: ChainState): Promise<ChainState> {
  const { chainId, epoch, head } = state;
  const unread = (await store.unreadRevocations(chainId)).filter(({ readAt }) => readAt === null);
  const blocks = new Map<number, BlockInput>();
  for (const { vault, block } of unread) {
    const [ref] = await store.blocks(chainId, { from: block, to: block });
    if (ref === undefined) continue;
    const read = await readVault([nodes.node, ...nodes.others], network, vault, ref);
    if (read.held === null) continue;
    const known = blocks.get(block);
    blocks.set(block, { ...ref, logs: [], vaultStates: [...(known?.vaultStates ?? []), read] });
  }
  if (blocks.size === 0) return state;
  const sorted = [...blocks.values()].sort((a, b) => a.number - b.number);
  return (await store.repair({ chainId, epoch, after: head, blocks: sorted })).state;
}

/**
 * A reading of a wallet's v1 state may have been wrong where all logs are right: those of some wallets in a range are made
 * again, or of all wallets of which that can be done.
 */
export async function readStatesAgain(
  { network, store }: Pick<AuditContext, 'network' | 'store'>,
  { node, others }: Nodes,
  state: ChainState,
  { from, to, vaults }: { from: number; to: number; vaults: ReadonlySet<Address> | null },
): Promise<ChainState> {
  const { chainId, epoch, head } = state;
  const blocks = new Map<number, BlockInput>();
  for (const { block, event, revoked } of await storedLogs(store, chainId, from, to)) {
    if (event.type !== 'unknownRevoked' || revoked !== null) continue;
    if (vaults !== null && !vaults.has(event.from)) continue;
    const read = await readVault([node, ...others], network, event.from, block);
    if (vaults === null && read.held === null) continue;
    const known = (blocks.get(block.number)?.vaultStates ?? []).filter(({ vault }) => vault !== event.from);
    blocks.set(block.number, { ...block, logs: [], vaultStates: [...known, read] });
  }
  return blocks.size === 0
    ? state
    : (await store.repair({ chainId, epoch, after: head, blocks: [...blocks.values()] })).state;
}

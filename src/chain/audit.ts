// Reads final blocks again and mends what the index lacks. What a node said once is not taken for the truth for ever.

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
  if (surplus.length > 0) {
    const wrong = await unknownTo(nodes, network, surplus);
    // The node's own receipts have what its logs lack: the node is at fault, not we.
    if (wrong.length === 0) throw new Untrusted(`the node lacks logs of block ${surplus[0]?.block.number}`);
    return { logs, missed: 0, wrongFrom: Math.min(...wrong.map(({ block }) => block.number)), state };
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

/** Those of our logs that are in no receipt of the node. */
async function unknownTo({ node }: Nodes, network: Network, logs: readonly LogRecord[]): Promise<LogRecord[]> {
  const unknown: LogRecord[] = [];
  for (const log of logs) {
    const receipt = await node.receipt(log.transactionHash);
    // A node that does not know the transaction may be pruned: it proves nothing.
    if (receipt === null) throw new Untrusted(`the node lacks the transactions of block ${log.block.number}`);
    const isThere = receipt
      .filter(({ blockHash, address }) => blockHash === log.block.hash && registryAt(network, address) !== null)
      .some((one) => eventText(eventOf(network, one)) === eventText(log.event));
    if (!isThere) unknown.push(log);
  }
  return unknown;
}

async function repair(store: Store, state: ChainState, blocks: readonly BlockInput[]): Promise<ChainState> {
  const { chainId, epoch, head } = state;
  try {
    return (await store.repair({ chainId, epoch, after: head, blocks })).state;
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'bad-batch') throw error;
    // Logs that were numbered otherwise have no place among ours: everything from there on is read anew.
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

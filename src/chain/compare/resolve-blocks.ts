// Turns logs into blocks for the store: adds block times, events, and in old history the delegate that a v1 revocation's
// transaction names.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { revokedDelegate } from '../../registry/v1-revocation.ts';
import type { BlockInput, BlockRef, LogInput } from '../../store/store.ts';
import { Inconsistent } from '../rpc/errors.ts';
import type { Header, Node, NodeLog } from '../rpc/node.ts';
import { type BlockLogs, decodeLog } from '../rpc/registry-logs.ts';

export const toBlockInput = (
  network: Network,
  { number, hash, timestamp }: BlockRef,
  logs: readonly NodeLog[],
  isProven: boolean,
): BlockInput => ({ number, hash, timestamp, isProven, logs: logs.map((log) => toLogInput(network, log)) });

function toLogInput(network: Network, log: NodeLog): LogInput {
  const { logIndex, transactionHash } = log;
  const event = decodeLog(network, log);
  return { logIndex, transactionHash, event, ...(event.type === 'unknownRevoked' ? { revoked: null } : {}) };
}

/** `isOld`: the state of these blocks is hardly to be had, so the transactions of v1 revocations are read. */
export async function resolveBlocks(
  node: Node,
  network: Network,
  found: readonly (BlockLogs & { readonly isProven?: boolean })[],
  { isOld, ...options }: TimeOptions & { readonly isOld: boolean },
): Promise<BlockInput[]> {
  const times = await resolveTimes(node, found, options);
  const blocks = found.map(({ number, hash, logs, isProven = false }): BlockInput => {
    const { time, from } = times.get(number) as BlockTime;
    return { ...toBlockInput(network, { number, hash, timestamp: time }, logs, isProven), timeFrom: from };
  });
  const unnamed = (isOld ? blocks.flatMap(({ logs }) => logs) : []).flatMap((log) => {
    const { event, transactionHash } = log;
    const isUnnamed = event.type === 'unknownRevoked' && !NO_TRANSACTION.test(transactionHash);
    return isUnnamed ? [{ log, transactionHash, vault: event.from }] : [];
  });
  if (unnamed.length === 0) return blocks;
  const revoked = await readRevoked(node, network, unnamed);
  const named = new Map(unnamed.map(({ log }, position) => [log, { ...log, revoked: revoked[position] ?? null }]));
  return blocks.map((block) => ({ ...block, logs: block.logs.map((log) => named.get(log) ?? log) }));
}

const NO_TRANSACTION = /^0x0+$/;

/**
 * For each log, the delegate that the wallet revoked by calling the registry itself. Null without a wallet, or if it called another
 * contract, and undefined if the node does not have the transaction.
 */
export async function readRevoked(
  node: Node,
  { registries }: Network,
  logs: readonly { readonly transactionHash: Bytes32; readonly vault: Address | null }[],
): Promise<(Address | null | undefined)[]> {
  const asked = logs.filter(({ vault }) => vault !== null).map(({ transactionHash }) => transactionHash);
  const transactions = (await node.transactions(asked)).values();
  return logs.map(({ vault }) => {
    if (vault === null) return null;
    const transaction = transactions.next().value;
    return transaction ? revokedDelegate(transaction, vault, registries[1] as Address) : undefined;
  });
}

interface TimeOptions {
  /** Headers that were already fetched. */
  readonly known?: ReadonlyMap<number, Header>;
  /** Times in logs are used only if they rise within these bounds. Without bounds they are not used. */
  readonly between?: { readonly after: number; readonly until: number };
}

interface BlockTime {
  /** Unix seconds. */
  readonly time: number;
  readonly from: 'header' | 'log';
}

/** From headers, or from `blockTimestamp` in the logs if a sample of headers agrees. */
export async function resolveTimes(
  node: Node,
  found: readonly BlockLogs[],
  { known = new Map(), between }: TimeOptions,
): Promise<Map<number, BlockTime>> {
  const times = new Map<number, BlockTime>();
  const setFromHeader = (block: BlockLogs, header: Header | undefined) => {
    if (header?.hash !== block.hash) throw new Inconsistent(`block ${block.number} has two hashes`);
    times.set(block.number, { time: header.timestamp, from: 'header' });
  };
  const readHeaders = async (blocks: readonly BlockLogs[]) => {
    const headers = await node.headers(blocks.map(({ number }) => number));
    for (const [position, block] of blocks.entries()) setFromHeader(block, headers[position]);
  };
  const left: BlockLogs[] = [];
  for (const block of found) {
    if (known.has(block.number)) setFromHeader(block, known.get(block.number));
    else left.push(block);
  }
  const timed = found.filter(({ timestamp }) => timestamp !== null);
  const sample = isPlausible(timed, between) ? [...new Set([timed[0], timed[timed.length >> 1], timed.at(-1)])] : [];
  await readHeaders(left.filter((block) => block.timestamp === null || sample.length === 0 || sample.includes(block)));
  const isSampleRight = sample.every((block) => block && times.get(block.number)?.time === block.timestamp);
  const others = left.filter(({ number }) => !times.has(number));
  if (!isSampleRight) await readHeaders(others);
  else for (const { number, timestamp } of others) times.set(number, { time: timestamp as number, from: 'log' });
  return times;
}

function isPlausible(timed: readonly BlockLogs[], between: TimeOptions['between']): boolean {
  if (between === undefined || timed.length === 0) return false;
  let last = between.after;
  for (const { timestamp } of timed) {
    if (timestamp === null || timestamp < last || timestamp > between.until) return false;
    last = timestamp;
  }
  return true;
}

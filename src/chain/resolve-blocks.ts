// From a provider's logs to the store's blocks: times, events, and whom a v1 revocation revoked where the transaction tells.

import { decodeEvent, type RegistryEvent } from '../registry/event.ts';
import { type Network, registryAt } from '../registry/network.ts';
import { revokedDelegate } from '../registry/v1-revocation.ts';
import type { BlockInput, LogInput } from '../store/store.ts';
import { Inconsistent } from './errors.ts';
import type { BlockLogs } from './group-logs.ts';
import type { Header, Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface ResolveOptions {
  /** Headers that were read already. */
  readonly known?: ReadonlyMap<number, Header>;
  /** Times that logs tell are taken where they lie between these, and a few headers findConsensus. */
  readonly between?: { readonly after: number; readonly until: number };
}

/** Blocks as the store takes them. */
export async function resolveBlocks(
  node: Node,
  network: Network,
  found: readonly BlockLogs[],
  { known = new Map(), between }: ResolveOptions = {},
): Promise<BlockInput[]> {
  const times = await timesOf(node, found, known, between);
  const revoked = await revokedBy(node, network, found);
  return found.map(({ number, hash, logs }): BlockInput => {
    const { time, from } = times.get(number) as Time;
    return {
      number,
      hash,
      timestamp: time,
      timeFrom: from,
      logs: logs.map((log): LogInput => {
        const input = { logIndex: log.logIndex, transactionHash: log.transactionHash, event: decodeLog(network, log) };
        return input.event.type === 'unknownRevoked' ? { ...input, revoked: revoked.get(log) ?? null } : input;
      }),
    };
  });
}

interface Time {
  readonly time: number;
  readonly from: 'header' | 'log';
}

async function timesOf(
  node: Node,
  found: readonly BlockLogs[],
  known: ReadonlyMap<number, Header>,
  between: ResolveOptions['between'],
): Promise<Map<number, Time>> {
  const times = new Map<number, Time>();
  const set = (block: BlockLogs, header: Header | undefined) => {
    if (header?.hash !== block.hash) throw new Inconsistent(`block ${block.number} has two hashes`);
    times.set(block.number, { time: header.timestamp, from: 'header' });
  };
  const left: BlockLogs[] = [];
  for (const block of found) {
    if (known.has(block.number)) set(block, known.get(block.number));
    else left.push(block);
  }
  const told = left.filter(({ timestamp }) => timestamp !== null);
  // A few headers tell whether the times in the logs can be believed: the first, the last and the middle one.
  const sample = isPlausible(told, between) ? [...new Set([told[0], told[told.length >> 1], told.at(-1)])] : [];
  const missing = left.filter((block) => block.timestamp === null || sample.length === 0 || sample.includes(block));
  await read(missing);
  const isHonest = sample.every((block) => block && times.get(block.number)?.time === block.timestamp);
  const others = left.filter(({ number }) => !times.has(number));
  if (!isHonest) await read(others);
  else for (const { number, timestamp } of others) times.set(number, { time: timestamp as number, from: 'log' });
  return times;

  async function read(blocks: readonly BlockLogs[]) {
    const headers = await node.headers(blocks.map(({ number }) => number));
    for (const [position, block] of blocks.entries()) set(block, headers[position]);
  }
}

function isPlausible(told: readonly BlockLogs[], between: ResolveOptions['between']): boolean {
  if (between === undefined || told.length === 0) return false;
  let last = between.after;
  for (const { timestamp } of told) {
    if (timestamp === null || timestamp < last || timestamp > between.until) return false;
    last = timestamp;
  }
  return true;
}

const NO_TRANSACTION = /^0x0+$/;

/** A log is looked at again and again where providers are compared. */
const decoded = new WeakMap<NodeLog, RegistryEvent>();

export function decodeLog(network: Network, log: NodeLog): RegistryEvent {
  let event = decoded.get(log);
  if (event === undefined) {
    event = decode(network, log);
    decoded.set(log, event);
  }
  return event;
}

function decode(network: Network, log: NodeLog): RegistryEvent {
  const version = registryAt(network, log.address);
  if (version === null) throw new RpcError('malformed', `a log of ${log.address}, which is no registry`);
  return decodeEvent(version, log);
}

/** Whom v1 revocations that name no delegate revoked, where the transaction went straight to the registry. */
async function revokedBy(node: Node, network: Network, found: readonly BlockLogs[]) {
  const revoked = new Map<NodeLog, NonNullable<LogInput['revoked']>>();
  const registry = network.registries[1];
  if (registry === undefined) return revoked;
  const logs = found.flatMap((block) => block.logs).filter((log) => registryAt(network, log.address) === 1);
  const unnamed = logs.flatMap((log) => {
    const event = decodeLog(network, log);
    return event.type === 'unknownRevoked' && !NO_TRANSACTION.test(log.transactionHash) ? [{ log, event }] : [];
  });
  if (unnamed.length === 0) return revoked;
  const transactions = await node.transactions(unnamed.map(({ log }) => log.transactionHash));
  for (const [position, { log, event }] of unnamed.entries()) {
    const transaction = transactions[position] ?? null;
    const delegate = transaction && revokedDelegate(transaction, event.from, registry);
    if (delegate !== null) revoked.set(log, delegate);
  }
  return revoked;
}

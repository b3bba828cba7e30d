// Proves a block against its hash: the header hashes to it, and the receipts of all transactions hash to the root in the header.

import type { Bytes32 } from '../../registry/delegation.ts';
import { type Network, registryAt } from '../../registry/network.ts';
import { Inconsistent, Untrusted } from '../rpc/errors.ts';
import { type Header, isBytes32, type Json, type Node, type NodeLog, parseLogs } from '../rpc/node.ts';
import { isExcluded } from './absence.ts';
import { encodeHeader } from './header.ts';
import { receiptsRoot, stateSyncHash } from './receipts.ts';

interface Roots {
  readonly receipts: Bytes32;
  readonly state: Bytes32;
  /** The encoded header. */
  readonly rlp: Uint8Array;
}

/** A header is used several times, and to hash it takes 50 µs, or milliseconds where a thousand times are tried. */
const cache = new WeakMap<Header, Roots | null>();

const lower = (value: Bytes32) => value.toLowerCase() as Bytes32;

/** What the hash of a block commits to. Null if its header does not hash to it. */
export function rootsOf(header: Header): Roots | null {
  return cache.getOrInsertComputed(header, ({ json }) => {
    const { receiptsRoot: receipts, stateRoot: state } = json;
    const rlp = isBytes32(receipts) && isBytes32(state) ? encodeHeader(json) : null;
    return rlp && { receipts: lower(receipts as Bytes32), state: lower(state as Bytes32), rlp };
  });
}

export function requireRoots(header: Header): Roots {
  const roots = rootsOf(header);
  if (roots === null) throw new Untrusted(`the header of block ${header.number} does not hash to ${header.hash}`);
  // Without what the node returned beside.
  const kept = { ...header, json: {} };
  cache.set(kept, roots);
  proven.set(header.hash, kept);
  for (const oldest of proven.keys().take(Math.max(0, proven.size - MAX_PROVEN))) proven.delete(oldest);
  return roots;
}

/** A header that hashes to its hash is the same on every node: this saves a call for each block with logs or revocations. */
const proven = new Map<Bytes32, Header>();
const MAX_PROVEN = 100;

/** Null if the node does not have the block. */
export async function fetchProven(node: Node, hash: Bytes32): Promise<Header | null> {
  const header = proven.get(hash) ?? (await node.headerOf(hash));
  if (header !== null) requireRoots(header);
  return header;
}

/** The registry logs that a block's hash commits to. Throws `Untrusted` if the node returns receipts that are not the block's. */
export async function proveLogs(network: Network, node: Node, header: Header): Promise<readonly NodeLog[]> {
  const roots = requireRoots(header);
  if (isExcluded(network, header.bloom)) return [];
  const receipts = await node.blockReceipts(header);
  if (receipts.some(({ blockHash }) => typeof blockHash === 'string' && blockHash.toLowerCase() !== header.hash))
    throw new Inconsistent(`block ${header.number} changed while its receipts were read`);
  const stateSync = stateSyncHash(network, header);
  const covered = receipts.filter(({ transactionHash }) => transactionHash !== stateSync);
  if (receiptsRoot(covered) !== roots.receipts)
    throw new Untrusted(`the receipts of block ${header.number} do not hash to the root in its header`, header.number);
  return registryLogs(network, header, covered);
}

/** Their number within the block is computed too, because nodes number logs differently. */
function registryLogs(network: Network, header: Header, receipts: readonly Json[]): NodeLog[] {
  const found: NodeLog[] = [];
  let logIndex = 0;
  for (const [transactionIndex, { logs, transactionHash }] of receipts.entries()) {
    for (const log of logs as readonly Record<string, unknown>[]) {
      const place = { blockNumber: `0x${header.number.toString(16)}`, blockHash: header.hash, transactionHash };
      const isOwn = registryAt(network, String(log['address'])) !== null;
      if (isOwn)
        for (const one of parseLogs([{ ...log, ...place, logIndex: '0x0', removed: false }]))
          found.push({ ...one, logIndex, transactionIndex, blockTimestamp: header.timestamp });
      logIndex++;
    }
  }
  return found;
}

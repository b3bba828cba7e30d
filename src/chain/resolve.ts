// From a node's logs to the store's blocks: times, events, and whom a v1 revocation revoked.

import type { Address } from '../registry/delegation.ts';
import { decodeEvent } from '../registry/event.ts';
import { type Network, registryAt } from '../registry/network.ts';
import { decodeVaultState, revokedDelegate } from '../registry/v1-revocation.ts';
import type { BlockInput, BlockRef, LogInput, VaultState } from '../store/store.ts';
import { Inconsistent } from './errors.ts';
import type { BlockLogs } from './logs.ts';
import type { Header, Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

/** The three getters that tell all that a wallet has left in the v1 registry. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

export interface Nodes {
  /** The one that this tick keeps to. */
  readonly node: Node;
  /** Whom to ask for what it does not have. */
  readonly others: readonly Node[];
}

/** Blocks as the store takes them. `known` are headers that were read already. */
export async function resolveBlocks(
  { node, others }: Nodes,
  network: Network,
  found: readonly BlockLogs[],
  known: ReadonlyMap<number, Header> = new Map(),
): Promise<BlockInput[]> {
  const times = await timesOf(node, found, known);
  const blocks: BlockInput[] = [];
  for (const { number, hash, logs } of found) {
    const ref: BlockRef = { number, hash, timestamp: times.get(number) as number };
    const inputs: LogInput[] = [];
    const unread = new Set<Address>();
    for (const log of logs) {
      const input = await resolveLog(node, network, log);
      if (input.event.type === 'unknownRevoked' && !input.revoked) unread.add(input.event.from);
      inputs.push(input);
    }
    const vaultStates: VaultState[] = [];
    for (const vault of unread) vaultStates.push(await readVault([node, ...others], network, vault, ref));
    blocks.push({ ...ref, logs: inputs, ...(vaultStates.length > 0 ? { vaultStates } : {}) });
  }
  return blocks;
}

async function timesOf(node: Node, found: readonly BlockLogs[], known: ReadonlyMap<number, Header>) {
  const times = new Map<number, number>();
  const missing: BlockLogs[] = [];
  for (const block of found) {
    const header = known.get(block.number);
    if (header !== undefined && header.hash !== block.hash)
      throw new Inconsistent(`block ${block.number} has two hashes`);
    const time = header?.timestamp ?? block.timestamp;
    if (time === null) missing.push(block);
    else times.set(block.number, time);
  }
  const headers = await node.headers(missing.map(({ number }) => number));
  for (const [position, header] of headers.entries()) {
    if (header.hash !== missing[position]?.hash) throw new Inconsistent(`block ${header.number} has two hashes`);
    times.set(header.number, header.timestamp);
  }
  return times;
}

const NO_TRANSACTION = /^0x0+$/;

export function eventOf(network: Network, log: NodeLog) {
  const version = registryAt(network, log.address);
  if (version === null) throw new RpcError('malformed', `a log of ${log.address}, which is no registry`);
  return decodeEvent(version, log);
}

async function resolveLog(node: Node, network: Network, log: NodeLog): Promise<LogInput> {
  const event = eventOf(network, log);
  const input = { logIndex: log.logIndex, transactionHash: log.transactionHash, event };
  const registry = network.registries[1];
  if (event.type !== 'unknownRevoked' || registry === undefined) return input;
  const transaction = NO_TRANSACTION.test(log.transactionHash) ? null : await node.transaction(log.transactionHash);
  return { ...input, revoked: transaction === null ? null : revokedDelegate(transaction, event.from, registry) };
}

/** What the registry has left of a wallet at the end of a block; unknown where no node can tell. */
export async function readVault(
  nodes: readonly Node[],
  network: Network,
  vault: Address,
  block: BlockRef,
): Promise<VaultState> {
  const registry = network.registries[1] as Address;
  const calls = GETTERS.map((selector) => selector + vault.slice(2).padStart(64, '0'));
  for (const [position, node] of nodes.entries()) {
    try {
      const [all = '', contracts = '', tokens = ''] = await node.read(registry, calls, block);
      const held = decodeVaultState(vault, {
        getDelegatesForAll: all,
        getContractLevelDelegations: contracts,
        getTokenLevelDelegations: tokens,
      });
      return { vault, held };
    } catch (error) {
      // A node without that state says so. The others may be away for long, and the chain does not wait for them; the one
      // that this tick keeps to is asked again where it is away. Where it answers all but this, the state is too much for
      // it: anyone can make such a wallet.
      const isAway = error instanceof RpcError && error.fault === 'unreachable';
      if (
        position === 0 &&
        isAway &&
        !(await node.chainId().then(
          () => true,
          () => false,
        ))
      )
        throw error;
    }
  }
  return { vault, held: null };
}

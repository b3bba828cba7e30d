// Recordings of the genuine registries: every block, every log, and at some blocks the true answers.

import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import { decodeEvent } from '../../src/registry/event.ts';
import { NETWORKS, type Network, registryAt } from '../../src/registry/network.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import type { RawVaultState } from '../../src/registry/return-data.ts';
import { revokedDelegate } from '../../src/registry/v1-revocation.ts';
import type { BlockInput, LogInput, Settlement } from '../../src/store/store.ts';

export interface Recording {
  readonly name: string;
  readonly chainId: number;
  readonly vaults: readonly Address[];
  readonly delegates: readonly Address[];
  readonly contracts: readonly Address[];
  readonly tokenIds: readonly string[];
  readonly rights: readonly Bytes32[];
  readonly blocks: readonly RecordedBlock[];
  readonly checkpoints: readonly Checkpoint[];
}

export interface RecordedBlock {
  readonly number: number;
  readonly hash: Bytes32;
  readonly parentHash: Bytes32;
  readonly timestamp: number;
  readonly txs: readonly {
    readonly hash: Bytes32;
    readonly from: Address;
    readonly to: Address;
    readonly input: string;
    readonly calls: readonly RegistryCall[];
    readonly logs: readonly { address: Address; logIndex: number; topics: string[]; data: string }[];
  }[];
  readonly v1State?: Readonly<Record<Address, RawVaultState>>;
}

export interface Checkpoint {
  readonly blockNumber: number;
  readonly v1: { readonly true: readonly string[][]; readonly lists: Readonly<Record<Address, ListV1>> };
  readonly v2: {
    readonly true: readonly string[][];
    readonly amounts: readonly string[][];
    readonly lists: Readonly<Record<Address, { incoming: RowV2[]; outgoing: RowV2[] }>>;
  };
}

interface ListV1 {
  readonly incoming: { type_: number; vault: string; delegate: string; contract_: string; tokenId: string }[];
  readonly outAll: string[];
  readonly outContract: { contract_: string; delegate: string }[];
  readonly outToken: { contract_: string; tokenId: string; delegate: string }[];
}

interface RowV2 {
  readonly type_: number;
  readonly to: string;
  readonly from: string;
  readonly rights: string;
  readonly contract_: string;
  readonly tokenId: string;
  readonly amount: string;
}

/** The genuine exclusive resolver's answers at checkpoints, beside the registry's logs. Identifiers have 24 bytes. */
export interface ExclusiveRecording extends Pick<Recording, 'chainId' | 'rights' | 'blocks'> {
  readonly owners: readonly (readonly [contract: Address, tokenId: string, owner: Address])[];
  readonly checkpoints: readonly {
    readonly blockNumber: number;
    readonly timestamp: number;
    readonly exclusive: {
      readonly owner: readonly (readonly [contract: Address, tokenId: string, id: string, answer: Address])[];
      readonly wallet: readonly (readonly [vault: Address, id: string, answer: Address])[];
      readonly wallets: readonly (readonly [wallet: Address, id: string, answers: readonly Address[]])[];
    };
  }[];
}

export const EXCLUSIVE_RECORDING: ExclusiveRecording = await Bun.file(
  new URL('../vectors/exclusive.json', import.meta.url),
).json();

export const RECORDINGS: readonly Recording[] = await Promise.all(
  ['a', 'b', 'c'].map(async (name) => ({
    name,
    ...(await Bun.file(new URL(`../vectors/${name}.json`, import.meta.url)).json()),
  })),
);

const ROOTS = await Promise.all(
  ['a-roots', 'b-roots', 'c-proofs'].map((name) =>
    Bun.file(new URL(`../vectors/${name}.json`, import.meta.url)).json(),
  ),
);

/** The storage roots of the genuine registries, v1 and v2, after each block of a recording. */
export const storageRoots = (name: string): ReadonlyMap<number, readonly string[]> =>
  new Map(ROOTS[['a', 'b', 'c'].indexOf(name)].storage.map(([block, ...roots]: [number, string]) => [block, roots]));

/** Those that are replayed block by block: a fast run does so with the smallest only. */
export const REPLAYED = RECORDINGS.filter(({ name }) => !process.env['TEST_FAST'] || name === 'c');

export const MAINNET = NETWORKS.get(1) as Network;

/** A recorded block as the store takes it: from its logs, its transactions' inputs and what its calls really did. */
export function blockInput(block: RecordedBlock): BlockInput {
  const revoked = new Map<Address, { delegate: Address; endedBy: number }[]>();
  // The recording numbers logs within their transaction; a chain numbers them within the block.
  let logIndex = 0;
  const logs = block.txs.flatMap((tx) => {
    // What really happened, in the order of the logs.
    const unnamed = tx.calls.filter(
      ([, caller, name, [to]]) => name === 'revokeDelegate' || (name === 'revokeSelf' && to === caller),
    );
    return tx.logs.map((log): LogInput => {
      const version = registryAt(MAINNET, log.address);
      if (version === null) throw new Error(`${log.address} is no registry`);
      const event = decodeEvent(version, log);
      const input = { logIndex: logIndex++, transactionHash: tx.hash, event };
      if (event.type !== 'unknownRevoked') return input;
      const delegate = revokedDelegate(tx, event.from, MAINNET.registries[1] as Address);
      const call = unnamed.shift();
      if (delegate !== null) return { ...input, revoked: delegate };
      if (call?.[1] !== event.from)
        throw new Error(`Block ${block.number} has no recorded revocation of ${event.from}`);
      const pair = { delegate: call[3][0] as Address, endedBy: input.logIndex };
      revoked.set(event.from, [...(revoked.get(event.from) ?? []), pair]);
      return { ...input, revoked: null };
    });
  });
  const { number, hash, timestamp } = block;
  const settlements = [...revoked].map(([vault, pairs]): Settlement => {
    return { vault, block: { number, hash }, readAt: number, pairs, complete: true };
  });
  return { number, hash, timestamp, logs, settlements };
}

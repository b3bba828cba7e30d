// Reads what settles v1 revocations: words of the registry's storage at a block, proven against the block's state root if a provider serves
// proofs, otherwise as all providers return them alike; and the delegates that transactions name, as all providers return them alike.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { jsonText } from '../../store/rows/cells.ts';
import type { LogRecord, Revocation } from '../../store/store.ts';
import { isEqual, readStoredLogs } from '../compare/compare-logs.ts';
import type { Context } from '../compare/context.ts';
import { readRevoked } from '../compare/resolve-blocks.ts';
import { fetchProven, proveLogs } from '../prove/block.ts';
import { readProven } from '../prove/state.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import { chunksOf } from '../rpc/rpc.ts';

/** Slots per call. */
const CHUNK = 100;

/** Providers do not say it, or contradict each other. */
export class Unknown extends Error {
  override readonly name = 'Unknown';
  readonly isDisputed: boolean;
  constructor(message: string, isDisputed = false) {
    super(message);
    this.isDisputed = isDisputed;
  }
}

/** Undefined if it is unknown. */
export const ifKnown = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error) => {
    if (error instanceof Unknown) return undefined;
    throw error;
  });

/** Throws `Unknown`. */
export async function readWords(
  context: Context,
  providers: TickProviders,
  slots: readonly Bytes32[],
  block: BlockId,
): Promise<readonly bigint[]> {
  const registry = context.network.registries[1] as Address;
  for (const { node } of context.proof.isProven ? providers : []) {
    try {
      return await inChunks(slots, (some) => readProven(node, registry, some, block));
    } catch {
      // The node does not serve proofs, or not of that block.
    }
  }
  return agreeAll(context, providers, async ({ node }) => {
    const words = await inChunks(slots, (some) => node.storageAt(registry, some, block));
    // Some nodes return zeros for state that they have pruned.
    return words.every((word) => word === 0n) && !(await node.hasState(block.number)) ? null : words;
  });
}

const inChunks = async (slots: readonly Bytes32[], read: (some: readonly Bytes32[]) => Promise<bigint[]>) =>
  (await Array.fromAsync(chunksOf(slots, CHUNK), read)).flat();

/**
 * Asks all providers. All that are configured must answer, and agree: what cannot be proven is believed only if an honest provider among
 * them says it too. `ask` returns null, or throws, if a provider does not know. Throws `Unknown`.
 */
export async function agreeAll<T>(
  { providerCount }: Context,
  providers: TickProviders,
  ask: (provider: Provider) => Promise<T | null>,
): Promise<T> {
  let reason = 'no provider has the state';
  const answers = await Promise.all(
    providers.map((provider) =>
      ask(provider).catch((error: Error) => {
        reason = `${provider.name}: ${error.message}`;
        return null;
      }),
    ),
  );
  const known = answers.filter((answer) => answer !== null);
  if (new Set(known.map(jsonText)).size > 1) throw new Unknown('the providers disagree', true);
  if (known.length < providerCount) throw new Unknown(reason);
  return known[0] as T;
}

/** The delegates that the revocations in a block name, by log index. Empty if the providers do not agree. */
export async function readNamed(context: Context, providers: TickProviders, block: BlockId) {
  const logs = await readStoredLogs(context.store, context.network.chainId, block.number);
  const delegates = await ifKnown(readInputs(context, providers, block, logs));
  const named = new Map<number, Address>();
  for (const [position, delegate] of delegates?.entries() ?? [])
    if (delegate !== null) named.set((logs[position] as LogRecord).logIndex, delegate);
  return named;
}

/** Null unless each of its logs is named. */
export function settleNamed({ vault, block, logIndexes }: Revocation, named: ReadonlyMap<number, Address>) {
  const pairs = logIndexes.flatMap((logIndex) => {
    const delegate = named.get(logIndex);
    return delegate === undefined ? [] : [{ delegate, endedBy: logIndex, knownFrom: block.number }];
  });
  return pairs.length < logIndexes.length ? null : { vault, block, readAt: block.number, pairs, complete: true };
}

/** For each stored log of a block, the delegate that its transaction revoked by a call to the registry, or null. Throws `Unknown`. */
export function readInputs(context: Context, providers: TickProviders, block: BlockId, logs: readonly LogRecord[]) {
  const { network } = context;
  return agreeAll(context, providers, async (provider) => {
    // No root commits to the transaction of a log as nodes return it, so each provider says which one it is.
    const theirs = await fetchLogs(context, provider, block);
    if (!isEqual(network, theirs, logs)) return null;
    const asked = theirs.map(({ transactionHash }, position) => {
      const event = logs[position]?.event;
      return { transactionHash, vault: event?.type === 'unknownRevoked' ? event.from : null };
    });
    const revoked = await readRevoked(provider.node, network, asked);
    return revoked.every((delegate) => delegate !== undefined) ? revoked : null;
  });
}

async function fetchLogs({ network, proof }: Context, { node, scanner }: Provider, { hash }: BlockId) {
  if (!proof.isProven) return scanner.fetchBlockLogs(hash);
  const header = await fetchProven(node, hash);
  return header === null ? [] : proveLogs(network, node, header);
}

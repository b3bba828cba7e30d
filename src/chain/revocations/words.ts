// Reads words of the v1 registry's storage at a block: proven against the block's state root if a provider serves proofs, otherwise as
// all providers return them alike.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { jsonText } from '../../store/rows/cells.ts';
import type { Context } from '../compare/context.ts';
import { fetchProven, requireRoots } from '../prove/block.ts';
import { provenWords } from '../prove/state.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';

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
      const header = await fetchProven(node, block.hash);
      if (header === null) continue;
      const { state } = requireRoots(header);
      return await inChunks(slots, async (some) =>
        provenWords(state, registry, some, await node.storageProof(registry, some, block)),
      );
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

async function inChunks<T>(slots: readonly Bytes32[], read: (some: readonly Bytes32[]) => Promise<T[]>): Promise<T[]> {
  const words: T[] = [];
  for (let from = 0; from < slots.length; from += CHUNK) words.push(...(await read(slots.slice(from, from + CHUNK))));
  return words;
}

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

// Reads words of a registry's storage at a block: proven against the block's state root if a provider serves proofs, otherwise as
// all providers return them alike.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { jsonText } from '../../store/rows/cells.ts';
import { allProviders, type FollowerContext, type TickProviders } from '../compare/context.ts';
import { fetchProven, requireRoots } from '../prove/block.ts';
import { provenWords } from '../prove/state.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';

/** Slots per call. */
const CHUNK = 100;

/** What providers say about one thing. The value is undefined if they do not know or disagree. */
export interface Agreement<T> {
  readonly value: T | undefined;
  readonly reason: string;
  readonly isDisputed?: boolean;
}

export async function readWords(
  context: FollowerContext,
  providers: TickProviders,
  address: Address,
  slots: readonly Bytes32[],
  block: BlockId,
): Promise<Agreement<readonly bigint[]>> {
  if (slots.length === 0) return { value: [], reason: '' };
  for (const { node } of context.proof.isProven ? allProviders(providers) : []) {
    try {
      const header = await fetchProven(node, block.hash);
      if (header === null) continue;
      const { state } = requireRoots(header);
      return {
        value: await inChunks(slots, async (some) =>
          provenWords(state, address, some, await node.storageProof(address, some, block)),
        ),
        reason: '',
      };
    } catch {
      // The node does not serve proofs, or not of that block.
    }
  }
  return agreeAll(context, providers, async ({ node }) => {
    const words = await inChunks(slots, (some) => node.storageAt(address, some, block));
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
 * them says it too. `ask` returns null, or throws, if a provider does not know.
 */
export async function agreeAll<T>(
  { providerCount }: FollowerContext,
  providers: TickProviders,
  ask: (provider: Provider) => Promise<T | null>,
): Promise<Agreement<T>> {
  let reason = 'no provider has the state';
  const all = allProviders(providers);
  const answers = await Promise.all(
    all.map(async (provider) => {
      try {
        return await ask(provider);
      } catch (error) {
        reason = `${provider.name}: ${(error as Error).message}`;
        return null;
      }
    }),
  );
  const known = answers.filter((answer) => answer !== null);
  const [value] = known;
  if (new Set(known.map(jsonText)).size > 1)
    return { value: undefined, reason: 'the providers disagree', isDisputed: true };
  if (known.length < providerCount) return { value: undefined, reason };
  return { value, reason };
}

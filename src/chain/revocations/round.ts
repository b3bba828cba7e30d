// Lets the wallets of one tick read and write together: what they need of the same block once, and settlements in one transaction.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { Settlement } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { BlockId } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { readNamed, readWords } from './words.ts';

/** What one wallet waits for: words of a block, or that its settlements are written. */
interface Asked extends PromiseWithResolvers<readonly bigint[]> {
  readonly read?: { readonly block: BlockId; readonly slots: readonly Bytes32[] };
  readonly settlements?: readonly Settlement[];
}

export type Round = ReturnType<typeof createRound>;

/**
 * What is asked for runs when all wallets that have not left wait for something. Nothing is written if anybody else has committed since
 * the wallets were read: an audit may have found a grant that they do not know.
 */
export function createRound(context: Context, providers: TickProviders, wallets: number, since: { commits: number }) {
  const { network, store } = context;
  let left = wallets;
  let asked: Asked[] = [];
  const named = new Map<Bytes32, ReturnType<typeof readNamed>>();

  function ask(what: Pick<Asked, 'read' | 'settlements'>): Promise<readonly bigint[]> {
    const one = { ...what, ...Promise.withResolvers<readonly bigint[]>() };
    asked.push(one);
    meet();
    return one.promise;
  }

  function meet(): void {
    if (asked.length < left || asked.length === 0) return;
    const together = asked;
    asked = [];
    perform(together).catch((error) => {
      for (const { reject } of together) reject(error);
    });
  }

  async function perform(together: readonly Asked[]): Promise<void> {
    const settlements = together.flatMap((one) => one.settlements ?? []);
    if (settlements.length > 0) await write(settlements);
    for (const [hash, some] of Map.groupBy(together, ({ read }) => read?.block.hash)) {
      if (hash === undefined) for (const { resolve } of some) resolve([]);
      else await readBlock(some);
    }
  }

  const write = (settlements: readonly Settlement[]) =>
    context.commit(async ({ epoch }) => {
      const state = await store.settle(network.chainId, epoch, settlements, since.commits);
      since.commits = state.commits;
      return state;
    });

  async function readBlock(some: readonly Asked[]): Promise<void> {
    const reads = some.flatMap(({ read, ...one }) => (read === undefined ? [] : [{ ...read, ...one }]));
    const slots = reads.flatMap((one) => one.slots);
    try {
      const words = await readWords(context, providers, slots, (reads[0] as (typeof reads)[number]).block);
      let from = 0;
      for (const { slots, resolve } of reads) {
        resolve(words.slice(from, from + slots.length));
        from += slots.length;
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  return {
    context,
    providers,
    /** Words of the v1 registry at the end of a block. Throws `Unknown`. */
    read: async (block: BlockId, slots: readonly Bytes32[]) =>
      slots.length === 0 ? [] : ask({ read: { block, slots } }),
    /** The delegates that the revocations in a block name, by log index. */
    named: (block: BlockId) => named.getOrInsertComputed(block.hash, () => readNamed(context, providers, block)),
    write: (settlements: readonly Settlement[]) => ask({ settlements }),
    /** One of the wallets is done. The others no longer wait for it. */
    leave() {
      left--;
      meet();
    },
  };
}

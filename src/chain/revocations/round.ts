// Lets the wallets of one tick read and write together: what they need of the same block once, and settlements in one transaction.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import type { Settlement } from '../../store/store.ts';
import type { FollowerContext } from '../compare/context.ts';
import type { BlockId } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { readNamed } from './named-by-input.ts';
import { type Agreement, readWords } from './words.ts';

export interface Round {
  /** Words of the v1 registry at the end of a block. */
  read(block: BlockId, slots: readonly Bytes32[]): Promise<Agreement<readonly bigint[]>>;
  /** The delegates that the revocations in a block name, by log index. */
  named(block: BlockId): Promise<ReadonlyMap<number, Address>>;
  write(settlements: readonly Settlement[]): Promise<void>;
  /** One of the wallets is done. The others no longer wait for it. */
  leave(): void;
}

type Read = { readonly block: BlockId; readonly slots: readonly Bytes32[] };

/**
 * What is asked for runs when all wallets that have not left wait for something. Nothing is written if anybody else has committed since
 * the wallets were read: an audit may have found a grant that they do not know.
 */
export function createRound(
  context: FollowerContext,
  providers: TickProviders,
  wallets: number,
  since: { commits: number },
): Round {
  const { network, store } = context;
  const { chainId } = network;
  let left = wallets;
  let waiting: { readonly run: () => void }[] = [];
  let reads = new Map<Read, (answer: Agreement<readonly bigint[]>) => void>();
  let writes: Settlement[] = [];
  const named = new Map<Bytes32, ReturnType<Round['named']>>();

  const meet = () => {
    if (waiting.length < left || waiting.length === 0) return;
    const [now, asked, written] = [waiting, reads, writes];
    [waiting, reads, writes] = [[], new Map(), []];
    void perform(asked, written).then(() => {
      for (const { run } of now) run();
    });
  };
  let failure: unknown = null;
  async function perform(asked: typeof reads, written: readonly Settlement[]): Promise<void> {
    try {
      if (written.length > 0) await write(written);
      for (const some of Map.groupBy(asked.keys(), ({ block }) => block.hash).values()) await readBlock(asked, some);
    } catch (error) {
      failure = error;
    }
  }
  const write = (written: readonly Settlement[]) =>
    context.commit(async ({ epoch }) => {
      const result = await store.settle(chainId, epoch, written, since.commits);
      since.commits = result.state.commits;
      return result;
    });
  async function readBlock(asked: typeof reads, some: readonly Read[]): Promise<void> {
    const [{ block }] = some as [Read];
    const slots = some.flatMap((one) => one.slots);
    const { value, reason } = await readWords(context, providers, network.registries[1] as Address, slots, block);
    let from = 0;
    for (const read of some) {
      asked.get(read)?.({ value: value?.slice(from, from + read.slots.length), reason });
      from += read.slots.length;
    }
  }
  const turn = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ run: resolve });
    meet();
    await promise;
    if (failure !== null) throw failure;
  };

  return {
    async read(block, slots) {
      let answer: Agreement<readonly bigint[]> = { value: [], reason: '' };
      if (slots.length === 0) return answer;
      reads.set({ block, slots }, (found) => {
        answer = found;
      });
      await turn();
      return answer;
    },
    named(block) {
      const reading = named.get(block.hash) ?? readNamed(context, providers, block);
      named.set(block.hash, reading);
      return reading;
    },
    async write(settlements) {
      writes.push(...settlements);
      await turn();
    },
    leave() {
      left--;
      meet();
    },
  };
}

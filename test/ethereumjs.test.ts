// Follows EthereumJS, a node that shares no code with the others, while it reorganizes: every answer must be right for the block hash
// that it names. REORGS=all takes every depth from 1 to 30.

import { expect, test } from 'bun:test';
import { createFollower } from '../src/chain/follow/follower.ts';
import { runFollower } from '../src/chain/follow/run-follower.ts';
import { createProviderPool } from '../src/chain/rpc/provider-pool.ts';
import { answer } from '../src/registry/check.ts';
import type { Bytes32 } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { StoreError } from '../src/store/errors.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { type BuiltBlock, CHAIN_ID, type EthereumJs, startEthereumJs } from './support/ethereumjs.ts';
import { eventually } from './support/eventually.ts';
import { ALL_CHECKS } from './support/every-answer.ts';
import { createModel, type Model } from './support/model.ts';
import { createRandom } from './support/random.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { randomCalls } from './support/world.ts';

const DEPTHS = process.env['REORGS'] === 'all' ? Array.from({ length: 30 }, (_, at) => at + 1) : [1, 2, 5, 30];
/** Blocks that are built before the first reorg: the deepest one replaces most of them. */
const BLOCKS = 31;

/** The state of the registries at every block that was ever built. */
function createTruth() {
  const models = new Map<Bytes32, Model>();
  const callsUpTo = (block: BuiltBlock | null): RegistryCall[] =>
    block === null ? [] : [...callsUpTo(block.parent), ...block.calls];
  return {
    add(block: BuiltBlock) {
      const model = createModel();
      for (const call of callsUpTo(block)) model.call(call);
      models.set(block.hash, model);
    },
    at: (hash: Bytes32) => models.get(hash),
  };
}

/** Calls of each wallet in a transaction of its own, because a wallet is a contract that anyone may use. */
function someTransactions(random: () => number): readonly (readonly RegistryCall[])[] {
  const calls = randomCalls(random).map(({ call }) => call);
  return [...Map.groupBy(calls, ([, caller]) => caller).values()];
}

test('through reorgs, beside endless questions, every answer is right for the hash that it names', async () => {
  const random = createRandom(Number(process.env['REORG_SEED'] ?? 1));
  const node: EthereumJs = await startEthereumJs(WALLETS);
  const store = await openStore(`sqlite:${temporaryPath('ethereumjs.db')}`);
  const stopping = new AbortController();
  const truth = createTruth();
  truth.add(node.genesis);
  let head = node.genesis;
  const grow = async () => {
    head = await node.build(head, someTransactions(random));
    truth.add(head);
  };
  const seen = { answers: 0, yes: 0, refused: 0, blocks: new Set<string>(), wrong: [] as string[] };
  const network = { ...MAINNET, chainId: CHAIN_ID, provable: undefined };
  const follower = createFollower({
    network,
    store,
    providers: createProviderPool(network, [node.url]),
    now: Date.now,
    firstBlock: 0,
    finality: { blocks: 40 },
  });
  const following = runFollower(follower, { pollMs: 20, signal: stopping.signal, onError: () => {}, stalledMs: 1e9 });
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      await Bun.sleep(10);
      for (let turn = 0; turn < 10; turn++) {
        const { question, truth: trueOf } = ALL_CHECKS[
          Math.floor(Math.random() * ALL_CHECKS.length)
        ] as (typeof ALL_CHECKS)[0];
        try {
          const { granting, block } = await store.check(CHAIN_ID, question);
          const model = truth.at(block.hash as Bytes32);
          // The follower may see a block before the test has noted it down.
          if (model === undefined) continue;
          const said = answer(question, granting);
          seen.answers++;
          seen.yes += said ? 1 : 0;
          seen.blocks.add(String(block.hash));
          if (said !== trueOf(model))
            seen.wrong.push(
              `${JSON.stringify(question, (_, value) => (typeof value === 'bigint' ? String(value) : value))} at ${block.number}: ${said}`,
            );
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          seen.refused++;
        }
      }
    }
  })();
  const caughtUp = () =>
    eventually('followed', async () => ((await store.chain(CHAIN_ID))?.head?.hash === head.hash ? true : undefined));
  try {
    for (let turn = 0; turn < BLOCKS; turn++) await grow();
    await caughtUp();
    for (const depth of DEPTHS) {
      for (let back = 0; back < depth; back++) head = head.parent as BuiltBlock;
      for (let turn = 0; turn <= depth; turn++) await grow();
      await caughtUp();
    }
    expect((await store.chain(CHAIN_ID))?.provable).toBe(true);
  } finally {
    stopping.abort();
    await Promise.all([following, asking]);
    await store.close();
    await node.stop();
  }
  console.log(
    `EthereumJS, reorgs of depth ${DEPTHS.join(', ')}: ${seen.answers} answers at ${seen.blocks.size} blocks, ${seen.yes} of them yes, ${seen.refused} refused, ${seen.wrong.length} wrong`,
  );
  expect(seen.wrong.slice(0, 5)).toEqual([]);
  expect([seen.answers > 1000, seen.yes > 50, seen.blocks.size > DEPTHS.length]).toEqual([true, true, true]);
}, 1_200_000);

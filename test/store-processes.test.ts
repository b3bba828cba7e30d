// Runs several processes on one store, and kills some of them.

import { describe, expect, test } from 'bun:test';
import { feedCursorText, readFeedCursor } from '../src/feed/cursor.ts';
import { answer, type Question } from '../src/registry/check.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { AnswerBlock, Store } from '../src/store/store.ts';
import { ENGINES } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { COLD, CONTRACT, HOT } from './support/fixtures.ts';
import { createRandom } from './support/random.ts';
import { amountAt, nextCommit } from './support/writer.ts';

const CHAIN = 1;
const asks: Question = { version: 2, scope: 'erc20', from: COLD, to: HOT, contract: CONTRACT, rights: NO_RIGHTS };

function startWriter(url: string) {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/support/writer.ts`, url, String(CHAIN)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let said = '';
  const reading = (async () => {
    for await (const chunk of child.stdout) said += new TextDecoder().decode(chunk);
  })();
  return {
    said: () => said,
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
      await reading;
      // The last line may be incomplete.
      const lines = said.split('\n').slice(0, -1);
      const [number, hash] = lines.at(-1)?.split(' ') ?? [];
      return { turns: lines.length, last: { number: Number(number), hash: hash as `0x${string}` } };
    },
  };
}

const amountOf = ({ number, hash }: AnswerBlock) => amountAt(number, Number.parseInt(hash?.slice(2, 10) ?? '0', 16));

/** Every block has its own answer, and a rebuild from the logs gives the same one. */
async function expectSound(store: Store): Promise<void> {
  const state = await store.chain(CHAIN);
  if (state === null || state.head === null) return;
  const kept = await store.blocks(CHAIN, { from: 1, to: state.head.number });
  expect(kept.at(-1)).toEqual(state.head);
  expect(kept).toHaveLength(state.head.number);
  for (const block of kept.slice(-30)) {
    const { granting } = await store.check(CHAIN, asks, block.number);
    expect(answer(asks, granting)).toBe(amountOf(block));
  }
}

for (const engine of ENGINES) {
  describe(`processes on ${engine.name}`, () => {
    test('after a writer is killed at any moment, the store opens at its last commit', async () => {
      const url = await engine.fresh();
      const random = createRandom(3);
      for (let round = 0; round < 12; round++) {
        const writer = startWriter(url);
        // Reorgs are among the last commits too.
        await eventually('the writer has committed', () => writer.said().split('\n').length > 1 + round);
        await Bun.sleep(random() * 20);
        const { turns, last } = await writer.kill();
        const store = await openStore(url);
        // Every printed head is committed; one more commit may have succeeded before it was printed.
        const next = nextCommit(last, turns).blocks.at(-1);
        expect((await store.chain(CHAIN))?.head?.hash).toBeOneOf([last.hash, next?.hash]);
        await expectSound(store);
        if (round === 11) {
          await store.rebuild(CHAIN);
          await expectSound(store);
        }
        await store.close();
      }
    });

    test('a reader of changes holds what the store has, while writers are killed and it restarts itself', async () => {
      const url = await engine.fresh();
      /** All that a reader keeps when it restarts. */
      let saved: { readonly cursor: string | null; readonly amounts: ReadonlyMap<number, bigint> } = {
        cursor: null,
        amounts: new Map(),
      };
      let undone = 0;
      /** Reads until nothing more has happened, or some pages beside a writer that is faster. */
      const follow = async (store: Store, pages = Number.POSITIVE_INFINITY) => {
        for (let page = 0; page < pages; page++) {
          const after = saved.cursor === null ? null : (readFeedCursor(saved.cursor, '')?.get(CHAIN) ?? null);
          const { undo, changes, next, isEnd } = await store.changes({
            chainId: CHAIN,
            after,
            isFinal: false,
            limit: 70,
          });
          if (undo !== null) undone++;
          const kept = [...saved.amounts].filter(([number]) => undo === null || number <= undo.number);
          const amounts = new Map(kept);
          for (const { delegation, block, type } of changes) {
            if (delegation.amount === null) continue;
            // Each block changes the amount once, in order.
            expect([type, amounts.has(block.number)]).toEqual([block.number === 1 ? 'began' : 'changed', false]);
            amounts.set(block.number, delegation.amount);
          }
          saved = { cursor: feedCursorText(new Map([[CHAIN, next]]), ''), amounts };
          if (isEnd) return;
        }
      };
      for (let round = 0; round < 8; round++) {
        const writer = startWriter(url);
        await eventually('the writer has committed', () => writer.said().includes('\n'));
        const beside = await openStore(url, { readOnly: true });
        // Every fifth commit is a reorg.
        while (writer.said().split('\n').length < 12) {
          await follow(beside, 5);
          // SQLite answers at once: the writer must be heard too.
          await Bun.sleep(1);
        }
        await beside.close();
        await writer.kill();
        const store = await openStore(url);
        await follow(store);
        const { head } = (await store.chain(CHAIN)) ?? { head: null };
        const kept = await store.blocks(CHAIN, { from: 1, to: head?.number ?? 0 });
        expect([...saved.amounts]).toEqual(kept.map((block) => [block.number, amountOf(block)]));
        await store.close();
      }
      expect(undone).toBeGreaterThan(0);
    });

    test('readers next to a writer always see the rows of the block that their answer names', async () => {
      const url = await engine.fresh();
      const writer = startWriter(url);
      await eventually('the writer has committed', () => writer.said().includes('\n'));
      const reader = await openStore(url, { readOnly: true });
      const seen = new Set<number>();
      for (let asked = 0; asked < 500 || seen.size < 20; asked++) {
        const { granting, block } = await reader.check(CHAIN, asks);
        expect(answer(asks, granting)).toBe(amountOf(block));
        seen.add(block.number);
      }
      await writer.kill();
      await reader.close();
    });
  });
}

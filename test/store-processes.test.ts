// Runs several processes on one store, and kills some of them.

import { describe, expect, test } from 'bun:test';
import { feedCursorText, readFeedCursor } from '../src/http/changes-cursor.ts';
import { answer, type Question } from '../src/registry/check.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { AnswerBlock, Store } from '../src/store/store.ts';
import { ENGINES } from './support/engines.ts';
import { COLD, CONTRACT, HOT } from './support/fixtures.ts';
import { amountAt } from './support/writer.ts';

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
      const [number, hash] = said.split('\n').at(-2)?.split(' ') ?? [];
      return number === undefined ? null : { number: Number(number), hash };
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('The writer printed nothing for 30 s');
    await Bun.sleep(5);
  }
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
      for (let round = 0; round < 12; round++) {
        const writer = startWriter(url);
        await until(() => writer.said().includes('\n'));
        await Bun.sleep(Math.random() * 60);
        const committed = await writer.kill();
        const store = await openStore(url);
        const state = await store.chain(CHAIN);
        // Every printed head is committed; one more commit may have succeeded before it was printed.
        const known = await store.blocks(CHAIN, { from: committed?.number ?? 0, to: committed?.number ?? 0 });
        if (known[0]?.hash !== committed?.hash) {
          expect(state?.head?.hash.slice(0, 10)).not.toBe(committed?.hash?.slice(0, 10) as string);
        }
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
        await until(() => writer.said().includes('\n'));
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
      await until(() => writer.said().includes('\n'));
      const reader = await openStore(url, { readOnly: true });
      const seen = new Set<number>();
      const deadline = Date.now() + 3000;
      for (let asked = 0; asked < 500 || (seen.size < 20 && Date.now() < deadline); asked++) {
        const { granting, block } = await reader.check(CHAIN, asks);
        expect(answer(asks, granting)).toBe(amountOf(block));
        seen.add(block.number);
      }
      await writer.kill();
      expect(seen.size).toBeGreaterThan(3);
      await reader.close();
    });
  });
}

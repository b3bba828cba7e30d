// Runs several processes on one store, and kills some of them.

import { describe, expect, test } from 'bun:test';
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

// The committed contract artifacts, and the whole program against our contracts on a real EVM.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { artifactsText } from '../../contracts/compile.ts';
import { temporaryPath } from '../../test/support/engines.ts';
import { ALL_CHECKS } from '../../test/support/every-answer.ts';
import { prepareWallets, registryAnswers, SMART, send } from '../../test/support/evm-wallets.ts';
import { WALLETS } from '../../test/support/lives.ts';
import { createRandom } from '../../test/support/random.ts';
import { startServe } from '../../test/support/serve-process.ts';
import { randomCalls } from '../../test/support/world.ts';
import { checkUrl } from '../api/url.ts';
import { type Evm, startEvm } from './evm.ts';
import type { RegistryCall } from './registry-call.ts';

let evm: Evm;
beforeAll(async () => {
  // Its time is moved on below, and must not come to lie in the future.
  evm = await startEvm({ since: new Date(Date.now() - 1_800_000) });
}, 120_000);
afterAll(() => evm.stop());

test('the committed artifacts are what the contracts compile to (npm run contracts writes them)', async () => {
  expect(await Bun.file(`${import.meta.dir}/../../contracts/artifacts.json`).text()).toBe(artifactsText());
});

describe('delegations serve against the registries', () => {
  test('random transactions with reorgs: thousands of checks over HTTP are what the contracts answer at that block', async () => {
    const { rpc } = evm;
    const random = createRandom(77);
    const int = (below: number) => Math.floor(random() * below);
    const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
    await prepareWallets(rpc);
    const also: RegistryCall = ['v1', SMART, 'delegateForAll', [WALLETS[0], true]];

    const served = await startServe(`sqlite:${temporaryPath('evm.db')}`, {
      RPC_URL_1: evm.url,
      START_BLOCK_1: '0',
      FINALITY_1: '20 blocks',
      POLL_INTERVAL_1: '100',
      MAX_LAG_1: '3600',
    });
    const questions = ALL_CHECKS.map(({ question }) => question);
    let [compared, reorgs, smart] = [0, 0, 0];
    const wrong: string[] = [];
    let highest = 0;
    const height = async () => Number(await rpc.call('eth_blockNumber', []));
    const act = async () => {
      for (const { call, direct } of randomCalls(random)) {
        if (call[1] === SMART) smart++;
        await send(rpc, call[1] === SMART && call[0] === 'v1' && !direct ? [also, call] : [call]);
      }
    };
    try {
      for (let round = 0; round < 60; round++) {
        const snapshot = await rpc.call('evm_snapshot', []);
        await act();
        if (round % 3 === 2) {
          // Long enough that it was followed, sometimes; then it never happened.
          await Bun.sleep(pick([0, 250]));
          highest = Math.max(highest, await height());
          await rpc.call('evm_revert', [snapshot]);
          await rpc.call('evm_increaseTime', [1 + int(30)]);
          reorgs++;
          await act();
        }
        highest = Math.max(highest, await height());
        // A chain that is lower than it was proves nothing: it grows beyond.
        do await rpc.call('evm_mine', []);
        while ((await height()) <= highest);
        highest = await height();
        const tip = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: string; number: string };
        for (let left = 200; ; left--) {
          const [network] = (await (await fetch(`${served.url}/networks`)).json()) as {
            head: { hash: string } | null;
          }[];
          if (network?.head?.hash === tip.hash) break;
          if (left === 0) {
            const told: unknown[] = [];
            const lines = served.lines;
            await served.stop();
            for await (const line of lines) if (line['message'] !== 'request') told.push(JSON.stringify(line));
            throw new Error(`round ${round}: not followed within 20 s: ${told.slice(-6).join('\n')}`);
          }
          await Bun.sleep(100);
        }
        const asked = Array.from({ length: 90 }, () => pick(questions));
        const truths = await registryAnswers(rpc, asked, tip.number);
        await Promise.all(
          asked.map(async (question, position) => {
            const response = await fetch(served.url + checkUrl(question));
            const text = await response.text();
            compared++;
            const isRight =
              response.headers.get('x-block-number') === String(Number(tip.number)) &&
              text === String(truths[position]);
            if (!isRight) wrong.push(`round ${round}: ${checkUrl(question)} gave ${text}, not ${truths[position]}`);
          }),
        );
      }
    } finally {
      await served.stop();
    }
    console.log(
      `${compared} checks over HTTP against the contracts, ${reorgs} reorgs, ${smart} calls by a smart account: ${wrong.length} wrong`,
    );
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(5000);
    expect(Math.min(reorgs, smart)).toBeGreaterThan(10);
  }, 280_000);
});

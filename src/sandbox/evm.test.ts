// On a real EVM: our contracts against the genuine ones' recordings, and the whole program against our contracts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { artifactsText } from '../../contracts/compile.ts';
import { temporaryPath } from '../../test/engines.ts';
import { CONTRACTS, IDS, RIGHTS } from '../../test/lives.ts';
import { pathOf } from '../../test/over-http.ts';
import { everyQuestion } from '../../test/questions.ts';
import { createRandom } from '../../test/random.ts';
import { startServe } from '../../test/serve-process.ts';
import { MAINNET, type Recording } from '../../test/vectors.ts';
import { randomCalls } from '../../test/world.ts';
import { answerOf, callOf } from '../chain/registry-calls.ts';
import type { Question } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import { type Evm, makeSmartWallet, startEvm } from './evm.ts';
import { type Call, executeInput, inputOf } from './transactions.ts';

let evm: Evm;
beforeAll(async () => {
  // Its time is moved on below, and must not come to lie in the future.
  evm = await startEvm({ since: new Date(Date.now() - 1_800_000) });
}, 120_000);
afterAll(() => evm.stop());

test('the committed artifacts are what the contracts compile to (npm run contracts writes them)', async () => {
  expect(await Bun.file(`${import.meta.dir}/../../contracts/artifacts.json`).text()).toBe(artifactsText());
});

const registryOf = ([registry]: Call) => MAINNET.registries[registry === 'v1' ? 1 : 2] as Address;

/** The registry's own answers at a block. */
async function registryAnswers(questions: readonly Question[], block: string): Promise<(boolean | bigint | null)[]> {
  const calls = questions.map((question) => ({
    method: 'eth_call',
    params: [{ to: MAINNET.registries[question.version], data: callOf(question) }, block],
  }));
  const data = await evm.rpc.batch(calls);
  return questions.map((question, position) => answerOf(question, String(data[position])));
}

/** Wallets with keys of no one, for which the node signs; the last is a contract. */
const PEOPLE = ['a1', 'b2', 'c3'].map((byte): Address => `0x${byte.repeat(20)}`);
const SMART = PEOPLE[2] as Address;
const OWNER: Address = `0x${'0e'.repeat(20)}`;

describe('delegations serve against the registries', () => {
  test('random transactions with reorgs: thousands of checks over HTTP are what the contracts answer at that block', async () => {
    const { rpc } = evm;
    const random = createRandom(77);
    const int = (below: number) => Math.floor(random() * below);
    const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
    for (const who of [...PEOPLE, OWNER]) {
      await rpc.call('hardhat_impersonateAccount', [who]);
      await rpc.call('hardhat_setBalance', [who, `0x${(10n ** 24n).toString(16)}`]);
    }
    await makeSmartWallet(rpc, SMART);
    const send = (call: Call, direct: boolean) => {
      const [, caller] = call;
      const data = inputOf(call);
      const to = registryOf(call);
      const gas = '0x2dc6c0';
      if (caller !== SMART) return rpc.call('eth_sendTransaction', [{ from: caller, to, data, gas }]);
      const others = direct
        ? []
        : [{ to, data: inputOf(['v1', SMART, 'delegateForAll', [PEOPLE[0] as string, true]]) }];
      const wrapped = executeInput([...(call[0] === 'v1' ? others : []), { to, data }]);
      return rpc.call('eth_sendTransaction', [{ from: OWNER, to: SMART, data: wrapped, gas }]);
    };

    const served = await startServe(`sqlite:${temporaryPath('evm.db')}`, {
      RPC_URL_1: evm.url,
      START_BLOCK_1: '0',
      FINALITY_1: '20 blocks',
      POLL_INTERVAL_1: '100',
      MAX_LAG_1: '3600',
    });
    const questions = everyQuestion({
      vaults: PEOPLE,
      delegates: PEOPLE,
      contracts: CONTRACTS,
      tokenIds: IDS,
      rights: RIGHTS,
    } as unknown as Recording).map(({ question }) => question);
    let [compared, reorgs, smart] = [0, 0, 0];
    const wrong: string[] = [];
    let highest = 0;
    const height = async () => Number(await rpc.call('eth_blockNumber', []));
    const act = async () => {
      for (const { call, direct } of randomCalls(random)) {
        if (call[1] === SMART) smart++;
        await send(call, direct);
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
        const truths = await registryAnswers(asked, tip.number);
        await Promise.all(
          asked.map(async (question, position) => {
            const response = await fetch(served.url + pathOf(question));
            const text = await response.text();
            compared++;
            const isRight =
              response.headers.get('x-block-number') === String(Number(tip.number)) &&
              text === String(truths[position]);
            if (!isRight) wrong.push(`round ${round}: ${pathOf(question)} gave ${text}, not ${truths[position]}`);
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

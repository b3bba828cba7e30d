// The committed contract artifacts, and the whole program against our contracts on a real EVM.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { digestOf } from '../../contracts/compile.ts';
import { temporaryPath } from '../../test/support/engines.ts';
import { eventually } from '../../test/support/eventually.ts';
import { ALL_CHECKS } from '../../test/support/every-answer.ts';
import { prepareWallets, registryAnswers, SMART, send } from '../../test/support/evm-wallets.ts';
import { createRandom } from '../../test/support/random.ts';
import { startServe } from '../../test/support/serve-process.ts';
import { CONTRACTS, IDS, RIGHTS, WALLETS } from '../../test/support/wallets.ts';
import { randomCalls } from '../../test/support/world.ts';
import { COUNTERPARTS } from '../api/any-operations.ts';
import { checkUrl, urlFor } from '../api/url.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import { type AnyQuestion, type AnyTarget, asksBalance, partsOf } from '../registry/check.ts';
import { MAX_UINT256 } from '../registry/delegation.ts';
import type { RegistryCall } from '../registry/registry-call.ts';
import { type Evm, startEvm } from './evm.ts';

let evm: Evm;
beforeAll(async () => {
  // Its time is moved on below, and must not come to lie in the future.
  evm = await startEvm({ since: new Date(Date.now() - 1_800_000) });
});
afterAll(() => evm.stop());

test('the committed artifacts are of the contracts as they are (npm run contracts compiles them)', async () => {
  const read = (name: string) => Bun.file(`${import.meta.dir}/../../contracts/${name}`).text();
  expect(await read('artifacts.sha256')).toBe(`${digestOf(await read('artifacts.json'))}\n`);
});

/** How many questions to either registry each round asks. EVM_QUESTIONS=14 asks about every target. */
const ANY_QUESTIONS = Number(process.env['EVM_QUESTIONS'] ?? 2);

const TARGETS: readonly AnyTarget[] = RIGHTS.flatMap((rights): AnyTarget[] => [
  { version: 'any', scope: 'all', rights },
  ...CONTRACTS.flatMap((contract): AnyTarget[] => [
    { version: 'any', scope: 'contract', contract, rights },
    ...IDS.map((id): AnyTarget => ({ version: 'any', scope: 'erc721', contract, tokenId: BigInt(id), rights })),
  ]),
]);
const BALANCE_TARGETS: readonly AnyTarget[] = RIGHTS.flatMap((rights) =>
  CONTRACTS.flatMap((contract): AnyTarget[] => [
    { version: 'any', scope: 'erc20', contract, rights },
    ...IDS.map((id): AnyTarget => ({ version: 'any', scope: 'erc1155', contract, tokenId: BigInt(id), rights })),
  ]),
);

/** What the contracts answer, taken together: a v1 grant is unlimited. */
async function anyTruths(rpc: Rpc, questions: readonly AnyQuestion[], tag: string): Promise<(boolean | bigint)[]> {
  const parts = questions.flatMap(partsOf);
  const answers = await registryAnswers(rpc, parts, tag);
  return questions.map((question, position) => {
    const [v2, v1] = answers.slice(2 * position);
    return v1 === true ? (asksBalance(question) ? MAX_UINT256 : true) : (v2 as boolean | bigint);
  });
}

/** What is asked right after a block may be refused until it is known what a revocation in it ended. */
const answerTo = (url: string) =>
  eventually(`an answer to ${url}`, async () => {
    const response = await fetch(url);
    return response.status !== 503 && response;
  });

/** Compares some vaults, delegates and checks of either registry with the contracts. */
async function compareAny(rpc: Rpc, url: string, tag: string, random: () => number) {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const wrong: string[] = [];
  let compared = 0;
  const get = async (path: string): Promise<unknown> => {
    const response = await answerTo(url + path);
    if (response.headers.get('x-block-number') !== String(Number(tag))) wrong.push(`${path} is of another block`);
    return response.json();
  };
  const compare = (path: string, found: unknown, truth: unknown) => {
    compared++;
    if (String(found) !== String(truth)) wrong.push(`${path} gave ${found}, not ${truth}`);
  };
  const asked = ANY_QUESTIONS >= TARGETS.length ? TARGETS : Array.from({ length: ANY_QUESTIONS }, () => pick(TARGETS));
  for (const { version: _, scope, ...target } of asked) {
    for (const side of ['vaults', 'delegates'] as const) {
      for (const wallet of WALLETS) {
        const path = urlFor(COUNTERPARTS[side], { wallet, ...target });
        const body = (await get(path)) as Record<string, { vault: string; delegate: string }[]>;
        const listed = (body[side] ?? []).map(({ vault, delegate }) => (vault ?? delegate).toLowerCase());
        const questions = WALLETS.map((other) => {
          const [from, to] = side === 'vaults' ? [other, wallet] : [wallet, other];
          return { version: 'any', scope, ...target, from, to } as AnyQuestion;
        });
        const truths = await anyTruths(rpc, questions, tag);
        for (const [at, other] of WALLETS.entries()) compare(`${path} ${other}`, listed.includes(other), truths[at]);
        if (new Set(listed).size < listed.length) wrong.push(`${path} lists a wallet twice`);
      }
    }
  }
  const questions = Array.from({ length: 8 * ANY_QUESTIONS }, () => {
    const target = pick([...TARGETS, ...BALANCE_TARGETS]);
    return { ...target, from: pick(WALLETS), to: pick(WALLETS) } as AnyQuestion;
  });
  const truths = await anyTruths(rpc, questions, tag);
  for (const [at, question] of questions.entries()) {
    const path = checkUrl(question, { numbers: 'string' });
    compare(path, await get(path), truths[at]);
  }
  return { compared, wrong };
}

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
    let [compared, reorgs, smart, memberships] = [0, 0, 0, 0];
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
      for (let round = 0; round < 45; round++) {
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
        const asked = Array.from({ length: 115 }, () => pick(questions));
        const truths = await registryAnswers(rpc, asked, tip.number);
        await Promise.all(
          asked.map(async (question, position) => {
            const response = await answerTo(served.url + checkUrl(question));
            const text = await response.text();
            compared++;
            const isRight =
              response.headers.get('x-block-number') === String(Number(tip.number)) &&
              text === String(truths[position]);
            if (!isRight) wrong.push(`round ${round}: ${checkUrl(question)} gave ${text}, not ${truths[position]}`);
          }),
        );
        const inAny = await compareAny(rpc, served.url, tip.number, random);
        memberships += inAny.compared;
        wrong.push(...inAny.wrong.map((one) => `round ${round}: ${one}`));
      }
    } finally {
      await served.stop();
    }
    console.log(`${memberships} vaults, delegates and checks of either registry against the contracts`);
    console.log(
      `${compared} checks over HTTP against the contracts, ${reorgs} reorgs, ${smart} calls by a smart account: ${wrong.length} wrong`,
    );
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(5000);
    expect(memberships).toBeGreaterThan(45 * ANY_QUESTIONS);
    expect(Math.min(reorgs, smart)).toBeGreaterThan(10);
  });
});

// Answers that prove themselves, on a real EVM through reorgs and revocations: each must be what the registries say at its block, and the
// packed client must verify it in Node and in a browser. PROVEN_ANSWERS=20000 asks more.

import { expect, test } from 'bun:test';
import { checkUrl } from '../src/api/url.ts';
import { createProofReader } from '../src/chain/prove/proof-reader.ts';
import { type AnyQuestion, answer as combined, partsOf, type Question } from '../src/registry/check.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { startEvm } from '../src/sandbox/evm.ts';
import { startBrowser } from './support/browser.ts';
import { ALL_CHECKS } from './support/every-answer.ts';
import { prepareWallets, registryAnswers, SMART, send } from './support/evm-wallets.ts';
import { following } from './support/following.ts';
import { packClient } from './support/packed-client.ts';
import { createRandom, pickFrom } from './support/random.ts';
import { appOf } from './support/serving.ts';
import { WALLETS } from './support/wallets.ts';
import { randomCalls } from './support/world.ts';

const WANTED = Number(process.env['PROVEN_ANSWERS'] ?? 700);
const IN_BROWSER = 1000;
const ROUNDS = 12;

const OF_ONE = ALL_CHECKS.map(({ question }) => question);
const OF_BOTH = OF_ONE.filter(({ version }) => version === 2).map(
  (question) => ({ ...question, version: 'any' }) as AnyQuestion,
);
const QUESTIONS: readonly (Question | AnyQuestion)[] = [...OF_ONE, ...OF_BOTH];

/** What a caller keeps of an answer, and the hash that the caller's own node has for its block. */
interface Line {
  readonly question: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
  readonly blockHash: string;
  readonly truth: string;
}

/** Runs where the packed client does. Returns how many are different. */
const VERIFY = `(lines, verifyCheck) => lines.filter(({ question, answer, blockHash, truth }) => {
  try {
    return String(verifyCheck(question, answer, { blockHash })) !== truth;
  } catch (error) {
    return true;
  }
}).length`;

test('proven answers equal eth_call through reorgs and revocations, and the packed client verifies each', async () => {
  const evm = await startEvm();
  const random = createRandom(38);
  const lines: Line[] = [];
  const counts = { asked: 0, yes: 0, different: 0, reorgs: 0, revocations: 0, bytes: 0 };
  const mine = async (blocks: number) => {
    for (let turn = 0; turn < blocks; turn++) {
      const calls = randomCalls(random).map(({ call }) => call);
      if (random() < 0.4) calls.push(['v1', SMART, 'revokeDelegate', [pickFrom(random, WALLETS)]] as RegistryCall);
      for (const call of calls) {
        if (/^revoke/.test(call[2])) counts.revocations++;
        await send(evm.rpc, [call]);
      }
      await evm.rpc.call('evm_mine', []);
    }
  };
  try {
    await prepareWallets(evm.rpc);
    await evm.rpc.call('evm_setAutomine', [false]);
    await mine(20);
    const tipOf = async () => {
      const { number, hash, timestamp } = (await evm.rpc.call('eth_getBlockByNumber', ['latest', false])) as Record<
        string,
        string
      >;
      return { number: Number(number), hash: hash as string, timestamp: Number(timestamp) };
    };
    const { timestamp } = await tipOf();
    const one = await following([evm], { firstBlock: 0, clock: timestamp * 1000, finality: { blocks: 20 } });
    const proofs = createProofReader({ nodes: new Map([[1, [evm.url]]]) });
    const app = () => appOf(one.store, one.clock / 1000, { proofs });
    const follow = async () => {
      const tip = await tipOf();
      one.clock = Math.max(one.clock, tip.timestamp * 1000);
      for (let left = 6; left > 0; left--) {
        await one.catchUp();
        if ((await one.store.chain(1))?.head?.hash === tip.hash) return tip;
        one.clock += 61_000;
      }
      throw new Error(`not at ${tip.number}; last error: ${one.errors.at(-1)?.stack}`);
    };
    try {
      for (let round = 0; round < ROUNDS || counts.asked < WANTED; round++) {
        const snapshot = await evm.rpc.call('evm_snapshot', []);
        await mine(2);
        if (round % 3 === 2) {
          await follow();
          await evm.rpc.call('evm_revert', [snapshot]);
          await evm.rpc.call('evm_increaseTime', [30 + round]);
          await mine(3);
          counts.reorgs++;
        }
        const { number, hash } = await follow();
        const some = QUESTIONS.filter(() => random() < WANTED / ROUNDS / QUESTIONS.length);
        const truths = await truthsOf(evm.rpc, some, number);
        for (const [position, question] of some.entries()) {
          const { rights: _, ...rest } = question as Question & { rights?: string };
          const url = checkUrl('rights' in question ? question : (rest as never), {
            proof: 'true',
            numbers: 'string',
          } as never);
          const response = await app().fetch(new Request(`http://localhost${url}`));
          const text = await response.text();
          counts.asked++;
          counts.bytes += text.length;
          const truth = String(truths[position]);
          if (truth !== 'false' && truth !== '0') counts.yes++;
          const { scope: check, ...asked } = question;
          const answer = JSON.parse(text) as { result: unknown };
          if (response.status !== 200 || String(answer.result) !== truth) counts.different++;
          lines.push({
            question: { ...asked, check, tokenId: 'tokenId' in asked ? String(asked.tokenId) : undefined },
            answer,
            blockHash: hash,
            truth,
          });
        }
      }
    } finally {
      await one.close();
    }
  } finally {
    await evm.stop();
  }
  const { project } = packClient();
  const packed = JSON.stringify(lines);
  await Bun.write(`${project}/lines.json`, packed);
  await Bun.write(
    `${project}/verify.mjs`,
    `import { readFileSync } from 'node:fs';
     import { verifyCheck } from 'delegations-client/verify';
     const lines = JSON.parse(readFileSync('lines.json', 'utf8'));
     const began = performance.now();
     const different = (${VERIFY})(lines, verifyCheck);
     console.log(JSON.stringify({ different, ms: performance.now() - began }));`,
  );
  const inNode = JSON.parse(await outputOf(project)) as { different: number; ms: number };
  const inBrowser = await verifyInBrowser(
    await Bun.file(`${project}/node_modules/delegations-client/dist/verify.js`).text(),
    lines,
  );
  const each = (ms: number, of: number) => `${(ms / of).toFixed(2)} ms`;
  console.log(
    `${counts.asked} proven answers, ${counts.yes} of them not false, ${counts.reorgs} reorgs, ${counts.revocations} revocations: ` +
      `${counts.different} differ from eth_call; ${Math.round(counts.bytes / counts.asked)} bytes each; ` +
      `verified by the packed client in Node: ${inNode.different} different, ${each(inNode.ms, lines.length)} each; ` +
      `${inBrowser.many} in Chromium: ${inBrowser.different} different, ${each(inBrowser.ms, inBrowser.many)} each`,
  );
  expect([counts.different, inNode.different, inBrowser.different]).toEqual([0, 0, 0]);
  expect([counts.asked >= WANTED, counts.yes > WANTED / 20, counts.reorgs >= 4, counts.revocations > 10]).toEqual(
    Array(4).fill(true),
  );
});

/** A question to both registries is what its parts say together. */
async function truthsOf(
  rpc: Parameters<typeof registryAnswers>[0],
  questions: readonly (Question | AnyQuestion)[],
  block: number,
) {
  const parts = questions.map(partsOf);
  const answers = await registryAnswers(rpc, parts.flat(), `0x${block.toString(16)}`);
  let at = 0;
  return parts.map((own, position) => {
    const found = own.map(() => answers[at++]);
    if (own.length === 1) return found[0];
    const question = questions[position] as AnyQuestion;
    const granting = found.flatMap((one) =>
      one === true
        ? [{ amount: null }]
        : typeof one === 'bigint' && one > 0n
          ? [{ amount: one === MAX_UINT256 ? null : one }]
          : [],
    );
    return combined(question, granting);
  });
}

async function outputOf(project: string): Promise<string> {
  const child = Bun.spawn(['node', 'verify.mjs'], { cwd: project, stdout: 'pipe', stderr: 'inherit' });
  return await new Response(child.stdout).text();
}

async function verifyInBrowser(text: string, lines: readonly Line[]) {
  const some = lines.slice(0, IN_BROWSER);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('.js')
        ? new Response(text, { headers: { 'content-type': 'text/javascript' } })
        : new Response('<!doctype html><title>x</title>', { headers: { 'content-type': 'text/html' } }),
  });
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}`);
    const found = await page.evaluate(
      async ([module, json, verify]) => {
        const { verifyCheck } = await import(String(module));
        const began = performance.now();
        // biome-ignore lint/security/noGlobalEval: the same program in both
        const different = eval(String(verify))(JSON.parse(String(json)), verifyCheck) as number;
        return { different, ms: performance.now() - began };
      },
      [`${server.url}verify.js`, JSON.stringify(some), VERIFY],
    );
    return { ...found, many: some.length };
  } finally {
    await browser.close();
    await server.stop(true);
  }
}

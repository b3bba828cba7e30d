// A client that verifies, beside a service that proves something else than what was asked: every proof is genuine.

import { beforeAll, expect, test } from 'bun:test';
import { proveAnswer } from '../../src/chain/prove/prove-answer.ts';
import type { ProvenBlock } from '../../src/proof/answer-proof.ts';
import { simulatedAnswers } from '../../test/support/simulated-proofs.ts';
import { createClient } from '../src/client.ts';
import type { ClaimedBlock } from '../src/context.ts';
import { Unproven } from '../src/errors.ts';
import { verifyCheck } from '../verifier.ts';

/** What a service could send, and the question. */
let from: string;
let to: string;
let body: { result: boolean; block: ProvenBlock; header: string; proofs: unknown };
beforeAll(async () => {
  const found = simulatedAnswers(7, 200).find(({ question: { version, scope } }) => version === 2 && scope === 'all');
  if (found === undefined) throw new Error('nothing to prove');
  const { node, block, question } = found;
  const { proof, result } = await proveAnswer(node, block, { ...question, rights: `0x${'0'.repeat(64)}` } as never);
  ({ from, to } = question);
  body = { result: result as boolean, ...proof };
});

const asked: ClaimedBlock[] = [];
/** A client of a service that always sends this. */
function clientOf(sent: object, maxAge?: number) {
  asked.length = 0;
  const fetch = async (url: string) =>
    Response.json(
      url.includes('explain=true')
        ? { ...sent, delegations: [] }
        : url.includes('any/check?')
          ? { complete: true, chains: [], answers: [sent] }
          : sent,
    );
  const blockHash = (block: ClaimedBlock) => {
    asked.push(block);
    return body.block.hash;
  };
  return createClient({ url: 'http://127.0.0.1:1', fetch: fetch as never, verify: { blockHash, maxAge } });
}
const OLD = 1e12;
const stepOf = (work: Promise<unknown>) =>
  work.then(String, (error) => (error instanceof Unproven ? error.step : String(error)));

/** In each way that a client asks. */
const WAYS = (client: ReturnType<typeof clientOf>, query: object) => [
  client.check.all({ version: 2, from, to, ...query } as never),
  client.explain.all({ version: 2, from, to, ...query } as never).then(({ result }) => result),
  client
    .checkMany({ questions: [{ check: 'all', version: 2, from, to }], ...query } as never)
    .then(([answer]) => (answer as { result: unknown }).result),
];
const saidBy = (client: ReturnType<typeof clientOf>, query: object) => Promise.all(WAYS(client, query).map(stepOf));

test('an answer as of the block that was asked is believed', async () => {
  const { number, timestamp } = body.block;
  const date = new Date(1000 * timestamp);
  for (const query of [
    ...[{ block: number }, { block: BigInt(number) }, { block: 'finalized' }, { timestamp }, { timestamp: date }],
    ...[{ timestamp: String(timestamp) }, { timestamp: date.toISOString() }],
  ])
    expect([query, await saidBy(clientOf(body), query)]).toEqual([query, Array(3).fill(String(body.result))]);
  expect(await stepOf(clientOf(body, OLD).check.all({ version: 2, from, to }))).toBe(String(body.result));
});

test('of another block, or of one that is too old for the newest, it is not', async () => {
  const { number, timestamp } = body.block;
  for (const query of [
    { block: number - 1 },
    { block: number + 1 },
    { timestamp: timestamp - 1 },
    { block: 'latest' },
    {},
  ])
    expect([query, await saidBy(clientOf(body), query)]).toEqual([query, ['block', 'block', 'block']]);
  expect(asked).toEqual([]);
  const recent = { ...body, block: { ...body.block, timestamp: Math.floor(Date.now() / 1000) } };
  // Its header has another time.
  expect(await stepOf(clientOf(recent).check.all({ version: 2, from, to }))).toBe('block');
});

test('the hash is asked of the chain of the question, whatever chain the answer names', async () => {
  const sent = { ...body, block: { ...body.block, chainId: 5 } };
  for (const work of WAYS(clientOf(sent), { block: body.block.number })) await work;
  expect(asked.map(({ chainId }) => chainId)).toEqual([1, 1, 1]);
});

test('a check that the registry does not have is no question', () => {
  for (const asked of [
    { check: 'token', version: 2 },
    { check: 'token', version: 'any' },
    { check: 'erc20', version: 1 },
    { check: 'all', version: 3 },
    { check: 'toString', version: 2 },
  ])
    expect(() =>
      verifyCheck({ from, to, contract: from, tokenId: 1n, ...asked } as never, body, { blockHash: body.block.hash }),
    ).toThrow(TypeError);
});

test('an explanation of another block than the proven one is not believed', async () => {
  const client = clientOf(body);
  const other = { ...body, block: { ...body.block, hash: `0x${'ab'.repeat(32)}` } };
  const fetch = async (url: string) =>
    Response.json(url.includes('explain=true') ? { ...other, delegations: [] } : body);
  const lying = createClient({ url: client.url, fetch: fetch as never, verify: { blockHash: () => body.block.hash } });
  expect(await stepOf(lying.explain.all({ version: 2, from, to, block: body.block.number }))).toBe('result');
});

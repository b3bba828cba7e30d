// Checks with proof=true over HTTP, beside nodes that lie, lag or serve no proofs: what is sent is proven, and what is not is a problem.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createProofReader, type ProofReaderOptions } from '../src/chain/prove/proof-reader.ts';
import type { Contradiction } from '../src/http/context/service.ts';
import type { AppOptions } from '../src/http/server/app.ts';
import { verifyAnswer } from '../src/proof/answer-proof.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { type FakeNode, type Fault, NO_ANSWER, Refusal, withoutProofs } from './support/fake-node.ts';
import { grants, quiet } from './support/lies.ts';
import { on } from './support/node-quirks.ts';
import { appOf } from './support/serving.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type World } from './support/world.ts';

const [V, D, E] = WALLETS as [`0x${string}`, `0x${string}`, `0x${string}`];
const GRANTED = { version: 2, scope: 'all', from: V, to: D, rights: NO_RIGHTS } as const;
const PATH = `/registry/v2/check/all?from=${V}&to=${D}&proof=true`;

let world: World;
let [first, second] = [] as unknown as [FakeNode, FakeNode];
beforeAll(async () => {
  world = await createWorld({ blocks: 60, calls: quiet, nodes: 2 });
  world.grow(1, () => grants(D));
  world.grow(2, quiet);
  await world.rest();
  [first, second] = world.nodes as [FakeNode, FakeNode];
});
afterAll(() => world.close());

const outcomes: string[] = [];
/** A reader that has asked nobody yet, beside nodes without calls. */
function openProofs(options: Partial<ProofReaderOptions> = {}) {
  for (const node of [first, second]) {
    node.fault = null;
    node.calls.clear();
  }
  outcomes.length = 0;
  return createProofReader({
    nodes: new Map([[1, [first.url, second.url]]]),
    onRead: (outcome) => void outcomes.push(outcome),
    ...options,
  });
}

/** What the tests read of answers and problems. */
interface Body {
  readonly type?: string;
  readonly detail?: string;
  readonly cause?: string;
  readonly newestBlock?: number | null;
  readonly proofs?: unknown;
  readonly errors?: unknown;
  readonly complete?: boolean;
  readonly answers?: readonly { readonly problem?: { readonly type: string } }[];
}

const ask = async (path: string, more: Partial<AppOptions>, init?: RequestInit) => {
  const app = appOf(world.one.store, world.chain.at(-1)?.timestamp as number, more);
  const response = await app.fetch(new Request(`http://localhost${path}`, init));
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
};

const headHash = () => world.chain.at(-1)?.hash as `0x${string}`;
const down: Fault = () => {
  throw new Refusal(-32_000, 'down');
};
/** Changes what a node returns as a proof. */
const proving = (change: (proof: { accountProof: string[]; storageProof: { proof: string[] }[] }) => unknown) =>
  on('eth_getProof', (honest) => change(structuredClone(honest()) as never));

describe('a node that lies in a proof', () => {
  const other = (text = '') => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
  test.each<[string, Fault]>([
    ['about a word', proving((one) => ({ ...one, storageProof: one.storageProof.map(() => ({ proof: [] })) }))],
    ['in a node of the account', proving((one) => ({ ...one, accountProof: one.accountProof.map(other) }))],
    [
      'in a node of the storage',
      proving((one) => ({
        ...one,
        storageProof: one.storageProof.map((word) => ({ ...word, proof: word.proof.map(other) })),
      })),
    ],
    ['by returning nothing', proving(() => null)],
  ])('%s: nothing of it is sent, and the next one is asked', async (_, fault) => {
    const proofs = openProofs();
    first.fault = fault;
    const { status, body } = await ask(PATH, { proofs });
    expect([status, verifyAnswer(GRANTED, body, headHash())]).toEqual([200, true]);
    expect([second.calls.get('eth_getProof'), outcomes]).toEqual([1, ['proven']]);
  });

  test('is asked last for a while, and one that only lacks the state of a block is not', async () => {
    for (const [fault, asked] of [
      [proving(() => null), 1],
      // By the hash of the block, then by its number.
      [withoutProofs((_, honest) => honest()), 4],
    ] as const) {
      const proofs = openProofs();
      first.fault = fault;
      for (const to of [D, E])
        expect((await ask(PATH.replace(D, to), { proofs })).body).toMatchObject({ result: to === D });
      expect(first.calls.get('eth_getProof')).toBe(asked);
    }
  });
});

describe('without a proof', () => {
  test('of any provider, the answer is a 503 that says who failed and why, and when to try again', async () => {
    const proofs = openProofs();
    first.fault = withoutProofs((_, honest) => honest());
    second.fault = () => new Response('', { status: 502 });
    const { status, headers, body } = await ask(PATH, { proofs });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(body).toMatchObject({ type: '/docs#problem-proof-unavailable', cause: 'no-provider', newestBlock: null });
    expect(body.detail).toContain('1/1 rpc-error, 1/2 http-5xx');
    expect(outcomes).toEqual(['no-provider']);
    // A failure is not kept.
    first.fault = null;
    expect((await ask(PATH, { proofs })).status).toBe(200);
  });

  test('at a block whose state is pruned, the newest block that has one is named', async () => {
    const proofs = openProofs();
    const head = world.chain.at(-1);
    const pruned: Fault = ({ method, params }, honest) => {
      if (method === 'eth_getProof' && params[2].blockHash !== head?.hash)
        throw new Refusal(-32_000, 'missing trie node');
      return honest();
    };
    [first.fault, second.fault] = [pruned, pruned];
    const grantedAt = FIRST + 60;
    const { status, body } = await ask(`${PATH}&block=${grantedAt}`, { proofs });
    expect([status, body.cause, body.newestBlock]).toEqual([503, 'no-provider', head?.number]);
    expect(body.detail).toContain(`At block ${head?.number} there is one.`);
  });

  test('a block without a kept hash is 404', async () => {
    const { status, body } = await ask(`${PATH}&block=${FIRST + 3}`, { proofs: openProofs() });
    expect([status, body.type]).toEqual([404, '/docs#problem-block-not-kept']);
    expect(first.calls.size + second.calls.size).toBe(0);
  });

  test('if the operator has not turned proofs on, it is 404 for a check and for a batch', async () => {
    const json = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers: json, body: '{"questions":[]}' };
    for (const { status, body } of [await ask(PATH, {}), await ask('/registry/any/check?proof=true', {}, init)])
      expect([status, body.type]).toEqual([404, '/docs#problem-proofs-off']);
  });

  test('a chain whose state has another form is not asked', async () => {
    const block = { number: 1, hash: headHash(), timestamp: 1 };
    const read = openProofs().prove({ chainId: 324, block, question: GRANTED, caller: 'x' });
    expect(await read).toEqual({ type: 'unavailable', cause: 'not-provable', failures: [] });
    expect(outcomes).toEqual(['not-provable']);
  });

  test('a chain whose blocks were found not to hash as they should is not asked either', async () => {
    const store = { ...world.one.store };
    store.check = async (...args) => {
      const found = await world.one.store.check(...args);
      return { ...found, chain: { ...found.chain, provable: false } };
    };
    const { status, body } = await ask(PATH, { proofs: openProofs(), store });
    expect([status, body.cause, body.newestBlock, outcomes]).toEqual([503, 'not-provable', null, []]);
  });

  test('if too many wait for the providers, it is refused at once', async () => {
    const proofs = openProofs({ limits: { maxRunning: 1, maxWaiting: 0 } });
    let answer: (one: unknown) => void = () => {};
    const [asked, waiting] = [Promise.withResolvers<void>(), new Promise((resolve) => (answer = resolve))];
    first.fault = async (_, honest) => {
      asked.resolve();
      await waiting;
      return honest();
    };
    const running = ask(PATH, { proofs });
    await asked.promise;
    const { status, body } = await ask(PATH.replace(D, E), { proofs });
    expect([status, body.cause]).toEqual([503, 'overloaded']);
    answer(null);
    expect((await running).status).toBe(200);
  });

  test('providers that never answer end with the time of a read', async () => {
    const proofs = openProofs({ limits: { readMs: 200, requestMs: 100 } });
    [first.fault, second.fault] = [() => NO_ANSWER, () => NO_ANSWER];
    expect((await ask(PATH, { proofs })).body).toMatchObject({ cause: 'no-provider' });
  });

  test('with an explanation it is an error', async () => {
    const { status, body } = await ask(`${PATH}&explain=true`, { proofs: openProofs() });
    expect([status, body.errors]).toEqual([
      400,
      [{ parameter: 'proof', detail: 'cannot be combined with explain=true' }],
    ]);
  });
});

test('equal questions at one block share their proof', async () => {
  const proofs = openProofs();
  const answers = await Promise.all([ask(PATH, { proofs }), ask(PATH, { proofs })]);
  answers.push(await ask(PATH, { proofs }));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect([first.calls.get('eth_getProof'), second.calls.get('eth_getProof')]).toEqual([1, undefined]);
});

test('what a proof contradicts is refused and reported with the evidence, and the proof is not sent', async () => {
  const seen: Contradiction[] = [];
  const proofs = openProofs();
  const store = { ...world.one.store };
  store.check = async (...args) => ({ ...(await world.one.store.check(...args)), granting: [] });
  const { status, body } = await ask(PATH, { proofs, store, onContradiction: (one) => void seen.push(one) });
  expect([status, body.type, body.proofs]).toEqual([503, '/docs#problem-wallet-disputed', undefined]);
  const { number, hash } = world.chain.at(-1) as (typeof world.chain)[number];
  const evidence = { chainId: 1, question: GRANTED, index: false, proven: true, provider: '1/1' };
  expect(seen).toMatchObject([{ ...evidence, block: { number, hash } }]);
});

describe('a batch', () => {
  const post = (questions: readonly object[], proofs = openProofs()) =>
    ask(
      '/registry/any/check?proof=true',
      { proofs },
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ questions }),
      },
    );
  const question = { version: 2, check: 'all', from: V, to: D };

  test('proves each answer, and says which it cannot', async () => {
    const proofs = openProofs();
    const no = { ...question, to: E };
    const fault: Fault = ({ method, params }, honest) => {
      // The registry that the third question asks.
      if (method === 'eth_getProof' && params[0].startsWith('0x00000000000076')) throw new Refusal(-32_000, 'no state');
      return honest();
    };
    [first.fault, second.fault] = [fault, fault];
    const { body } = await post([question, no, { ...question, version: 1 }], proofs);
    const [yes, denied, failed] = body.answers ?? [];
    expect(verifyAnswer(GRANTED, yes, headHash())).toBe(true);
    expect(verifyAnswer({ ...GRANTED, to: E }, denied, headHash())).toBe(false);
    expect([failed?.problem?.type, body.complete]).toEqual(['/docs#problem-proof-unavailable', false]);
  });

  test('has at most 100 questions', async () => {
    const { status, body } = await post(Array(101).fill(question));
    expect([status, body.errors]).toEqual([
      400,
      [{ parameter: 'questions', detail: 'must be at most 100 with proof=true' }],
    ]);
    expect((await post(Array(100).fill(question))).body.complete).toBe(true);
  });

  test('that takes too long asks no provider for the rest', async () => {
    const { body } = await post([question, { ...question, to: E }], openProofs({ batchMs: 0 }));
    const problem = { type: '/docs#problem-proof-unavailable', cause: 'overloaded', newestBlock: null };
    expect(body.answers as unknown).toMatchObject([{ problem }, { problem }]);
    expect([body.complete, outcomes]).toEqual([false, []]);
  });

  test('asks no more at once than one caller may', async () => {
    const proofs = openProofs({ limits: { maxRunningOfOne: 4, maxWaitingOfOne: 0 } });
    const questions = Array.from({ length: 40 }, (_, at) => ({
      ...question,
      to: `0x${(at + 1).toString(16).padStart(40, '0')}`,
    }));
    expect((await post(questions, proofs)).body.complete).toBe(true);
  });
});

test('a provider that is down does not stop the other', async () => {
  const proofs = openProofs();
  first.fault = down;
  expect((await ask(PATH, { proofs })).status).toBe(200);
});

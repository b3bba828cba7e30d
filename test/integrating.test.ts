// Tests that each request in docs/integrating.md is answered with the body that follows it. "…" stands for any value.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXAMPLE_DELEGATIONS, EXAMPLE_TOKENS } from '../src/api/examples.ts';
import type { TokenReader } from '../src/chain/tokens/token-reader.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { newChain } from './support/chain.ts';
import { codeBlock, curlExamples, documentedCopy } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, ended, granted, timeOf } from './support/fixtures.ts';
import { appOf, tokensOf } from './support/serving.ts';
import { createWebhookRig } from './support/webhook-rig.ts';

const PAGE = 'docs/integrating.md';
const EXAMPLES = curlExamples(PAGE);

const { owner, coin } = EXAMPLE_TOKENS;
const tokens: TokenReader = {
  ...tokensOf(owner),
  balances: async (_of, owners) => ({
    type: 'balances',
    balances: owners.map((one) => (one === owner ? coin.amount : 0n)),
  }),
};

let store: Store;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('integrating.db')}`);
  const head = block(
    100,
    EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const),
  );
  const { epoch } = await store.claim(1, 100);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: head.number });
});
afterAll(() => store.close());

/** The same value, with matchers for what is left out. A list with nothing but "…" stands for any list. */
function expected(value: unknown): unknown {
  if (value === '…') return expect.anything();
  if (Array.isArray(value)) return value.length === 1 && value[0] === '…' ? expect.any(Array) : value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expected(one)]));
}

test('the page has examples', () => expect(EXAMPLES.length).toBeGreaterThan(0));

for (const { url, init, answer } of EXAMPLES) {
  test(`${init.method} ${url}`, async () => {
    const response = await appOf(store, timeOf(100), { tokens }).fetch(new Request(url, init));
    const found: unknown = await response.json();
    expect(found).toEqual(expected(JSON.parse(answer.text)));
  });
}

test('a delivery of a webhook has the fields that are shown', async () => {
  const shown = JSON.parse(codeBlock(PAGE, '"type": "delegations.changes"').text);
  const sent = Promise.withResolvers<string>();
  const rig = await createWebhookRig(`sqlite:${temporaryPath('delivery.db')}`, {
    async send(_url, _headers, body) {
      sent.resolve(body);
      return { type: 'delivered', status: 204, ms: 1 };
    },
  });
  await rig.extend();
  const { id } = await rig.create('https://receiver.example');
  await rig.extend([granted('ALL')]);
  rig.deliver();
  const { timestamp, ...rest } = JSON.parse(await sent.promise);
  expect(rest).toEqual(expected({ type: shown.type, data: { ...shown.data, webhook: id } }));
  // As ISO 8601 in UTC, with milliseconds.
  for (const time of [timestamp, shown.timestamp]) expect(new Date(time).toISOString()).toBe(time);
  await rig.close();
});

test('the code of the page keeps a copy that holds what the lists have, through a reorg', async () => {
  const own = await openStore(`sqlite:${temporaryPath('copied.db')}`);
  const chain = await newChain(own, 1);
  const app = appOf(own, timeOf(105), { maxLag: () => 1000 });
  const ask = async (path: string) => app.fetch(new Request(path));
  const { update, heldAt } = documentedCopy(ask);
  const expectSame = async () => {
    await update('http://localhost');
    for (let at = 100; at <= (chain.state.head?.number ?? 0); at++) {
      const list = await ask(`http://localhost/registry/any/${COLD}?block=${at}&numbers=string`);
      const { delegations } = (await list.json()) as { delegations: readonly object[] };
      expect(new Set(heldAt(at).map((one) => JSON.stringify(one)))).toEqual(
        new Set(delegations.map((one) => JSON.stringify(one))),
      );
    }
  };
  await chain.add([block(100), block(101, [granted('ALL'), granted('ERC20', { amount: 1n })]), block(102)]);
  await expectSame();
  await chain.add([block(103, [ended('ALL'), granted('ERC20', { amount: 2n })]), block(104)]);
  await expectSame();
  await chain.add([block(102, [granted('ERC721')], 1), block(103, [granted('ALL')], 1)], { rollbackTo: 101 });
  await expectSame();
  expect(heldAt(103)).toHaveLength(3);
  await own.close();
});

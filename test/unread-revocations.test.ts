// An answer may depend on an unsettled v1 revocation: the caller gets a Retry-After, and the follower settles that pair first.

import { expect, test } from 'bun:test';
import { createDeniedSample } from '../src/chain/audit/denied-sample.ts';
import { MAX_DELEGATES } from '../src/chain/revocations/revocations.ts';
import { createChainMaker, type FakeBlock, type FakeCall, startFakeNode } from './support/fake-node.ts';
import { address } from './support/fixtures.ts';
import { following } from './support/following.ts';
import { appOf } from './support/serving.ts';

const FIRST = 1000;
const [VAULT, STRANGER] = [address(0xc01d), address(0x57)];
/** More than are settled together. */
const DELEGATES = Array.from({ length: MAX_DELEGATES + 1 }, (_, turn) => address(0xd000 + turn));

test('a pair that got a 503, in a check or in a list, is answered after the next tick', async () => {
  const maker = createChainMaker(FIRST);
  const chain: FakeBlock[] = [];
  const grow = (calls: readonly FakeCall[] = []) => {
    chain.push(maker.block(chain.at(-1) ?? null, calls));
    node.chain = [...chain];
    one.clock = (chain.at(-1)?.timestamp ?? 0) * 1000;
  };
  const node = startFakeNode();
  const one = await following([node], { firstBlock: FIRST, clock: 0 });
  const denials = createDeniedSample();
  const app = () =>
    appOf(one.store, one.clock / 1000, {
      onDenied: denials.add,
      onUnread: (chainId, question) => denials.add(chainId, question, 'unread'),
    });
  const ask = async (path: string) => {
    const response = await app().fetch(new Request(`http://x/registry/v1/${path}`));
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
  };
  const check = (delegate: string) => ask(`check/all?vault=${VAULT}&delegate=${delegate}`);
  const list = (delegate: string) => ask(`${delegate}?direction=incoming`);
  /** Passes requested pairs to the follower, as the program does between two ticks. */
  const tell = () => {
    for (const [, , unread] of denials.take()) for (const { from, to } of unread) one.follower.prioritize(from, to);
  };
  try {
    grow(DELEGATES.map((delegate) => ({ call: ['v1', VAULT, 'delegateForAll', [delegate, true]], direct: true })));
    grow([{ call: ['v1', VAULT, 'revokeDelegate', [STRANGER]], direct: false }]);
    await one.catchUp();

    const refusal = await ask(`${VAULT}?direction=outgoing`);
    expect(refusal).toMatchObject({ status: 503, body: { type: '/docs#problem-revocation-unread' } });
    expect(Number(refusal.retryAfter)).toBeLessThanOrEqual(5);

    for (const [asked, holds] of [
      [check, true],
      [list, [expect.objectContaining({ type: 'ALL' })]],
    ] as const) {
      const waiting: string[] = [];
      for (const delegate of DELEGATES) if ((await asked(delegate)).status === 503) waiting.push(delegate);
      denials.take();
      const wanted = waiting.slice(-4);
      for (const delegate of wanted) expect((await asked(delegate)).status).toBe(503);
      // Denied checks must not push out the pairs to settle.
      for (const nobody of DELEGATES.slice(0, 50)) await ask(`check/all?vault=${nobody}&delegate=${VAULT}`);
      tell();
      grow();
      await one.follower.tick();
      for (const delegate of wanted) expect(await asked(delegate)).toMatchObject({ status: 200, body: holds });
    }
    expect(one.errors).toEqual([]);
  } finally {
    await one.close();
    await node.stop();
  }
});

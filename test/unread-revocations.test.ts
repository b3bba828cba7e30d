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

/** A chain on which the wallet has granted to all of them, and then revoked one delegate by a transaction that does not name it. */
async function startRig(revoked: string) {
  const maker = createChainMaker(FIRST);
  const chain: FakeBlock[] = [];
  const node = startFakeNode();
  const one = await following([node], { firstBlock: FIRST, clock: 0 });
  const denials = createDeniedSample();
  const app = () =>
    appOf(one.store, one.clock / 1000, {
      onDenied: denials.add,
      onUnread: (chainId, question) => denials.add(chainId, question, 'unread'),
    });
  const rig = {
    one,
    denials,
    grow(calls: readonly FakeCall[] = []) {
      chain.push(maker.block(chain.at(-1) ?? null, calls));
      node.chain = [...chain];
      one.clock = (chain.at(-1)?.timestamp ?? 0) * 1000;
    },
    async ask(path: string) {
      const response = await app().fetch(new Request(`http://x/registry/v1/${path}`));
      return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
    },
    check: (delegate: string) => rig.ask(`check/all?vault=${VAULT}&delegate=${delegate}`),
    /** The next tick, after the program has passed on the pairs that were refused. */
    async tick() {
      for (const [, { unread }] of denials.take()) for (const { from, to } of unread) one.follower.prioritize(from, to);
      rig.grow();
      await one.follower.tick();
    },
    async stop() {
      await one.close();
      await node.stop();
    },
  };
  rig.grow(DELEGATES.map((delegate) => ({ call: ['v1', VAULT, 'delegateForAll', [delegate, true]], direct: true })));
  rig.grow([{ call: ['v1', VAULT, 'revokeDelegate', [revoked]], direct: false }]);
  await one.catchUp();
  return rig;
}

test('a pair that got a 503, in a check or in a list, is answered after the next tick', async () => {
  const { one, denials, ask, check, tick, stop } = await startRig(STRANGER);
  const list = (delegate: string) => ask(`${delegate}?direction=incoming`);
  try {
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
      await tick();
      for (const delegate of wanted) expect(await asked(delegate)).toMatchObject({ status: 200, body: holds });
    }
    expect(one.errors).toEqual([]);
  } finally {
    await stop();
  }
});

test('of a wallet with too many delegates all pairs are answered once the revoked one is found, and none before because of another', async () => {
  const [asked, revoked, other] = DELEGATES as [string, string, string];
  const { check, tick, stop } = await startRig(revoked);
  try {
    expect((await check(asked)).status).toBe(503);
    await tick();
    expect(await check(asked)).toMatchObject({ status: 200, body: true });
    expect((await check(other)).status).toBe(503);
    expect((await check(revoked)).status).toBe(503);
    await tick();
    expect(await check(revoked)).toMatchObject({ status: 200, body: false });
    for (const delegate of DELEGATES.slice(2)) expect(await check(delegate)).toMatchObject({ status: 200, body: true });
  } finally {
    await stop();
  }
});

import { expect, test } from 'bun:test';
import { paceCalls } from './pace-calls.ts';
import { type Rpc, RpcError } from './rpc.ts';

/** A provider in its own time. It refuses those for which there is a pause, or null without one. */
function providerIn(pauseOf: (call: number) => number | null | undefined) {
  let now = 10_000;
  const starts: number[] = [];
  const call = async () => {
    starts.push(now - 10_000);
    now += provider.latencyMs;
    const retryAfterMs = pauseOf(starts.length);
    if (retryAfterMs === null) throw new RpcError('refused', 'slow down', { httpStatus: 429 });
    if (retryAfterMs !== undefined) throw new RpcError('refused', 'slow down', { httpStatus: 429, retryAfterMs });
  };
  const wait = async (ms: number) => {
    now += ms;
  };
  const paced = paceCalls({ call } as unknown as Rpc, { now: () => now, sleep: wait });
  const ask = async (count: number) => {
    for (let left = count; left > 0; left--) await paced.call('eth_chainId', []);
  };
  /** Milliseconds between the starts of two calls. */
  const gaps = () => starts.slice(1).map((at, turn) => at - (starts[turn] as number));
  const provider = { latencyMs: 50, starts, gaps, ask, wait };
  return provider;
}

test('ten calls are in flight at most, and the next begins when one ends', async () => {
  const ends: (() => void)[] = [];
  const call = () => new Promise<void>((resolve) => void ends.push(resolve));
  const paced = paceCalls({ call } as unknown as Rpc);
  const all = Array.from({ length: 12 }, () => paced.call('eth_chainId', []));
  await Bun.sleep(0);
  expect(ends).toHaveLength(10);
  ends[0]?.();
  await all[0];
  await Bun.sleep(0);
  expect(ends).toHaveLength(11);
  for (let at = 1; at < 12; at++) {
    ends[at]?.();
    await all[at];
    await Bun.sleep(0);
  }
});

test('a rejected call is repeated after pauses that double, and fails at the fifth rejection', async () => {
  const { starts, ask } = providerIn(() => null);
  await expect(ask(1)).rejects.toThrow('slow down');
  expect(starts).toEqual([0, 150, 400, 850, 1700]);
});

test('a rejected call is repeated when the provider says so, unless it says more than five seconds', async () => {
  const { starts, ask } = providerIn((call) => [5000, undefined, 5001][call - 1]);
  await ask(1);
  expect(starts).toEqual([0, 5050]);
  await expect(ask(1)).rejects.toThrow('slow down');
  expect(starts).toHaveLength(3);
});

test('other errors are not repeated', async () => {
  let calls = 0;
  const call = async () => {
    calls++;
    throw new RpcError('refused', 'no such method', { rpcCode: -32_601 });
  };
  await expect(paceCalls({ call } as unknown as Rpc).call('x', [])).rejects.toThrow('no such method');
  expect(calls).toBe(1);
});

test('after a rejection, calls start a little slower than those that the provider allowed', async () => {
  const { gaps, ask } = providerIn((call) => (call === 21 ? 100 : undefined));
  await ask(30);
  for (const ms of gaps().slice(22)) expect(ms).toBeCloseTo(ALLOWED_MS, 1);
});

/** 97 percent of 20 calls in 1,050 ms, the one that was rejected included. */
const ALLOWED_MS = 1050 / 20 / 0.97;

test('a time without calls is not counted as slowness', async () => {
  const { gaps, ask, wait } = providerIn((call) => (call === 41 ? 100 : undefined));
  await ask(20);
  await wait(1001);
  await ask(30);
  expect(gaps().at(-1)).toBeCloseTo(ALLOWED_MS, 1);
});

test('a rate rises again: it is double after 200 seconds', async () => {
  const provider = providerIn((call) => (call === 21 ? 100 : undefined));
  await provider.ask(21);
  await provider.wait(200_000);
  provider.latencyMs = 0;
  await provider.ask(30);
  expect(provider.gaps().at(-1)).toBeCloseTo(ALLOWED_MS / 2, 0);
});

test('one more rejection lowers a rate by a fifth, and by half if no call succeeded since the last', async () => {
  const provider = providerIn((call) => ([21, 23, 24].includes(call) ? 100 : undefined));
  await provider.ask(21);
  await provider.wait(900);
  await provider.ask(4);
  expect(provider.gaps().at(-1)).toBeCloseTo(ALLOWED_MS / 0.8 / 0.5, 1);
});

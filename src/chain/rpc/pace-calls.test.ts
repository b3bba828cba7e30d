import { expect, test } from 'bun:test';
import { paceCalls } from './pace-calls.ts';
import { type Rpc, type RpcCall, RpcError } from './rpc.ts';

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
  const batch = async (calls: readonly unknown[]) => {
    await call();
    return [...calls];
  };
  const paced = paceCalls({ call, batch } as unknown as Rpc, { now: () => now, sleep: wait });
  const ask = async (count: number) => {
    for (let left = count; left > 0; left--) await paced.call('eth_chainId', []);
  };
  /** Milliseconds between the starts of two calls. */
  const gaps = () => starts.slice(1).map((at, turn) => at - (starts[turn] as number));
  const askBatch = (count: number) => paced.batch(Array.from({ length: count }, () => ({ method: 'x', params: [] })));
  const provider = { latencyMs: 50, starts, gaps, ask, askBatch, wait };
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

test('calls that wait for the same moment start one after another', async () => {
  let now = 0;
  let asleep: { readonly until: number; readonly wake: () => void }[] = [];
  const sleep = (ms: number) =>
    new Promise<void>((wake) => {
      asleep.push({ until: now + ms, wake });
    });
  const starts: number[] = [];
  const call = async () => {
    starts.push(now);
    if (starts.length <= 3) throw new RpcError('refused', 'slow down', { httpStatus: 429, retryAfterMs: 100 });
  };
  const paced = paceCalls({ call } as unknown as Rpc, { now: () => now, sleep });
  let isDone = false;
  const all = Promise.all([1, 2, 3].map(() => paced.call('x', []))).then(() => {
    isDone = true;
  });
  await Bun.sleep(0);
  while (!isDone) {
    now = Math.min(...asleep.map(({ until }) => until));
    const due = asleep.filter(({ until }) => until <= now);
    asleep = asleep.filter(({ until }) => until > now);
    for (const { wake } of due) wake();
    await Bun.sleep(0);
  }
  await all;
  expect(starts).toHaveLength(6);
  // The first three were in flight together.
  expect(new Set(starts).size).toBe(1 + 3);
});

test('each call of a batch counts', async () => {
  const provider = providerIn((call) => (call === 5 ? 100 : undefined));
  for (let turn = 0; turn < 4; turn++) await provider.askBatch(5);
  provider.latencyMs = 0;
  await provider.ask(1);
  await provider.askBatch(10);
  await provider.ask(1);
  expect(provider.gaps().at(-1)).toBeCloseTo((10 * 1000) / 20 / 0.97, 1);
});

test('a batch of more calls than a provider allows in a second is sent in parts, in order', async () => {
  let [now, tokens, filledAt] = [10_000, 25, 10_000];
  const sizes: number[] = [];
  const batch = async (calls: readonly RpcCall[]) => {
    tokens = Math.min(25, tokens + (25 * (now - filledAt)) / 1000);
    filledAt = now;
    if (calls.length > tokens) throw new RpcError('refused', 'slow down', { httpStatus: 429, retryAfterMs: 1000 });
    tokens -= calls.length;
    sizes.push(calls.length);
    return calls.map(({ params: [one] }) => one);
  };
  const sleep = async (ms: number) => {
    now += ms;
  };
  const paced = paceCalls({ batch } as unknown as Rpc, { now: () => now, sleep });
  const numbers = Array.from({ length: 200 }, (_, at) => at);
  expect(await paced.batch(numbers.map((one) => ({ method: 'x', params: [one] })))).toEqual(numbers);
  // Parts grow: the one before may have been rejected for what others sent.
  expect(sizes).toEqual([25, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
  // At 25 calls a second, eight seconds would do.
  expect(now - 10_000).toBeLessThan(20_000);
});

test('a batch that is rejected in every size fails at the fifth rejection, and the next one is small', async () => {
  const { starts, gaps, askBatch } = providerIn((call) => (call <= 5 ? null : undefined));
  await expect(askBatch(50)).rejects.toThrow('slow down');
  expect(starts).toHaveLength(5);
  // Of 3, 4, 5, 6, 7, 8, 9 and 8 calls.
  await askBatch(50);
  expect(starts).toHaveLength(5 + 8);
  // At 25 calls a second, half of the first batch: what was rejected for its size says nothing about the rate.
  expect(gaps().at(-1)).toBeCloseTo((9 * 1000) / 25, 0);
});

test('calls that succeeded at once are those of a second', async () => {
  const provider = providerIn((call) => (call === 21 ? 100 : undefined));
  provider.latencyMs = 0;
  await provider.wait(10_000);
  await provider.ask(30);
  expect(provider.gaps().at(-1)).toBeCloseTo(1000 / 20 / 0.97, 1);
});

test('the calls of a pause are made up for, those of a second at most', async () => {
  for (const [pauseMs, atOnce] of [
    [500, 9],
    [1000, 18],
    [5000, 18],
  ] as const) {
    const provider = providerIn((call) => (call === 21 ? 100 : undefined));
    await provider.ask(30);
    provider.latencyMs = 0;
    await provider.wait(pauseMs);
    const before = provider.starts.length;
    await provider.ask(30);
    const gaps = provider.gaps().slice(before);
    expect(gaps.findIndex((ms) => ms > 0)).toBe(atOnce);
    expect(gaps.at(-1)).toBeCloseTo(ALLOWED_MS, 0);
  }
});

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
  await provider.ask(80);
  expect(provider.gaps().at(-1)).toBeCloseTo(ALLOWED_MS / 2, 0);
});

test('one more rejection lowers a rate by a fifth, and by half if no call succeeded since the last', async () => {
  const provider = providerIn((call) => ([21, 23, 24].includes(call) ? 100 : undefined));
  await provider.ask(21);
  await provider.wait(900);
  await provider.ask(4);
  expect(provider.gaps().at(-1)).toBeCloseTo(ALLOWED_MS / 0.8 / 0.5, 1);
});

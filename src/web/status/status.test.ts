// What the status page says in each state, over a real store.

import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, FOLLOWER_STATUS, granted, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import type { FollowerStatus } from '../../chain/follow/follower-status.ts';
import type { AppOptions } from '../../http/server/app.ts';
import { openStore } from '../../store/open.ts';
import type { Report, Store } from '../../store/store.ts';

interface State {
  readonly chains?: readonly number[];
  readonly report?: Report;
  /** Of the newest block, at this many seconds after it. */
  readonly age?: number;
  readonly more?: Partial<AppOptions>;
}

async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(`sqlite:${temporaryPath('status.db')}`);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function index(store: Store, chainId: number, report: Report = {}): Promise<void> {
  const { epoch } = await store.claim(chainId, 100);
  const head = block(105);
  const blocks = [block(100), block(101, [granted('ALL')]), block(103), head];
  await store.apply({ chainId, epoch, after: null, blocks, head, verified: 103 });
  await store.report(chainId, epoch, { tip: 105, ...report });
}

const pageOf = async (store: Store, { age = 3, more = {} }: State) =>
  (await appOf(store, timeOf(105) + age, more).fetch(new Request('http://localhost/status'))).text();

/** The text that a person sees, details included, and the colors. */
const read = (page: string) => ({
  summary: /<p class="said notice (\w+) summary"[^>]*>([^<]*)</.exec(page)?.slice(1),
  text: (page.split('<main')[1] ?? '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
  badges: [...page.matchAll(/<h2>.*?<span class="badge (\w+)">([^<]*)</gs)].map(([, tone, text]) => [tone, text]),
});

/** The page about chains of which the first has this state, and the others are up to date. */
const statusOf = (state: State) =>
  withStore(async (store) => {
    const chains = state.chains ?? [1];
    for (const [position, chainId] of chains.entries()) await index(store, chainId, position === 0 ? state.report : {});
    return read(await pageOf(store, { ...state, more: { chainIds: new Set(chains), ...state.more } }));
  });

const follower = (status: Partial<FollowerStatus>): Partial<AppOptions> => ({
  followerStatus: () => [{ ...FOLLOWER_STATUS, ...status }],
});
const provider = (name: string, healthy = true) => ({ name, healthy, cause: healthy ? null : ('http-401' as const) });

test('up to date: one chain, or all of them', async () => {
  const one = await statusOf({});
  expect(one.summary).toEqual(['yes', 'Ethereum is up to date.']);
  expect(one.badges).toEqual([['good', 'Up to date']]);
  expect(one.text).toContain('Newest indexed block 105 3 seconds ago');
  expect((await statusOf({ chains: [1, 10, 8453] })).summary).toEqual(['yes', 'All 3 chains are up to date.']);
});

test('behind: by how much, since when, and what is answered all the same', async () => {
  const { summary, text, badges } = await statusOf({
    age: 240,
    more: follower({ providers: [provider('1/1', false), provider('1/2', false)] }),
  });
  expect(summary).toEqual(['no', 'Ethereum is behind by 4 minutes; its answers are refused until it catches up.']);
  expect(badges).toEqual([['bad', 'Behind']]);
  expect(text).toMatch(
    /The newest indexed block is from \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Questions as of a finalized block/,
  );
  expect(text).toContain('None of the 2 nodes that it is read from answers properly.');
  expect(text).toContain('1/1 unhealthy: http-401');
});

test('long times are in words, and never in many seconds', async () => {
  const { text } = await statusOf({ age: 86_400, more: { maxLag: () => 31_536_000 } });
  expect(text).toContain('Lag 24 hours (answers are refused above 365 days)');
  expect(text).not.toMatch(/\d s\b/);
});

test('behind: one of several chains, or two of them', async () => {
  const lagging = (late: readonly number[]): State => ({
    chains: [1, 10, 8453],
    age: 240,
    more: { maxLag: (chainId) => (late.includes(chainId) ? 60 : 600) },
  });
  const one = await statusOf(lagging([10]));
  expect(one.summary).toEqual([
    'trouble',
    'Optimism is behind by 4 minutes; its answers are refused until it catches up.',
  ]);
  expect(one.badges.map(([tone]) => tone)).toEqual(['good', 'bad', 'good']);
  expect((await statusOf(lagging([10, 8453]))).summary).toEqual([
    'trouble',
    '1 of 3 chains is up to date. The answers of Optimism and Base are refused.',
  ]);
  expect((await statusOf(lagging([1, 10, 8453]))).summary).toEqual([
    'no',
    'None of the 3 chains is up to date. The answers of Ethereum, Optimism and Base are refused.',
  ]);
});

test('backfilling: how much is indexed, and how long it takes', async () => {
  const state = { age: 5000, report: { tip: 1099 } };
  const { summary, text } = await statusOf({ ...state, more: follower({ secondsLeft: 700 }) });
  expect(summary).toEqual([
    'no',
    'Ethereum is 0.6 % indexed, with about 12 minutes left; its answers are refused until it is up to date.',
  ]);
  expect(text).toMatch(/The history is indexed up to \d{4}-/);
  // A process without a follower does not know how long it takes.
  expect((await statusOf(state)).summary?.[1]).toContain('Ethereum is 0.6 % indexed; its answers');
});

test('halted: why in plain words, and for the operator the code and the command', async () => {
  const halt = { code: 'finality-violation', since: timeOf(104), block: 102, theirs: null } as const;
  const { summary, text, badges } = await statusOf({ chains: [1, 10], report: { halt } });
  expect(summary).toEqual([
    'trouble',
    'Ethereum is halted: a block that was final has changed. Its answers are refused until that is resolved.',
  ]);
  expect(badges).toEqual([
    ['bad', 'Halted'],
    ['good', 'Up to date'],
  ]);
  expect(text).toMatch(/Since \d{4}-\d\d-\d\d \d\d:\d\d UTC, no question about Ethereum is answered/);
  expect(text).toMatch(/Details for the operator finality-violation since .* delegations rewind --chain 1 --to 101/);
});

test('a clock that is wrong: what it means, and what the operator does', async () => {
  const { summary, text } = await statusOf({ age: -600 });
  expect(summary).toEqual([
    'no',
    'The clock of this service is 10 minutes behind Ethereum; its answers are refused until the clock is set.',
  ]);
  expect(text).toContain('10 minutes behind the chain: check NTP.');
});

test('a part of the history: what is missing in the answers', async () => {
  const { summary, text } = await statusOf({ report: { partial: true } });
  expect(summary?.[0]).toBe('yes');
  expect(text).toContain('Indexed from block 100. What was delegated before is unknown, and missing in its answers.');
});

test('how much of the history is confirmed by a second provider', async () => {
  const confirmed = async (count: number, block: number | null) => {
    const providers = Array.from({ length: count }, (_, at) => provider(`1/${at + 1}`));
    const { text } = await statusOf({ report: { agreedBlock: block }, more: follower({ providers }) });
    return /Confirmed by a second provider (.*?) The lag/.exec(text)?.[1];
  };
  expect(await confirmed(1, null)).toBe('No: it is read from one provider only');
  expect(await confirmed(2, null)).toBe('Not yet');
  expect(await confirmed(2, 101)).toBe('50 % of final history, up to block 101');
  expect(await confirmed(2, 103)).toBe('All final history, up to block 103');
});

test('before anything is indexed, and without any chain', async () => {
  await withStore(async (store) => {
    const started = read(await pageOf(store, {}));
    expect(started.summary).toEqual([
      'no',
      'Ethereum is starting; its answers are refused until its history is indexed.',
    ]);
    expect(started.badges).toEqual([['bad', 'Starting']]);
    await store.claim(1, 100);
    expect(read(await pageOf(store, {})).badges).toEqual([['bad', 'Starting']]);
    const none = read(await pageOf(store, { more: { chainIds: new Set() } }));
    expect(none.summary).toEqual(['no', 'This service follows no chains yet.']);
  });
});

test('with the store away: that nothing is known', async () => {
  const store = await openStore(`sqlite:${temporaryPath('status.db')}`);
  await store.close();
  expect(read(await pageOf(store, {})).summary).toEqual([
    'no',
    expect.stringContaining('The state of the chains is not known now. '),
  ]);
});

test('an unknown chain is named by its id', async () => {
  expect((await statusOf({ chains: [999_999] })).summary).toEqual(['yes', 'Chain 999999 is up to date.']);
});

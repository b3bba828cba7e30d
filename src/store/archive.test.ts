import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, granted, HOT, revocation, settlement } from '../../test/support/fixtures.ts';
import { parseNetwork } from '../registry/custom-network.ts';
import type { Network } from '../registry/network.ts';
import { archiveLines, checkArchive, encodeLine, importArchive } from './archive.ts';
import { openStore } from './open.ts';
import type { BlockInput, Store } from './store.ts';

const LAST = block(106);
const emptyStore = () => openStore(`sqlite:${temporaryPath('archive.db')}`);

async function fill(store: Store, blocks: readonly BlockInput[]): Promise<number> {
  const { epoch } = await store.claim(1, 100);
  const head = blocks.at(-1) as BlockInput;
  await store.apply({ chainId: 1, epoch, after: null, blocks, head, verified: head.number });
  return epoch;
}

/** Without the blocks that have no logs. */
function archiveOf(blocks: readonly BlockInput[], firstBlock = 100): readonly string[] {
  const head = { format: 'delegations-index', version: 2, chainId: 1, firstBlock, partial: false, last: LAST };
  const text = [head, ...blocks].map(encodeLine).join('');
  const logs = blocks.reduce((sum, one) => sum + one.logs.length, 0);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return [...text.trimEnd().split('\n'), encodeLine({ end: true, blocks: blocks.length, logs, sha256 })];
}

async function importAll(store: Store, lines: readonly string[], again = lines): Promise<void> {
  const read = async function* (some: readonly string[]) {
    yield* some;
  };
  await importArchive(store, await checkArchive(read(lines)), read(again));
}

test('an import that was interrupted goes on with its own archive, and with no other', async () => {
  const [first, second] = [block(101, [granted('ALL')]), block(103, [granted('ALL')])];
  const busy = (number: number) => block(number, Array(15_000).fill(granted('ALL')));
  const store = await emptyStore();
  const epoch = await fill(store, [first]);
  await store.report(1, epoch, { halt: { code: 'import-unfinished', since: 1 } });
  for (const other of [
    archiveOf([block(101, [granted('ALL')], 1), second]),
    archiveOf([busy(102), busy(103)]),
    archiveOf([block(100, [granted('ALL')])]),
    archiveOf([first, second], 99),
  ])
    await expect(importAll(store, other)).rejects.toThrow('was started from another archive');
  expect(await store.chain(1)).toMatchObject({ halt: { code: 'import-unfinished' }, head: { number: 101 } });
  await importAll(store, archiveOf([first, second]));
  expect(await store.chain(1)).toMatchObject({ halt: null, head: { number: 106 }, verified: 106 });
  expect(await store.logs(1, { from: 0, to: 200, limit: 10 })).toHaveLength(2);
  await store.close();
});

test('an import that was interrupted after its last block is completed', async () => {
  const first = block(101, [granted('ALL')]);
  const store = await emptyStore();
  const epoch = await fill(store, [first, LAST]);
  await store.report(1, epoch, { halt: { code: 'import-unfinished', since: 1 } });
  await importAll(store, archiveOf([first]));
  expect(await store.chain(1)).toMatchObject({ halt: null, head: { number: 106 } });
  await store.close();
});

test('an import is unfinished until its last commit has ended', async () => {
  const store = await emptyStore();
  const halts: unknown[] = [];
  const apply: Store['apply'] = async (commit) => {
    await Bun.sleep(1);
    halts.push((await store.chain(1))?.halt?.code);
    return store.apply(commit);
  };
  await importAll({ ...store, apply }, archiveOf([block(101, [granted('ALL')])]));
  expect(halts).toEqual(['import-unfinished']);
  expect(await store.chain(1)).toMatchObject({ halt: null, head: { number: 106 } });
  await store.close();
});

test('an import commits some blocks at once, with 100,000 logs at most', async () => {
  const store = await emptyStore();
  const commits: number[] = [];
  const apply: Store['apply'] = (commit) => {
    commits.push(commit.blocks.reduce((sum, { logs }) => sum + logs.length, 0));
    return store.apply({ ...commit, blocks: [] });
  };
  const busy = (number: number) => block(number, Array(35_000).fill(granted('ALL')));
  await importAll({ ...store, apply }, archiveOf([101, 102, 103, 104].map(busy)));
  expect(commits).toEqual([70_000, 70_000]);
  await store.close();
});

test('blocks with many logs are exported whole, also over the end of a page', async () => {
  const store = await emptyStore();
  const busy = (number: number) => block(number, Array(3000).fill(granted('ALL')));
  await fill(store, [busy(101), busy(102), busy(103), LAST]);
  const counts: unknown[] = [];
  for await (const line of archiveLines(store, 1)) {
    const { number, logs } = JSON.parse(line);
    if (Array.isArray(logs)) counts.push([number, logs.length]);
    if (counts.length > 3) break;
  }
  expect(counts).toEqual([101, 102, 103].map((number) => [number, 3000]));
  await store.close();
});

test('an archive that is cut, changed or continued is not imported, nor into a store that has the chain', async () => {
  const store = await emptyStore();
  const whole = archiveOf([block(101, [granted('ALL')])]);
  const [head = '', one = '', end = ''] = whole;
  for (const [lines, why] of [
    [[head, one], 'its last line is missing'],
    [[head, one.replace('granted', 'ended'), end], 'its checksum does not match'],
    [[head, one, end.replace('"logs":1', '"logs":2')], 'counts of blocks and logs do not match'],
    [[...whole, one], 'lines after its end'],
  ] as const)
    await expect(importAll(store, lines)).rejects.toThrow(why);
  expect(await store.chain(1)).toBeNull();
  await importAll(store, whole);
  await expect(importAll(store, whole)).rejects.toThrow('is already in this store');
  await store.close();
});

test('only what the state of its own block has settled is in an archive', async () => {
  const store = await emptyStore();
  const epoch = await fill(store, [block(101, [granted('ALL', { version: 1 })]), revocation(103)]);
  const head = block(105);
  const exported = async () => (await Array.fromAsync(archiveLines(store, 1))).join('').includes('"settlements":[');
  await store.apply({ chainId: 1, epoch, after: revocation(103), blocks: [], head, verified: 105 });
  await store.settle(1, epoch, [settlement(103, { [HOT]: true }, { readAt: 105 })]);
  expect(await exported()).toBe(false);
  await store.unsettle(1, epoch, settlement(103, {}).vault, 103);
  await store.settle(1, epoch, [settlement(103, { [HOT]: true })]);
  expect(await exported()).toBe(true);
  await store.close();
});

test('an archive says nothing about who has proven its blocks, and is believed about none', async () => {
  const store = await emptyStore();
  const claimed = { ...block(101, [granted('ALL')]), isProven: true, timeFrom: 'header' } as const;
  await importAll(store, archiveOf([claimed]));
  const range = { from: 0, to: 200, limit: 10 };
  expect((await store.unprovenBlocks(1, range)).map(({ number }) => number)).toEqual([101]);
  expect((await store.uncheckedTimes(1, range)).map(({ number }) => number)).toEqual([101]);
  expect(await store.chain(1)).toMatchObject({ imported: { to: 106, comparedFrom: 107, isCounted: false } });
  await store.close();
});

test('a file that changes between its two reads is not imported', async () => {
  const store = await emptyStore();
  const [one, other] = [archiveOf([block(101, [granted('ALL')])]), archiveOf([block(101, [granted('ALL')], 1)])];
  await expect(importAll(store, one, other)).rejects.toThrow('changed while it was imported');
  expect((await store.chain(1))?.halt?.code).toBe('import-unfinished');
  await store.close();
});

test('an archive of a chain that is not in the table says which registries it is of', async () => {
  const chainId = 69_000;
  const named = (text: string) => parseNetwork(chainId, text) as Network;
  const [from, to] = [await emptyStore(), await emptyStore()];
  const { epoch } = await from.claim(chainId, 100, false, named('Own,2s,v1'));
  const blocks = [block(101, [granted('ALL')]), LAST];
  await from.apply({ chainId, epoch, after: null, blocks, head: LAST, verified: LAST.number });
  const lines = (await Array.fromAsync(archiveLines(from, chainId))).map((line) => line.trimEnd());
  await importAll(to, lines);
  expect(await to.chain(chainId)).toMatchObject({ network: 'Own,2s,v1', head: { number: 101 } });
  await expect(to.claim(chainId, 100, false, named('Own,2s'))).rejects.toThrow('was indexed as "Own,2s,v1"');
  for (const network of ['', ',"network":"Own,2s,v3"']) {
    const head = (lines[0] as string).replace(',"network":"Own,2s,v1"', network);
    await expect(importAll(to, [head, ...lines.slice(1)])).rejects.toThrow('not a known network');
  }
  await from.close();
  await to.close();
});

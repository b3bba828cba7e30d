// An archive is not believed: whatever was done to it, the operator's own honest node shows it, and the index becomes the truth. What is
// answered before that is said to be unconfirmed.

import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { archiveLines, checkArchive, importArchive } from '../src/store/archive.ts';
import { MAINNET } from './support/vectors.ts';
import { createWorld, type MadeChain, type World, type WorldOptions } from './support/world.ts';

const BLOCKS = 160;

interface ArchivedLog {
  logIndex: number;
  transactionHash: string;
  event: { type: string; from?: string; delegation?: Record<string, unknown> };
  revoked: string | null;
}
interface ArchivedBlock {
  number: number;
  hash: string;
  timestamp: number;
  isProven?: boolean;
  logs: ArchivedLog[];
  settlements?: { pairs: unknown[] }[];
}

type Tamper = (blocks: ArchivedBlock[], world: World) => unknown;

const made = new Map<string, { readonly chain: MadeChain; readonly lines: readonly string[] }>();

/** The archive of a chain, by an index that followed it. */
async function archived(options: WorldOptions) {
  const name = JSON.stringify(options);
  const known = made.get(name);
  if (known !== undefined) return known;
  const world = await createWorld({ ...options, blocks: BLOCKS });
  await world.rest();
  const lines = (await Array.fromAsync(archiveLines(world.one.store, 1))).map((line) => line.trimEnd());
  const one = { chain: { maker: world.maker, chain: world.chain }, lines };
  await world.close();
  made.set(name, one);
  return one;
}

/** With a checksum that fits. */
function tampered(lines: readonly string[], tamper: Tamper, world: World): string[] {
  const [head = '', ...rest] = lines;
  const before = rest.slice(0, -1).map((line) => JSON.parse(line) as ArchivedBlock);
  const blocks = (tamper(before, world) as ArchivedBlock[] | undefined) ?? before;
  const text = [head, ...blocks.map((block) => JSON.stringify(block))];
  const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0);
  const sha256 = createHash('sha256')
    .update(text.map((line) => `${line}\n`).join(''))
    .digest('hex');
  return [...text, JSON.stringify({ end: true, blocks: blocks.length, logs, sha256 })];
}

/** Imports what was tampered with, follows the chain with an honest node, and audits until all is confirmed. */
async function confirmed(tamper: Tamper, options: WorldOptions = {}, asksBefore = false) {
  const { chain, lines } = await archived({ isProvable: options.isProvable ?? true });
  const world = await createWorld({ ...options, made: chain });
  try {
    const changed = tampered(lines, tamper, world);
    const read = async function* () {
      yield* changed;
    };
    await importArchive(world.one.store, await checkArchive(read()), read());
    const wrongBefore = asksBefore ? await wrongAsOf(world) : null;
    await world.rest(1);
    const auditor = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
    let rounds = 0;
    const shares: number[] = [];
    for (; (await world.one.store.chain(1))?.imported !== null && rounds < 100; rounds++) {
      shares.push((await world.one.store.chain(1))?.imported?.comparedFrom ?? -1);
      await auditor.run();
      await world.rest(1);
    }
    await world.rest();
    return { wrongBefore, wrong: await wrongAsOf(world), state: await world.one.store.chain(1), rounds, shares, world };
  } finally {
    await world.close();
  }
}

/** The first wrong answer as of every third block of the archive; null if there is none. */
async function wrongAsOf(world: World): Promise<string | null> {
  const head = (await world.one.store.chain(1))?.head?.number ?? -1;
  for (const block of world.chain.filter(({ number }) => number <= head && number % 3 === 0)) {
    const wrong = await world.differenceAsOf(block);
    if (wrong !== null) return wrong;
  }
  return null;
}

const granting = (blocks: ArchivedBlock[], version = 2) => {
  const block = blocks.find(({ logs }) => logs.some(({ event }) => isGrant(event, version)));
  const log = block?.logs.find(({ event }) => isGrant(event, version));
  if (block === undefined || log === undefined) throw new Error('the archive has no grant');
  return { block, log };
};
const isGrant = (event: ArchivedLog['event'], version: number) =>
  event.type === 'granted' && event.delegation?.['version'] === version;

const STRANGER = '0x00000000000000000000000000000000000000bb';

const TAMPERS: Readonly<Record<string, Tamper>> = {
  'a hidden block': (blocks) => blocks.filter((one) => one !== granting(blocks).block),
  'a hidden log': (blocks) => {
    const { block, log } = granting(blocks);
    block.logs = block.logs.filter((one) => one !== log);
    return block.logs.length === 0 ? blocks.filter((one) => one !== block) : blocks;
  },
  'a hidden v1 grant': (blocks) => {
    const { block, log } = granting(blocks, 1);
    block.logs = block.logs.filter((one) => one !== log);
    return block.logs.length === 0 ? blocks.filter((one) => one !== block) : blocks;
  },
  'a grant to a stranger that never was': (blocks) => {
    const { block, log } = granting(blocks);
    const invented = structuredClone(log);
    (invented.event.delegation as Record<string, unknown>)['to'] = STRANGER;
    invented.logIndex = Math.max(...block.logs.map(({ logIndex }) => logIndex)) + 1;
    block.logs.push(invented);
  },
  'a grant to a stranger in a block that has none, said to be proven': (blocks, world) => {
    const { log } = granting(blocks);
    const numbers = new Set(blocks.map(({ number }) => number));
    const last = blocks.at(-1) as ArchivedBlock;
    const free = world.chain.findLast(({ number }) => number < last.number && !numbers.has(number));
    if (free === undefined) throw new Error('every block has logs');
    const invented = structuredClone(log);
    (invented.event.delegation as Record<string, unknown>)['to'] = STRANGER;
    const block = { number: free.number, hash: free.hash, timestamp: free.timestamp, isProven: true, logs: [invented] };
    return [...blocks, block].sort((a, b) => a.number - b.number);
  },
  'a block of another chain': (blocks) => {
    const { block } = granting(blocks);
    block.hash = `0x${'ab'.repeat(32)}`;
  },
  'an altered delegate': (blocks) => {
    (granting(blocks).log.event.delegation as Record<string, unknown>)['to'] = STRANGER;
  },
  'every time an hour late': (blocks) => {
    for (const block of blocks.slice(0, -1)) block.timestamp += 1;
  },
  'v1 revocations that ended nothing': (blocks) => {
    for (const block of blocks) for (const settlement of block.settlements ?? []) settlement.pairs = [];
  },
  'v1 revocations that were never settled': (blocks) => {
    for (const block of blocks) delete block.settlements;
  },
};

describe('an import with one honest node', () => {
  test('that is true stays as it is', async () => {
    const { wrongBefore, wrong, state, shares } = await confirmed(() => undefined, {}, true);
    expect([wrongBefore, wrong, state?.imported, state?.disputes]).toEqual([null, null, null, []]);
    // Newest first.
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
  });

  for (const [name, tamper] of Object.entries(TAMPERS)) {
    test(`with ${name} becomes true`, async () => {
      const { wrong, state } = await confirmed(tamper);
      expect([wrong, state?.imported, state?.disputes, state?.halt]).toEqual([null, null, [], null]);
    });
    test(`with ${name} becomes true, on a chain that cannot be proven`, async () => {
      const { wrong, state } = await confirmed(tamper, { isProvable: false });
      expect([wrong, state?.imported, state?.disputes, state?.halt]).toEqual([null, null, [], null]);
    });
  }

  test('is wrong before it is confirmed, which these tests would not notice otherwise', async () => {
    for (const name of ['a hidden log', 'an altered delegate', 'a grant to a stranger that never was'])
      expect((await confirmed(TAMPERS[name] as Tamper, {}, true)).wrongBefore).not.toBeNull();
  });
});

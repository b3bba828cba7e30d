// npm run bench [-- <part> [options]]: runs all parts or one, and writes docs/benchmarks.md.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchBackfill } from './backfill.ts';
import { benchBesideLists } from './beside-lists.ts';
import { benchBulk } from './bulk.ts';
import { benchChains } from './chains.ts';
import { benchChecks } from './checks.ts';
import { benchGrowth } from './growth.ts';
import { benchHttp } from './http.ts';
import { benchLists } from './lists.ts';
import { describeMachine, pinCores } from './machine.ts';
import type { Bench, Part } from './part.ts';
import { saveResult } from './results.ts';
import { printSection } from './section.ts';
import { FULL, QUICK } from './sizes.ts';
import { benchStore } from './store.ts';
import { benchStreams } from './streams.ts';
import { benchWorkers } from './workers.ts';
import { createPeerWorld, type PeerWorld } from './world.ts';

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['checks', { about: 'a check: ours, eth_call on a node, a Ponder app, nginx as the floor', run: benchChecks }],
  ['lists', { about: "a wallet's list of 1, 100 and 10,000 delegations: ours and Ponder", run: benchLists }],
  ['backfill', { about: "backfill from a node: ours and Ponder's", run: benchBackfill }],
  [
    'beside-lists',
    { about: 'checks while long lists are being sent, on SQLite and PostgreSQL', run: benchBesideLists },
  ],
  ['workers', { about: 'one worker and two', run: benchWorkers }],
  [
    'growth',
    {
      about: 'checks and startup as a store grows; options: sizes such as 1m 100m, --store postgres, --without-logs',
      run: benchGrowth,
    },
  ],
  ['chains', { about: '1 to 30 followed chains', run: benchChains }],
  ['bulk', { about: 'a CSV file of a million checks, on the command line', run: benchBulk }],
  ['streams', { about: 'thousands of open streams of changes', run: benchStreams }],
  [
    'http',
    {
      about: 'a check compared with nginx, and its CPU by step; options: --store postgres, --workers 1,2',
      extra: true,
      run: benchHttp,
    },
  ],
  [
    'store',
    { about: 'the store alone; options: sqlite, postgres, and sizes such as 1m 10m', extra: true, run: benchStore },
  ],
]);

const usage = () => `Usage: npm run bench [-- <part> [options]] [--quick]

Without a part, runs all except http and store, and writes docs/benchmarks.md. --quick only checks that a part works; it writes nothing.

${[...PARTS].map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`).join('\n')}`;

const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const [name, ...options] = args.filter((arg) => arg !== '--quick');
if (name !== undefined && !PARTS.has(name)) {
  console.error(usage());
  process.exit(name === '--help' ? 0 : 2);
}

const folder = mkdtempSync(join(tmpdir(), 'delegations-bench-'));
const endings: (() => Promise<unknown>)[] = [];
const sizes = isQuick ? QUICK : FULL;
let world: Promise<PeerWorld> | null = null;

async function makeWorld(): Promise<PeerWorld> {
  const made = await createPeerWorld(sizes.peerBlocks, folder);
  endings.push(made.stop);
  return made;
}

const bench: Bench = {
  sizes,
  folder,
  options,
  world() {
    world ??= makeWorld();
    return world;
  },
  atEnd: (stop) => endings.push(stop),
};

const machine = describeMachine(pinCores());
const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir })
  .stdout.toString()
  .trim();
const day = new Date().toISOString().slice(0, 10);
console.log(machine);
try {
  for (const [part, { run, extra }] of PARTS) {
    if (name === undefined ? extra : part !== name) continue;
    const began = performance.now();
    const sections = await run(bench);
    for (const section of sections) printSection(section);
    console.log(`\n${part}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
    // Saved after each part, so that a failure in a later part does not lose this result.
    const command = [part, ...options].join(' ');
    if (!extra && !isQuick) saveResult({ part: command, day, machine, commit, sections }, [...PARTS.keys()]);
  }
} finally {
  for (const end of endings.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
}

// npm run bench [-- <part> [options]]: runs all parts or one, and writes docs/benchmarks.md.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchBackfill } from './backfill.ts';
import { benchBesideChecks } from './beside-checks.ts';
import { benchBesideLists } from './beside-lists.ts';
import { benchBulk } from './bulk.ts';
import { benchChains } from './chains.ts';
import { benchChecks } from './checks.ts';
import { benchColdStart } from './cold-start.ts';
import { benchGrowth } from './growth.ts';
import { benchLists } from './lists.ts';
import { describeMachine, pinCores } from './machine.ts';
import { saveResult } from './page.ts';
import { type Bench, FULL, type Part, QUICK } from './part.ts';
import { printSection } from './section.ts';
import { benchStreams } from './streams.ts';
import { benchWorkers } from './workers.ts';
import { createPeerWorld, type PeerWorld } from './world.ts';

const PARTS: Readonly<Record<string, Part>> = {
  checks: { about: 'a check: ours, eth_call on a node, a Ponder app, nginx as the floor', run: benchChecks },
  lists: { about: "a wallet's list of 1, 100 and 10,000 delegations: ours and Ponder", run: benchLists },
  'beside-checks': { about: 'what else is asked, over a check; memory after a million checks', run: benchBesideChecks },
  backfill: { about: "backfill from a node: ours and Ponder's", run: benchBackfill },
  'cold-start': {
    about: 'from an empty database to the first answer: archive, archive service, node',
    run: benchColdStart,
  },
  'beside-lists': { about: 'checks while long lists are being sent, on SQLite and PostgreSQL', run: benchBesideLists },
  workers: { about: 'one worker and two', run: benchWorkers },
  growth: {
    about: 'checks and startup as a store grows; options: sizes such as 1m 100m, --store postgres, --without-logs',
    run: benchGrowth,
  },
  chains: { about: '1 to 30 followed chains', run: benchChains },
  bulk: { about: 'a CSV file of a million checks, on the command line', run: benchBulk },
  streams: { about: 'thousands of open streams of changes', run: benchStreams },
};

const usage = () => `Usage: npm run bench [-- <part> [options]] [--quick]

Without a part, runs all and writes docs/benchmarks.md. --quick only checks that a part works; it writes nothing.

${Object.entries(PARTS)
  .map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`)
  .join('\n')}`;

const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const [name, ...options] = args.filter((arg) => arg !== '--quick');
if (name !== undefined && !Object.hasOwn(PARTS, name)) {
  console.error(usage());
  process.exit(name === '--help' ? 0 : 2);
}

const folder = mkdtempSync(join(tmpdir(), 'delegations-bench-'));
await using ends = new AsyncDisposableStack();
ends.defer(async () => rmSync(folder, { recursive: true, force: true }));
const sizes = isQuick ? QUICK : FULL;
let world: Promise<PeerWorld> | null = null;
const bench: Bench = {
  sizes,
  folder,
  options,
  world() {
    world ??= createPeerWorld(sizes.peerBlocks, folder).then((made) => ends.use(made));
    return world;
  },
};

const machine = describeMachine(pinCores());
const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir })
  .stdout.toString()
  .trim();
const day = new Date().toISOString().slice(0, 10);
console.log(machine);
for (const [part, { run }] of Object.entries(PARTS)) {
  if (name !== undefined && part !== name) continue;
  const began = performance.now();
  const sections = await run(bench);
  for (const section of sections) printSection(section);
  console.log(`\n${part}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  // Saved after each part, so that a failure in a later part does not lose this result.
  const command = [part, ...options].join(' ');
  if (!isQuick) saveResult({ part: command, day, machine, commit, sections }, Object.keys(PARTS));
}

// Measures checks, lists and startup as a store grows.

import { statfsSync } from 'node:fs';
import { createMass } from './delegations.ts';
import { ENGINE_NAMES, type EngineName, startEngine } from './engines.ts';
import { count, megabytes, micros, short, times } from './figures.ts';
import { freshenChain } from './fill.ts';
import { createDirectFiller, type DirectlyFilled } from './fill-directly.ts';
import { applyMore, type Grown, measureGrown } from './grown.ts';
import { type Server, totalCpu } from './load.ts';
import type { Bench } from './part.ts';
import { chartOf, type Section } from './section.ts';
import { startNginx } from './servers.ts';

interface GrowthOptions {
  readonly engines: readonly EngineName[];
  readonly sizes: readonly number[];
  readonly withLogs: boolean;
}

/** Bytes that a delegation needs on disk, one sixth of them for sorting an index. */
const BYTES = { SQLite: { withLogs: 740, without: 590 }, PostgreSQL: { withLogs: 1260, without: 970 } };

export async function benchGrowth(bench: Bench): Promise<Section[]> {
  const options = readOptions(bench);
  await using nginx = await startNginx(bench.folder);
  const sections: Section[] = [];
  for (const name of options.engines) sections.push(await benchEngine(name, options, nginx, bench));
  return sections;
}

/** Reads a number of delegations, such as 500k or 30m. */
const sizeOf = (text: string) => Number.parseFloat(text) * (text.endsWith('m') ? 1e6 : 1e3);

function readOptions({ options, sizes: { growth } }: Bench): GrowthOptions {
  const stores: Readonly<Record<string, EngineName>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
  const sizes: number[] = [];
  const engines: EngineName[] = [];
  let withLogs = true;
  for (let at = 0; at < options.length; at++) {
    const option = options[at] ?? '';
    const engine = option === '--store' ? stores[options[at + 1] ?? ''] : undefined;
    if (engine !== undefined) {
      engines.push(engine);
      at++;
    } else if (option === '--without-logs') withLogs = false;
    else if (/^\d+(\.\d+)?[mk]$/.test(option)) sizes.push(sizeOf(option));
    else
      throw new Error(`Unknown option ${option}: use sizes such as 1m 100m, --store sqlite|postgres, --without-logs`);
  }
  return {
    engines: engines.length > 0 ? engines : ENGINE_NAMES,
    sizes: (sizes.length > 0 ? sizes : [...growth]).sort((a, b) => a - b),
    withLogs,
  };
}

/** What was measured at one size. */
interface Step extends Grown {
  readonly size: number;
  /** Of all chains. */
  readonly grants: number;
  readonly filled: DirectlyFilled;
  /** Seconds for everything up to this size. */
  readonly fillSeconds: number;
}

async function benchEngine(name: EngineName, options: GrowthOptions, nginx: Server, bench: Bench): Promise<Section> {
  const { sizes, withLogs } = options;
  requireRoom(name, sizes.at(-1) ?? 0, withLogs, bench);
  await using engine = await startEngine(name, bench, 'growth.db');
  const { databaseUrl: url } = engine;
  const [mass, applied] = [createMass(1), createMass(2)];
  const filler = createDirectFiller({ url, mass, withLogs });
  const steps: Step[] = [];
  let fillSeconds = 0;
  for (const size of sizes) {
    const filled = await filler.growTo(size);
    fillSeconds += filled.rowSeconds + filled.indexSeconds;
    await engine.tidy();
    const speed = { applied: await applyMore(engine, applied) };
    await freshenChain(url);
    const grown = await measureGrown(engine, mass, nginx, bench);
    steps.push({ size, grants: mass.grants + applied.grants, filled, fillSeconds, ...grown, ...speed });
  }
  return sectionOf(name, steps, withLogs);
}

function requireRoom(name: EngineName, size: number, withLogs: boolean, { folder }: Bench): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = size * BYTES[name][withLogs ? 'withLogs' : 'without'];
  if (bavail * bsize >= needed) return;
  const hint = withLogs ? ' --without-logs needs less.' : '';
  throw new Error(
    `${name} needs about ${megabytes(needed)} for ${count(size)} delegations, but ${folder} has ${megabytes(bavail * bsize)}.${hint}`,
  );
}

function sectionOf(name: EngineName, steps: readonly Step[], withLogs: boolean): Section {
  const [first, last] = [steps[0], steps.at(-1)] as [Step, Step];
  const cpu = ({ costs }: Step, load: string) => {
    const cost = costs.get(load);
    return cost === undefined ? Number.NaN : totalCpu(cost);
  };
  const seconds = (value: number) => `${short(value)} s`;
  const over = (load: string) => times(cpu(last, load) / cpu(first, load));
  const sizes = `${count(last.size)} delegations over ${count(first.size)}, ${name}`;
  return {
    title: `Growth to ${count(last.size)} delegations, ${name}`,
    about: `Over HTTP with an API key, all headers and the request log. Both registries; one wallet in 3,000 has thousands of delegations. The store is filled straight into its tables: rows in the order of the chain, then the indexes; a test compares such a store with one that applied the same events.${withLogs ? '' : ' The logs are left out to save disk space: checks and lists never read them.'} CPU includes the database and is measured in turns with nginx: a check at the head, a check as of a random block, the list of a typical wallet (one to three delegations), and a page of 100 of a wallet with thousands. Startup is the time from process start to the first correct answer, right after the fill. Mapped memory is pages of the file, which the system can reclaim. Afterwards ${count(last.applied.logs)} logs of another chain are applied as the follower applies them.`,
    columns: [
      'Delegations',
      'check, lower case',
      'vs nginx',
      'check, checksummed',
      'as of a block',
      'list',
      'list of 100',
      'startup',
      'bytes per delegation',
      'on disk',
      'fill',
      'of which indexes',
      'memory',
      'mapped',
      'logs applied/s',
      'CPU per log',
    ],
    rows: steps.map((one) => [
      count(one.size),
      micros(cpu(one, 'lower case')),
      times(cpu(one, 'lower case') / cpu(one, 'nginx')),
      ...['checksummed', 'as of a block', 'list', 'list of 100'].map((load) => micros(cpu(one, load))),
      seconds(one.startMs / 1000),
      count(one.bytes / one.grants),
      megabytes(one.bytes),
      seconds(one.fillSeconds),
      seconds(one.filled.indexSeconds),
      megabytes(one.memory.own),
      megabytes(one.memory.mapped),
      count(one.applied.logs / one.applied.seconds),
      micros((one.applied.cpu + one.applied.databaseCpu) / one.applied.logs),
    ]),
    ratios: [
      { what: `Check with ${sizes}: CPU`, figure: over('lower case') },
      { what: `Check as of a block with ${sizes}: CPU`, figure: over('as of a block') },
      { what: `List of a typical wallet with ${sizes}: CPU`, figure: over('list') },
      { what: `List of 100 with ${sizes}: CPU`, figure: over('list of 100') },
      {
        what: `First answer after start with ${count(last.size)} delegations, ${name}`,
        figure: seconds(last.startMs / 1000),
      },
    ],
    charts: [
      chartOf(
        `CPU per check as the store grows, ${name}`,
        'least',
        micros,
        steps.map((one) => [`${count(one.size)} delegations`, cpu(one, 'lower case')]),
      ),
    ],
  };
}

// Measures a backfill: ours and Ponder's, from a node with limits, where our CPU time goes, and the latency of checks meanwhile.

import { join } from 'node:path';
import { measureDuringBackfill } from './during-backfill.ts';
import { count, megabytes, micros, times } from './figures.ts';
import { eventsUpTo } from './history.ts';
import type { Bench } from './part.ts';
import { type Reading, readByOurs, readByPonder } from './reading.ts';
import { measureSteps } from './reading-steps.ts';
import { chartOf, findBehind, isOurs, type Measure, type Section } from './section.ts';
import { startNode } from './start-node.ts';
import { measureThrottledBackfill } from './throttled-backfill.ts';

export async function benchBackfill(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  const again = await readByPonder(world.ponder, 'Ponder, from its cache', 'again', world.events);
  const { blocks } = sizes;
  await using node = await startNode(blocks);
  const rpcUrl = node.url(1);
  const large = { rpcUrl, blocks, events: eventsUpTo(blocks), databaseUrl: `sqlite:${join(folder, 'large.db')}` };
  const readings = [await readByOurs({ ...large, name: 'ours, SQLite' }), ...world.readings, again];
  return [
    sectionOf(readings),
    await measureThrottledBackfill(folder, sizes),
    await measureSteps(rpcUrl, readings[0] as Reading),
    await measureDuringBackfill(node, folder, sizes),
  ];
}

const perSecond = ({ events, seconds }: Reading) => events / seconds;
const perEvent = ({ cpu, databaseCpu, events }: Reading) => (cpu + databaseCpu) / events;

const MEASURES: readonly Measure<Reading>[] = [
  { what: 'events/s', best: 'most', value: perSecond, text: count },
  { what: 'CPU per event', best: 'least', value: perEvent, text: micros },
  { what: 'on disk', best: 'least', value: ({ bytes }) => bytes, text: megabytes },
  { what: 'peak memory', best: 'least', value: ({ memory }) => memory, text: megabytes },
];

function sectionOf(readings: readonly Reading[]): Section {
  const [cold, again] = readings.filter(({ name }) => !isOurs(name)) as [Reading, Reading];
  return {
    title: 'Backfill',
    about:
      'Both index the same local node, which generates blocks on demand with five events each on average. Measured from process start until everything is indexed, one run each. Ponder is slower, so it indexes fewer blocks; ours also indexes that shorter history, so compare rows with the same number of events. Ponder gets every advantage we know of: PostgreSQL instead of PGlite, the same URL 25 times (each entry starts limited to 20 requests per second), blocks that contain only the transactions of the events, and a recent Node. “From its cache” is a second run on the same database, which sends no requests to the node. CPU includes PostgreSQL; memory is the peak of the indexer’s processes, without PostgreSQL and without mapped files, which the system can reclaim.',
    columns: [
      'Backfill',
      'events',
      'events/s',
      'vs Ponder, cold',
      'vs Ponder, cached',
      'CPU per event',
      'of which database',
      'on disk',
      'peak memory',
    ],
    rows: readings.map((one) => [
      one.name,
      count(one.events),
      count(perSecond(one)),
      times(perSecond(one) / perSecond(cold)),
      times(perSecond(one) / perSecond(again)),
      micros(perEvent(one)),
      one.databaseCpu > 0 ? micros(one.databaseCpu / one.events) : '–',
      megabytes(one.bytes),
      megabytes(one.memory),
    ]),
    notes: [
      `Disk space per event: ${readings.map(({ name, bytes, events }) => `${name} ${count(bytes / events)} bytes`).join('; ')}. Ponder’s includes its cache of blocks, transactions and logs; ours includes the logs, from which every span can be rebuilt.`,
    ],
    ratios: [
      {
        what: `Backfill of ${count((readings[0] as Reading).events)} dense events, SQLite: peak memory`,
        figure: megabytes((readings[0] as Reading).memory),
      },
    ],
    behind: findBehind(
      readings.filter(({ events }) => events === cold.events),
      MEASURES,
    ),
    charts: [
      chartOf(
        'Backfill, events per second',
        'most',
        count,
        readings.map((one) => [`${one.name}, ${count(one.events)}`, perSecond(one)]),
      ),
    ],
  };
}

// Reading a history from a node: ours and the peer's, then where our time goes, and what checks notice of it.

import { join } from 'node:path';
import { measureBeside } from './beside.ts';
import { count, megabytes, micros, times } from './figures.ts';
import { logsIn } from './history.ts';
import type { Bench } from './part.ts';
import { type Reading, readByOurs, readByPonder } from './reading.ts';
import { measureSteps } from './reading-steps.ts';
import type { Section } from './section.ts';
import { startNode } from './start-node.ts';

export async function benchBackfill(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  const { ponder, postgres, ponderUrl: databaseUrl, events } = world;
  const again = { ponder, schema: 'again', databaseUrl, databasePid: postgres.pid, events };
  const peers = [...world.readings, await readByPonder({ ...again, name: 'Ponder, again from its cache' })];
  const { blocks } = sizes;
  const node = await startNode(blocks);
  try {
    const rpcUrl = node.url(1);
    let many = 0;
    for (let number = 1; number <= blocks; number++) many += logsIn(number);
    const large = { rpcUrl, blocks, events: many, databaseUrl: `sqlite:${join(folder, 'large.db')}` };
    const readings = [await readByOurs({ ...large, name: 'ours, SQLite' }), ...peers];
    return [
      sectionOf(readings),
      await measureSteps(rpcUrl, readings[0] as Reading),
      await measureBeside(node, folder, sizes),
    ];
  } finally {
    await node.stop();
  }
}

const perSecond = ({ events, seconds }: Reading) => events / seconds;
const perEvent = ({ cpu, databaseCpu, events }: Reading) => (cpu + databaseCpu) / events;

function sectionOf(readings: readonly Reading[]): Section {
  const [cold, again] = readings.filter(({ ours }) => !ours) as [Reading, Reading];
  return {
    title: 'Backfill',
    about:
      'The same local node, which makes its blocks up as it is asked, five events a block. From the start of the process until everything is indexed; one run each. Ponder is slow, so it gets fewer blocks of the same node, and ours reads those too: compare what has as many events. It has every advantage we know: PostgreSQL and not PGlite, 25 times the same URL (each entry is limited to 20 requests a second at first), blocks that hold nothing but the transactions of the events, a Node that is new. “Again from its cache” is a second run in the same database, for which it asks the node nothing. CPU counts PostgreSQL’s own; memory is the highest of its processes, PostgreSQL’s apart.',
    columns: [
      'Backfill',
      'events',
      'events/s',
      'over Ponder cold',
      'over Ponder again',
      'CPU an event',
      'of that the database',
      'on disk',
      'memory',
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
      `On disk, an event: ${readings.map(({ name, bytes, events }) => `${name} ${count(bytes / events)} bytes`).join('; ')}. Ponder’s has its cache of blocks, transactions and logs in it; ours the logs, so that every span can be made again from them.`,
    ],
    charts: [
      {
        title: 'Backfill, events a second',
        best: 'most',
        bars: readings.map((one) => ({
          label: `${one.name}, ${count(one.events)}`,
          value: perSecond(one),
          text: count(perSecond(one)),
          ours: one.ours,
        })),
      },
    ],
  };
}

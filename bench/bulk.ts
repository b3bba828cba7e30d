// Measures `delegations check --csv` on a SQLite store.

import { join } from 'node:path';
import type { Delegation } from '../src/registry/delegation.ts';
import { PROGRAM } from '../test/support/serve-process.ts';
import { count, megabytes } from './figures.ts';
import { fillDirectly } from './fill-directly.ts';
import type { Bench } from './part.ts';
import { peakMemory } from './processes.ts';
import { FORMS, type Form } from './questions.ts';
import type { Section } from './section.ts';

export async function benchBulk({ folder, sizes }: Bench): Promise<Section[]> {
  const { bulkRows: rows, delegations } = sizes;
  const databaseUrl = `sqlite:${join(folder, 'bulk.db')}`;
  const file = join(folder, 'in.csv');
  const { mass, head } = await fillDirectly(databaseUrl, delegations);
  const found: string[][] = [];
  for (const [name, form] of FORMS) {
    await writeRows(file, rows, mass.sample, form);
    for (const [when, block] of [
      ['at the head', head],
      ['as of a block', Math.floor(head / 2)],
    ] as const) {
      const { seconds, bytes } = await run(databaseUrl, file, block);
      found.push([`${name}, ${when}`, count(rows / seconds), megabytes(bytes)]);
    }
  }
  return [
    {
      title: 'Bulk checks from a CSV file',
      about: `\`delegations check --csv\`: ${count(rows)} rows of two wallets, half of them pairs with a delegation, on a SQLite store of ${count(delegations)} delegations.`,
      columns: ['Rows', 'rows/s', 'peak memory'],
      rows: found,
    },
  ];
}

async function writeRows(file: string, rows: number, sample: readonly Delegation[], form: Form): Promise<void> {
  const writer = Bun.file(file).writer();
  writer.write('from,to\n');
  const at = (turn: number) => sample[turn % sample.length] as Delegation;
  for (let row = 0; row < rows; row++) {
    const { from, to } = at(row * 7919);
    writer.write(`${form(from)},${form(row % 2 === 0 ? to : at(row * 31).to)}\n`);
    if (row % 10_000 === 0) await writer.flush();
  }
  await writer.end();
}

async function run(databaseUrl: string, file: string, block: number) {
  const began = performance.now();
  const child = Bun.spawn([...PROGRAM, 'check', '--csv', file, '--block', String(block)], {
    env: { ...process.env, DATABASE_URL: databaseUrl, MAX_LAG_1: '86400' },
    stdout: Bun.file('/dev/null'),
    stderr: 'ignore',
  });
  const bytes = await peakMemory(child.pid, child.exited);
  if (child.exitCode !== 0) throw new Error(`check exited with code ${child.exitCode}`);
  return { seconds: (performance.now() - began) / 1000, bytes };
}

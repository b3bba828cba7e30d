// A file of a million questions, answered by the command line from a SQLite store.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksummed } from '../src/http/checksum.ts';
import type { Address } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { MAIN } from '../test/serve-process.ts';
import { createMass } from './delegations.ts';
import { line, printMachine } from './print.ts';

const ROWS = 1_000_000;
const DELEGATIONS = 1_000_000;
const BATCH_LOGS = 50_000;

export async function benchBulk(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-bench-'));
  printMachine();
  try {
    const path = join(folder, 'bulk.db');
    const { head, sample } = await fill(path);
    console.log(`${ROWS} rows from,to, half of them pairs that have something, ${DELEGATIONS} delegations:`);
    for (const [name, form] of [
      ['lower case', (address: Address): string => address],
      ['checksummed', checksummed],
    ] as const) {
      const file = join(folder, 'in.csv');
      await writeRows(file, sample, form);
      for (const [when, block] of [
        ['at the head', head],
        ['as of a block', Math.floor(head / 2)],
      ] as const) {
        const { seconds, megabytes } = await run(path, file, block);
        const rate = Math.round(ROWS / seconds).toLocaleString('en');
        line(`${name}, ${when}`, `${rate} rows/s`, `at most ${megabytes} MB of memory of its own`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(path: string) {
  const store = await openStore(`sqlite:${path}`);
  const mass = createMass(1);
  let state = await store.claim(1, 1000);
  while (mass.grants < DELEGATIONS) {
    const blocks = mass.next(BATCH_LOGS);
    const { number = 0, hash = '0x', timestamp = 0 } = blocks.at(-1) ?? {};
    const head = { number, hash, timestamp };
    const batch = { chainId: 1, epoch: state.epoch, after: state.head, blocks, head, verified: number };
    ({ state } = await store.apply(batch));
  }
  await store.close();
  return { head: state.head?.number ?? 0, sample: mass.sample };
}

async function writeRows(
  file: string,
  sample: readonly { readonly from: Address; readonly to: Address }[],
  form: (address: Address) => string,
): Promise<void> {
  const writer = Bun.file(file).writer();
  writer.write('from,to\n');
  const at = (turn: number) => sample[turn % sample.length] as (typeof sample)[number];
  for (let row = 0; row < ROWS; row++) {
    const { from, to } = at(row * 7919);
    writer.write(`${form(from)},${form(row % 2 === 0 ? to : at(row * 31).to)}\n`);
    if (row % 10_000 === 0) await writer.flush();
  }
  await writer.end();
}

async function run(path: string, file: string, block: number) {
  const began = performance.now();
  const child = Bun.spawn([process.execPath, MAIN, 'check', '--csv', file, '--block', String(block)], {
    env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
    stdout: Bun.file('/dev/null'),
    stderr: 'ignore',
  });
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, ownMemory(child.pid));
  }, 100);
  const code = await child.exited;
  clearInterval(timer);
  if (code !== 0) throw new Error(`check ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, megabytes: Math.round(most / 1e6) };
}

/** What is the process's own: pages of the mapped file are the system's. Linux only: elsewhere 0. */
function ownMemory(pid: number): number {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

// Measures a backfill from a node into a database, ours or Ponder's, from process start until everything is indexed.

import { openStore } from '../src/store/open.ts';
import { eventually } from '../test/support/eventually.ts';
import { PROGRAM } from '../test/support/serve-process.ts';
import type { Ponder } from './ponder.ts';
import { peakMemory, treeCpu } from './processes.ts';
import { stopped } from './servers.ts';

export interface Reading {
  readonly name: string;
  readonly events: number;
  readonly seconds: number;
  /** Microseconds, of the indexer's processes and of the database's. */
  readonly cpu: number;
  readonly databaseCpu: number;
  /** Size of the database on disk. */
  readonly bytes: number;
  /** Peak memory of the indexer's processes in bytes, without the database and without mapped files. */
  readonly memory: number;
}

interface OursRead {
  readonly name: string;
  readonly databaseUrl: string;
  readonly databasePid?: number;
  readonly rpcUrl: string;
  readonly blocks: number;
  readonly events: number;
  /** Called when everything is indexed, before the process is stopped. */
  readonly onEnd?: () => Promise<void>;
}

/** Runs `delegations follow`. */
export async function readByOurs(asked: OursRead): Promise<Reading> {
  const { name, databaseUrl, databasePid, rpcUrl, blocks, events, onEnd } = asked;
  const store = await openStore(databaseUrl);
  const [began, before] = [performance.now(), treeCpu(databasePid)];
  const child = Bun.spawn([...PROGRAM, 'follow'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      METRICS_PORT: '0',
      RPC_URL_1: rpcUrl,
      START_BLOCK_1: '1',
      LOG_LEVEL: 'warn',
    },
    stdout: 'inherit',
    stderr: 'inherit',
  });
  const isWhole = async () => ((await store.chain(1))?.head?.number ?? 0) >= blocks;
  const memory = await peakMemory(child.pid, eventually(`${name}: all is indexed`, isWhole, { seconds: 1800, child }));
  const seconds = (performance.now() - began) / 1000;
  const cpu = { cpu: treeCpu(child.pid), databaseCpu: treeCpu(databasePid) - before };
  await onEnd?.();
  // Until its newest blocks are proven, a chain does not answer.
  const isProven = async () => (await store.chain(1))?.proving === false;
  await eventually(`${name}: all is proven`, isProven, { seconds: 1800, child });
  await stopped(child);
  const bytes = await store.size();
  await store.close();
  return { name, events, seconds, ...cpu, bytes, memory };
}

export async function readByPonder(ponder: Ponder, name: string, schema: string, events: number): Promise<Reading> {
  const { databasePid, databaseUrl } = ponder;
  const [began, before] = [performance.now(), treeCpu(databasePid)];
  const { pid, peakMemory: memory, ...server } = await ponder.index(schema);
  const seconds = (performance.now() - began) / 1000;
  const cpu = { cpu: treeCpu(pid), databaseCpu: treeCpu(databasePid) - before };
  await server[Symbol.asyncDispose]();
  return { name, events, seconds, ...cpu, bytes: await databaseSize(databaseUrl), memory };
}

async function databaseSize(url: string): Promise<number> {
  const connection = new Bun.SQL(url, { max: 1 });
  const [row] = await connection.unsafe('SELECT pg_database_size(current_database()) AS bytes');
  await connection.close();
  return Number(row.bytes);
}

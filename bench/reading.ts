// Measures a backfill from a node into a database, ours or Ponder's, from process start until everything is indexed.

import { openStore } from '../src/store/open.ts';
import { MAIN } from '../test/support/serve-process.ts';
import { treeCpu } from './cpu.ts';
import { peakMemory } from './memory.ts';
import type { Ponder } from './ponder.ts';
import { eventually, stopped } from './servers.ts';

export interface Reading {
  readonly name: string;
  readonly ours: boolean;
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
  const databaseCpu = () => (databasePid === undefined ? 0 : treeCpu(databasePid));
  const [began, before] = [performance.now(), databaseCpu()];
  const child = Bun.spawn([process.execPath, MAIN, 'follow'], {
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
  const isWhole = async () => (((await store.chain(1))?.head?.number ?? 0) >= blocks ? true : undefined);
  const memory = await peakMemory(child.pid, eventually(child, isWhole, 1800));
  const seconds = (performance.now() - began) / 1000;
  const cpu = { cpu: treeCpu(child.pid), databaseCpu: databaseCpu() - before };
  await onEnd?.();
  await stopped(child);
  const bytes = await store.size();
  await store.close();
  return { name, ours: true, events, seconds, ...cpu, bytes, memory };
}

interface PonderRead {
  readonly name: string;
  readonly ponder: Ponder;
  readonly schema: string;
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly events: number;
}

export async function readByPonder(asked: PonderRead): Promise<Reading> {
  const { name, ponder, schema, databaseUrl, databasePid, events } = asked;
  const [began, before] = [performance.now(), treeCpu(databasePid)];
  const server = await ponder.index(schema);
  const seconds = (performance.now() - began) / 1000;
  const cpu = { cpu: treeCpu(server.pid), databaseCpu: treeCpu(databasePid) - before };
  await server.stop();
  return {
    name,
    ours: false,
    events,
    seconds,
    ...cpu,
    bytes: await databaseSize(databaseUrl),
    memory: server.peakMemory,
  };
}

async function databaseSize(url: string): Promise<number> {
  const connection = new Bun.SQL(url, { max: 1 });
  const [row] = await connection.unsafe('SELECT pg_database_size(current_database()) AS bytes');
  await connection.close();
  return Number(row.bytes);
}

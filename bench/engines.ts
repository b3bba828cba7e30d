// Our two engines for a benchmark part: an empty database of each.

import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import type { Server } from './load.ts';
import type { Bench } from './part.ts';
import { tidy } from './tidy.ts';

export type EngineName = 'SQLite' | 'PostgreSQL';
export const ENGINE_NAMES: readonly EngineName[] = ['SQLite', 'PostgreSQL'];

export interface BenchEngine {
  readonly name: EngineName;
  readonly databaseUrl: string;
  /** Adds the process of the database to one of our servers. */
  withDatabase(server: Server): Server;
  /** Runs the database's maintenance. */
  tidy(): Promise<void>;
  stop(): Promise<void>;
}

/** Production settings, except that commits do not wait for the disk. Indexes that are built over existing rows are not logged. */
const POSTGRES = {
  fsync: 'on',
  synchronous_commit: 'off',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** `file` names the database of SQLite. */
export async function startEngine(name: EngineName, { folder }: Bench, file: string): Promise<BenchEngine> {
  if (name === 'SQLite')
    return {
      name,
      databaseUrl: `sqlite:${join(folder, file)}`,
      withDatabase: (server) => server,
      tidy: async () => {},
      stop: async () => {},
    };
  const server = await startPostgres(POSTGRES);
  const databaseUrl = await server.createDatabase();
  return {
    name,
    databaseUrl,
    withDatabase: (own) => ({ ...own, databasePid: server.pid }),
    tidy: () => tidy(databaseUrl),
    stop: server.stop,
  };
}

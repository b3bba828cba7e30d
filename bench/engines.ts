// Our two engines for a benchmark part: an empty database of each.

import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';

export type EngineName = 'SQLite' | 'PostgreSQL';
export const ENGINE_NAMES: readonly EngineName[] = ['SQLite', 'PostgreSQL'];

export interface BenchEngine extends AsyncDisposable {
  readonly name: EngineName;
  readonly databaseUrl: string;
  /** The process of the database, as a field of our servers; empty for SQLite. */
  readonly database: { readonly databasePid?: number };
  /** Runs the database's maintenance. */
  tidy(): Promise<void>;
}

/** Production settings, except that commits do not wait for the disk. */
export const POSTGRES = { fsync: 'on', synchronous_commit: 'off', shared_buffers: '1GB', max_wal_size: '4GB' };
/** Indexes that are built over existing rows are not logged. */
const UNLOGGED = { wal_level: 'minimal', max_wal_senders: '0' };

/** `file` names the database of SQLite. */
export async function startEngine(
  name: EngineName,
  { folder }: { folder: string },
  file: string,
): Promise<BenchEngine> {
  if (name === 'SQLite')
    return {
      name,
      databaseUrl: `sqlite:${join(folder, file)}`,
      database: {},
      tidy: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  const server = await startPostgres({ ...POSTGRES, ...UNLOGGED });
  const databaseUrl = await server.createDatabase();
  return {
    name,
    databaseUrl,
    database: { databasePid: server.pid },
    tidy: () => tidy(databaseUrl),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Runs PostgreSQL's maintenance now, so that it has current statistics and no background work during a measurement. */
export async function tidy(...urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const connection = new Bun.SQL(url, { max: 1 });
    await connection.unsafe('VACUUM ANALYZE');
    await connection.unsafe('CHECKPOINT');
    await connection.close();
  }
}

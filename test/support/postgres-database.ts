// PostgreSQL databases for tests, on the server that test/run.ts started for all files, or else on one of this file alone.

import { type PostgresServer, startPostgres } from './postgres.ts';

/** Set by test/run.ts: the URL of its server. */
const SHARED = process.env['TEST_POSTGRES'];

let own: Promise<PostgresServer> | undefined;
let shared: Bun.SQL | undefined;
const made: string[] = [];

/** The URL of a new, empty database. */
export async function postgresDatabase(): Promise<string> {
  if (SHARED === undefined) {
    own ??= startPostgres();
    return (await own).createDatabase();
  }
  shared ??= new Bun.SQL(`${SHARED}/postgres`, { max: 1 });
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  await shared.unsafe(`CREATE DATABASE ${name}`);
  made.push(name);
  return `${SHARED}/${name}`;
}

/** Removes the databases of this file, with whoever is still connected. */
export async function removeDatabases(): Promise<void> {
  for (const name of made.splice(0)) await shared?.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  await shared?.close();
  await (await own)?.stop();
}

// The two engines as tests use them: each call gives the URL of a new, empty store.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from './postgres.ts';

export interface EngineUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL';
  fresh(): Promise<string>;
}

let folder: string | undefined;
let files = 0;
let server: Promise<PostgresServer> | undefined;

/** A path for a file that goes away with the test run. */
export function temporaryPath(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'delegations-test-'));
  return join(folder, `${++files}-${name}`);
}

export function postgresServer(): Promise<PostgresServer> {
  server ??= startPostgres();
  return server;
}

export const ENGINES: readonly EngineUnderTest[] = [
  { name: 'SQLite', fresh: async () => `sqlite:${temporaryPath('store.db')}` },
  { name: 'PostgreSQL', fresh: async () => (await postgresServer()).createDatabase() },
];

export async function removeEngines(): Promise<void> {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await (await server)?.stop();
}

// The two engines for tests: each call returns the URL of a new, empty store.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EngineUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL';
  fresh(): Promise<string>;
}

let folder: string | undefined;
let files = 0;

/** A path for a file that is removed after the test run. */
export function temporaryPath(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'delegations-test-'));
  return join(folder, `${++files}-${name}`);
}

const SQLITE: EngineUnderTest = { name: 'SQLite', fresh: async () => `sqlite:${temporaryPath('store.db')}` };
const POSTGRES: EngineUnderTest = {
  name: 'PostgreSQL',
  // Loaded on demand, so that a file that imports the engines can run without PostgreSQL.
  fresh: async () => (await import('./postgres-database.ts')).postgresDatabase(),
};

/** The fast test run starts no processes, so it has no PostgreSQL. */
export const ENGINES: readonly EngineUnderTest[] = process.env['TEST_FAST'] ? [SQLITE] : [SQLITE, POSTGRES];

export function removeTemporaryFiles(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

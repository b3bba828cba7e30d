// The two engines as tests use them: each call gives the URL of a new, empty store.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EngineUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL';
  fresh(): Promise<string>;
}

let folder: string | undefined;
let files = 0;

/** A path for a file that goes away with the test run. */
export function temporaryPath(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'delegations-test-'));
  return join(folder, `${++files}-${name}`);
}

const SQLITE: EngineUnderTest = { name: 'SQLite', fresh: async () => `sqlite:${temporaryPath('store.db')}` };
const POSTGRES: EngineUnderTest = {
  name: 'PostgreSQL',
  // Loaded when it is needed: a file that imports the engines can run without PostgreSQL.
  fresh: async () => (await import('./postgres-database.ts')).postgresDatabase(),
};

/** A fast run starts no process, so it has no PostgreSQL. */
export const ENGINES: readonly EngineUnderTest[] = process.env['TEST_FAST'] ? [SQLITE] : [SQLITE, POSTGRES];

export function removeTemporaryFiles(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

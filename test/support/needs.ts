// What a test file needs that a fast run does not have. Its imports say it: a module of test/support that starts a process,
// imported by the file or by another helper. Tests on both engines need nothing: a fast run has SQLite only (engines.ts).

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');
/** Anything else that starts a process is a child process of the test. */
const STARTED_BY: Readonly<Record<string, string>> = {
  'test/support/postgres.ts': 'PostgreSQL',
  'test/support/redis.ts': 'Redis',
  'test/support/browser.ts': 'a browser',
};
const STARTS_A_PROCESS = /\bBun\.spawn|'node:child_process'|'playwright-core'/;
const STATIC_IMPORT = /^(?:import|export) (?!type )[^;]*?'(\.[^']+\.ts)'/gm;

/** The environment of a fast run. A whole one has 40 simulated runs, 12 random chains and 80 histories of the store. */
export const FAST = { TEST_FAST: '1', FOLLOW_RUNS: '8', PROPERTY_RUNS: '40' };

/** Take seconds of a core each. */
const LONG = new Set([
  'src/chain/follow/auditor.test.ts',
  'src/chain/follow/lease.test.ts',
  'src/chain/follow/read-history.test.ts',
  'src/http/answers/batch.test.ts',
  'src/http/limits/long-lists.test.ts',
  'src/webhooks/deliverer.test.ts',
  'test/change-streams.test.ts',
  'test/lies-about-proofs.test.ts',
  'test/openapi-client.test.ts',
  'test/recorded-follow.test.ts',
  'test/recorded-http.test.ts',
  'test/reorg-over-http.test.ts',
  'test/revoke-chains.test.ts',
  'test/v1-histories.test.ts',
]);
export const TIME = 'more time';

export const testFiles = (): string[] =>
  [...new Glob('{src,client,test,deploy,contracts,chaos,bench}/**/*.test.ts').scanSync(ROOT)].sort();

/** Empty for a file that can be in a fast run. */
export function needsOf(testFile: string): string[] {
  const needs = new Set(LONG.has(testFile) ? [TIME] : []);
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    if (STARTS_A_PROCESS.test(text)) needs.add(STARTED_BY[path] ?? 'child processes');
    // The program itself starts a process only when a test tells it to, and then the test imports what does so.
    if (path.startsWith('src/') && path !== testFile) return;
    for (const [, imported = ''] of text.matchAll(STATIC_IMPORT)) visit(join(dirname(path), imported));
  };
  visit(testFile);
  return [...needs].sort();
}

import { afterAll, setDefaultTimeout } from 'bun:test';
import { appendFileSync, statSync } from 'node:fs';
import { removeTemporaryFiles } from './engines.ts';
import { removeDatabases } from './postgres-database.ts';
import { removeRedis } from './redis.ts';
import { removeServed } from './serve-process.ts';

// Against a test that hangs. No test is a measure of speed: on a busy machine it may take many times as long.
setDefaultTimeout(60_000 * Number(process.env['TEST_MINUTES'] ?? 5));

// test/run.ts has done so for all files.
const { TEST_FILES, TEST_DONE } = process.env;
if (TEST_DONE === undefined) (await import('./clean-environment.ts')).cleanEnvironment(process.env);

afterAll(async () => {
  removeServed();
  removeRedis();
  await removeDatabases();
  removeTemporaryFiles();
  if (TEST_DONE === undefined) return;
  appendFileSync(TEST_DONE, '.');
  console.log(`${statSync(TEST_DONE).size} of ${TEST_FILES} files`);
});

if (process.env['TEST_FAST']) {
  const refuse = () => {
    throw new Error('A fast run starts no process. Start it in a module of test/support: see needs.ts.');
  };
  Object.assign(Bun, { spawn: refuse, spawnSync: refuse });
}

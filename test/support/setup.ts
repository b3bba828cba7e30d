import { afterAll, setDefaultTimeout } from 'bun:test';
import { removeTemporaryFiles } from './engines.ts';
import { removeDatabases } from './postgres-database.ts';
import { removeRedis } from './redis.ts';
import { removeServed } from './serve-process.ts';

// Against a test that hangs. No test is a measure of speed: on a busy machine it may take many times as long.
setDefaultTimeout(60_000 * Number(process.env['TEST_MINUTES'] ?? 5));

afterAll(async () => {
  removeServed();
  removeRedis();
  await removeDatabases();
  removeTemporaryFiles();
});

if (process.env['TEST_FAST']) {
  const refuse = () => {
    throw new Error('A fast run starts no process. Start it in a module of test/support: see needs.ts.');
  };
  Object.assign(Bun, { spawn: refuse, spawnSync: refuse });
}

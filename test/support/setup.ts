import { afterAll } from 'bun:test';
import { removeEngines } from './engines.ts';
import { removeRedis } from './redis.ts';
import { removeServed } from './serve-process.ts';

afterAll(async () => {
  removeServed();
  removeRedis();
  await removeEngines();
});

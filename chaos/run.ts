// npm run chaos -- [seconds] [seed]: runs the chaos test for a while and prints its report.

import { removeRedis } from '../test/support/redis.ts';
import { chaos, reportLines } from './chaos.ts';

const [seconds = '300', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
if (![seconds, seed].every((text) => /^\d+$/.test(text))) {
  console.error('Usage: npm run chaos -- [seconds, default 300] [seed, default random]');
  process.exit(2);
}
console.log(`Chaos for ${seconds} s from seed ${seed}`);
const began = performance.now();
const print = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
const report = await chaos({ seconds: Number(seconds), seed: Number(seed), print }).finally(removeRedis);
console.log(reportLines(report).join('\n'));
for (const wrong of report.seen.wrong.slice(0, 10)) console.log(`wrong: ${wrong}`);
process.exit(report.seen.wrong.length === 0 && report.lost.length === 0 ? 0 : 1);

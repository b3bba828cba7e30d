// A client that asks at a fixed rate, whether the answers come or not: a server that is slow is not asked less.

import { ask } from './ask.ts';
import type { BenchRequest } from './load.ts';

/** Milliseconds from each request to the end of its answer. */
export async function paced(
  url: string,
  requests: readonly BenchRequest[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const under: Promise<number>[] = [];
  const began = performance.now();
  for (let turn = 0; turn < perSecond * seconds; turn++) {
    const wait = began + (1000 * turn) / perSecond - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    under.push(timed(url, requests[turn % requests.length] as BenchRequest));
  }
  return Promise.all(under);
}

async function timed(url: string, request: BenchRequest): Promise<number> {
  const began = performance.now();
  await ask(url, request);
  return performance.now() - began;
}

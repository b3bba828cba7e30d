// Sends requests at a fixed rate, whether or not responses arrive: a slow server does not get fewer requests.

import { ask } from './ask.ts';
import type { BenchRequest } from './load.ts';

/** Milliseconds from each request to the end of its response. */
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

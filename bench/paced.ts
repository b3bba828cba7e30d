// A client that asks at a fixed rate, whether the answers come or not: a server that is slow is not asked less.

import type { WrkRequest } from './wrk.ts';

/** Milliseconds from each request to the end of its answer. */
export async function paced(
  url: string,
  requests: readonly WrkRequest[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const under: Promise<number>[] = [];
  const began = performance.now();
  for (let turn = 0; turn < perSecond * seconds; turn++) {
    const wait = began + (1000 * turn) / perSecond - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    under.push(timed(url, requests[turn % requests.length] as WrkRequest));
  }
  return Promise.all(under);
}

async function timed(url: string, request: WrkRequest): Promise<number> {
  const began = performance.now();
  await ask(url, request);
  return performance.now() - began;
}

/** The text of a good answer. */
export async function ask(url: string, { path, headers = {}, body }: WrkRequest): Promise<string> {
  const response = await fetch(url + path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} gave ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

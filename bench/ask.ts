// Sends requests to a server under test, one at a time or several concurrently.

import { type BenchRequest, type Cost, meter, type Server } from './load.ts';

/** Returns the body of a successful response; throws on any other status. */
export async function ask(url: string, { path, headers = {}, body }: BenchRequest): Promise<string> {
  const response = await fetch(url + path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

/** Reads every response to its end. wrk aborts the requests that are in flight when it stops, which skews long responses. */
export async function askMany(
  server: Server,
  requests: readonly BenchRequest[],
  many: number,
  at: number,
): Promise<Cost> {
  const measured = meter(server);
  let turn = 0;
  const one = async () => {
    while (turn < many) await ask(server.url, requests[turn++ % requests.length] as BenchRequest);
  };
  await Promise.all(Array.from({ length: at }, one));
  return measured(many);
}

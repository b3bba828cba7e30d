// Single requests to a server, and some at a time.

import { type BenchRequest, type Cost, meter, type Server } from './load.ts';

/** The text of a good answer. */
export async function ask(url: string, { path, headers = {}, body }: BenchRequest): Promise<string> {
  const response = await fetch(url + path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} gave ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

/** So many answers to the end, some at a time. wrk breaks off what is under way, which is much where answers are long. */
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

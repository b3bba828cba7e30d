// Sends requests to servers under test, and measures what they cost.

import { medians } from './figures.ts';
import { treeCpu } from './processes.ts';

export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** The process of its database, if that is a server. */
  readonly databasePid?: number;
}

export interface BenchRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
}

/** CPU is in microseconds per request. */
export interface Cost {
  readonly perSecond: number;
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** CPU of a request, that of the database included. */
export const totalCpu = ({ cpu, databaseCpu }: Cost) => cpu + databaseCpu;

/** Starts a measurement. Call the returned function at the end, with the number of requests that were answered. */
export function meter({ pid, databasePid }: Server): (requests: number) => Cost {
  const [own, database, began] = [treeCpu(pid), treeCpu(databasePid), performance.now()];
  return (requests) => ({
    perSecond: (1000 * requests) / (performance.now() - began),
    cpu: (treeCpu(pid) - own) / requests,
    databaseCpu: (treeCpu(databasePid) - database) / requests,
  });
}

/** Returns the body of a successful response; throws on any other status. */
export async function ask(url: string, { path, headers = {}, body }: BenchRequest): Promise<string> {
  const response = await fetch(url + path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

/** Milliseconds from the request to the end of its response. */
export async function timed(url: string, request: BenchRequest): Promise<number> {
  const began = performance.now();
  await ask(url, request);
  return performance.now() - began;
}

interface Asked {
  readonly server: Server;
  readonly requests: readonly BenchRequest[];
}

/**
 * Sends `many` requests to each server, in turns and at a fixed rate, whether or not responses arrive: a slow server does not get fewer
 * requests, and noise on the machine meets all alike. Returns the milliseconds of each.
 */
export async function paced<A extends Asked>(all: readonly A[], many: number, perSecond: number) {
  const took = new Map(all.map((one): [A, number[]] => [one, []]));
  const pause = 1000 / perSecond / all.length;
  const under = new Set<Promise<unknown>>();
  const began = performance.now();
  for (let turn = 0; turn < many * all.length; turn++) {
    const wait = began + pause * turn - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    const one = all[turn % all.length] as A;
    const request = one.requests[Math.floor(turn / all.length) % one.requests.length] as BenchRequest;
    const asked = timed(one.server.url, request).then((ms) => {
      took.get(one)?.push(ms);
      under.delete(asked);
    });
    under.add(asked);
  }
  await Promise.all(under);
  return took;
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

export interface Load<C = Cost> {
  readonly name: string;
  run(): C | Promise<C>;
}

/**
 * Runs the loads in turns, so that noise on the machine affects all of them alike. Returns the median of each over the rounds. The
 * first round is a warm-up and does not count.
 */
export async function measureInTurns<C extends { readonly [Name in keyof C]: number }>(
  loads: readonly Load<C>[],
  rounds: number,
): Promise<Map<string, C>> {
  const found = new Map(loads.map(({ name }): [string, C[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, run } of loads) {
      const cost = await run();
      if (round > 0) found.get(name)?.push(cost);
    }
  }
  return new Map([...found].map(([name, costs]) => [name, medians(costs)]));
}

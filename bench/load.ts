// Measures what a load costs the server under test.

import { treeCpu } from './cpu.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** The process of its database, if that is a server. */
  readonly databasePid?: number;
  stop(): Promise<void>;
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

/** Starts a measurement. Call the returned function at the end, with the number of requests that were answered. */
export function meter(server: Server): (requests: number) => Cost {
  const [before, began] = [cpuOf(server), performance.now()];
  return (requests) => {
    const [after, seconds] = [cpuOf(server), (performance.now() - began) / 1000];
    return {
      perSecond: requests / seconds,
      cpu: (after.own - before.own) / requests,
      databaseCpu: (after.database - before.database) / requests,
    };
  };
}

const cpuOf = ({ pid, databasePid }: Server) => ({
  own: treeCpu(pid),
  database: databasePid === undefined ? 0 : treeCpu(databasePid),
});

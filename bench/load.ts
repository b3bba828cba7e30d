// What load costs the server that takes it.

import { treeCpu } from './cpu.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Its database's, where that is a process of its own. */
  readonly databasePid?: number;
  stop(): Promise<void>;
}

export interface BenchRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
}

/** Each for one request; CPU in microseconds. */
export interface Cost {
  readonly perSecond: number;
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** Begins to measure; what it gives is called at the end, with the number of requests that were answered. */
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

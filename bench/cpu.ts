// CPU time, for these machines are too noisy for wall time.

import { readdirSync, readFileSync } from 'node:fs';

const TICK_US = 1e6 / 100;

/** User and system time of this process, in microseconds. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** User and system time of a process and its children, in microseconds. Linux only: elsewhere 0. */
export function treeCpu(pid: number): number {
  let total = 0;
  for (const name of process.platform === 'linux' ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // Behind the bracketed name: state, parent, …; user and system ticks are the 12th and 13th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(name) === pid || Number(fields[1]) === pid)
        total += (Number(fields[11]) + Number(fields[12])) * TICK_US;
    } catch {
      // The process ended meanwhile.
    }
  }
  return total;
}

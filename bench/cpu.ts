// CPU time, for these machines are too noisy for wall time. That of other processes is known on Linux only: elsewhere 0.

import { readFileSync } from 'node:fs';
import { treeOf } from './process-tree.ts';

const TICK_US = 1e6 / 100;

/** User and system time of this process, in microseconds. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** User and system time of a process and all that it started, those that have ended included, in microseconds. */
export function treeCpu(pid: number): number {
  let ticks = 0;
  for (const one of treeOf(pid)) {
    try {
      const stat = readFileSync(`/proc/${one}/stat`, 'utf8');
      // Behind the bracketed name, from the 12th on: user and system ticks, and those of children that have ended.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * TICK_US;
}

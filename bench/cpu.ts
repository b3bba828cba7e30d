// Measures CPU time, which is steadier than wall time on shared machines. Other processes are measured on Linux only: elsewhere 0.

import { readFileSync } from 'node:fs';
import { treeOf } from './process-tree.ts';

const TICK_US = 1e6 / 100;

/** User and system time of this process, in microseconds. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** User and system time of a process and its descendants, exited ones included, in microseconds. */
export function treeCpu(pid: number): number {
  let ticks = 0;
  for (const one of treeOf(pid)) {
    try {
      const stat = readFileSync(`/proc/${one}/stat`, 'utf8');
      // After the name in parentheses, from the 12th field on: user and system ticks, then those of exited children.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // The process exited in the meantime.
    }
  }
  return ticks * TICK_US;
}

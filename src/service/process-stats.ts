// Reads CPU time, memory, start time and open files of this process or of a child. Null where /proc does not have them.

import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: the unit of times in /proc on every Linux that Bun supports. */
const TICKS_PER_SECOND = 100;
/** Unix seconds. */
const STARTED = Date.now() / 1000 - process.uptime();

export type ProcessStats = ReturnType<typeof readProcessStats>;

/** Null if the process has exited, which then has no id, or the system does not tell. */
export function readProcessStats(pid: number | null) {
  if (pid !== process.pid) return pid === null ? null : readChildStats(pid);
  const { user, system } = process.cpuUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startTime: STARTED,
    openFiles: countOpenFiles(pid),
  };
}

function readChildStats(pid: number) {
  try {
    // The fields after the name, which is in parentheses and can contain anything. The first one is the state, field 3.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    const booted = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return {
      cpuSeconds: (field(14) + field(15)) / TICKS_PER_SECOND,
      residentBytes: 1024 * Number(resident ?? 0),
      startTime: booted + field(22) / TICKS_PER_SECOND,
      openFiles: countOpenFiles(pid),
    };
  } catch {
    return null;
  }
}

function countOpenFiles(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}

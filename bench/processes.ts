// Measures the CPU time and memory of processes with all their descendants. CPU time is steadier than wall time on shared machines.
// Linux only: elsewhere other processes count as nothing.

import { readdirSync, readFileSync } from 'node:fs';

const TICK_US = 1e6 / 100;

/** User and system time of this process, in microseconds. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** User and system time of a process and its descendants, exited ones included, in microseconds. No process takes none. */
export function treeCpu(pid: number | undefined): number {
  // User and system ticks, then those of exited children.
  const ticks = pid === undefined ? [] : treeOf(pid).flatMap((one) => statOf(one).slice(11, 15));
  return TICK_US * ticks.reduce((sum, field) => sum + Number(field), 0);
}

/** In bytes; pages that several processes share are divided between them. */
export interface Memory {
  /** Anonymous and shared memory, which the system cannot reclaim. */
  readonly own: number;
  /** Pages of mapped files, which the system can reclaim. */
  readonly mapped: number;
}

export function memoryOf(pid: number): Memory {
  const sum = (...names: string[]) => kilobytes(pid, 'smaps_rollup', names) * 1024;
  return { own: sum('Pss_Anon', 'Pss_Shmem'), mapped: sum('Pss_File') };
}

/** Peak memory of a process and its children while the work runs, without mapped files. */
export async function peakMemory(pid: number, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  // Unlike smaps_rollup, status is cheap enough to be read often.
  const timer = setInterval(() => {
    peak = Math.max(peak, 1024 * kilobytes(pid, 'status', ['RssAnon', 'RssShmem']));
  }, 50);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  return peak;
}

function kilobytes(root: number, file: string, names: readonly string[]): number {
  const texts = treeOf(root).map((pid) => read(`/proc/${pid}/${file}`));
  const found = texts.flatMap((text) => names.map((name) => new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]));
  return found.reduce((sum, kilobytes) => sum + Number(kilobytes ?? 0), 0);
}

function treeOf(root: number): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = Map.groupBy(pids.map(Number), (pid) => Number(statOf(pid)[1]));
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** The fields of /proc/<pid>/stat after the name in parentheses; empty if the process has exited. */
function statOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

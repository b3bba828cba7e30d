// Measures the private memory of a process.

import { readFileSync } from 'node:fs';

/** Environment of a program of Bun that soon collects its garbage, as on a small machine: what it holds is what it needs. */
export const LITTLE_GARBAGE = { BUN_JSC_forceRAMSize: '100000000' };

/** In bytes. Pages of mapped files can be reclaimed, so they are not counted where the system reports them. */
export function ownMemory(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) * 1024;
  }
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

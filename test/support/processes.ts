// Looks at processes: their children, whether they run, and their private memory.

import { readFileSync } from 'node:fs';

/** The child processes of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await Bun.file(`/proc/${pid}/task/${pid}/children`).text();
  return text.trim().split(' ').filter(Boolean).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Environment of a program of Bun that soon collects its garbage, as on a small machine: what it holds is what it needs. */
export const LITTLE_GARBAGE = { BUN_JSC_forceRAMSize: '100000000' };

/** In bytes. Pages of mapped files can be reclaimed, so they are not counted where the system reports them. */
export function ownMemory(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) * 1024;
  }
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

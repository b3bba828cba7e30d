// How much memory a process has of its own.

import { readFileSync } from 'node:fs';

/** In bytes. Pages of mapped files are the system's to keep or drop, and do not count where that can be told. */
export function ownMemory(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) * 1024;
  }
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

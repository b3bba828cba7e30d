// Measures the memory of processes in bytes; pages that several processes share are divided between them. Linux only: elsewhere 0.

import { readFileSync } from 'node:fs';
import { treeOf } from './process-tree.ts';

export interface Memory {
  /** Anonymous and shared memory, which the system cannot reclaim. */
  readonly own: number;
  /** Pages of mapped files, which the system can reclaim. */
  readonly mapped: number;
}

export function memoryOf(...roots: readonly number[]): Memory {
  let [own, mapped] = [0, 0];
  for (const pid of roots.flatMap(treeOf)) {
    const text = read(`/proc/${pid}/smaps_rollup`);
    own += kilobytes(text, 'Pss_Anon') + kilobytes(text, 'Pss_Shmem');
    mapped += kilobytes(text, 'Pss_File');
  }
  return { own: own * 1024, mapped: mapped * 1024 };
}

/** Cheap enough to read often. */
const ownMemory = (pid: number) =>
  treeOf(pid).reduce((sum, one) => {
    const text = read(`/proc/${one}/status`);
    return sum + 1024 * (kilobytes(text, 'RssAnon') + kilobytes(text, 'RssShmem'));
  }, 0);

/** Peak memory of a process and its children while the work runs, without mapped files. */
export async function peakMemory(pid: number, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, ownMemory(pid));
  }, 50);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  return peak;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const kilobytes = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

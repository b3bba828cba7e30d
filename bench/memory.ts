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

/** Peak memory of a process and its children, mapped files included. */
export const highestMemory = (pid: number) =>
  treeOf(pid).reduce((sum, one) => sum + 1024 * kilobytes(read(`/proc/${one}/status`), 'VmHWM'), 0);

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const kilobytes = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

// Describes the machine that a benchmark ran on, and limits the benchmark to two cores.

import { readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';

/** Client and servers share these cores, so that results from larger machines are comparable. */
const CORES = 2;

/** Pins this process and its children to the same cores. Returns the cores in use, as text. */
export function pinCores(): string {
  const all = cpus().length;
  if (all <= CORES) return `${all} cores`;
  const last = CORES - 1;
  const pinned = Bun.which('taskset') !== null && Bun.spawnSync(['taskset', '-cp', `0-${last}`, String(process.pid)]);
  return pinned && pinned.exitCode === 0 ? `${CORES} of its ${all} cores` : `${all} cores`;
}

/** The start of a command that runs on some cores only, as taskset names them. */
export const onCores = (cores: string | undefined): string[] => (cores === undefined ? [] : ['taskset', '-c', cores]);

export function describeMachine(cores: string): string {
  const { model = 'unknown CPU' } = cpus()[0] ?? {};
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB of memory`;
  return `${model} (${arch()}), ${cores}, ${memory}, ${systemName()}, kernel ${release()}, Bun ${Bun.version}`;
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  } catch {
    return process.platform;
  }
}

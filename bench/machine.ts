// What everything was measured on and with.

import { readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';

/** All that is measured has these, client and servers alike: so machines with more of them compare. */
const CORES = 2;

/** Keeps this process, and all that it starts, to the same cores. Gives what it came to. */
export function pinCores(): string {
  const all = cpus().length;
  if (all <= CORES) return `${all} cores`;
  const last = CORES - 1;
  const pinned = Bun.which('taskset') !== null && Bun.spawnSync(['taskset', '-cp', `0-${last}`, String(process.pid)]);
  return pinned && pinned.exitCode === 0 ? `${CORES} of its ${all} cores` : `${all} cores`;
}

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

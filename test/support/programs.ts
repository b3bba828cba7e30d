// Finds programs that npm does not have. On Debian, as root, it installs them; elsewhere the error names the package.

import { existsSync } from 'node:fs';

/** Debian packages by program name. */
const PACKAGES = { chromium: 'chromium', nginx: 'nginx-light', 'redis-server': 'redis-server', wrk: 'wrk' } as const;

export type Program = keyof typeof PACKAGES;

/** Returns the path of the program; installs it first if it is missing. */
export function findProgram(name: Program): string {
  // Servers are in a folder that is not on every PATH.
  const search = { PATH: `${process.env['PATH']}:/usr/sbin` };
  const found = Bun.which(name, search);
  if (found !== null) return found;
  const pack = PACKAGES[name];
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`${name} is missing. Install it first: on Debian, apt-get install ${pack}.`);
  }
  console.error(`${name} is missing and these tests or benchmarks need it: installing Debian's ${pack} with apt-get.`);
  apt('update');
  apt('install', '--yes', '--no-install-recommends', pack);
  const installed = Bun.which(name, search);
  if (installed === null) throw new Error(`${pack} is installed, but ${name} was not found.`);
  return installed;
}

function apt(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['apt-get', '--quiet', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (exitCode !== 0) throw new Error(`apt-get ${args.join(' ')} failed: ${stderr.toString().slice(-500)}`);
}

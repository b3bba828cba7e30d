// Programs that npm does not carry. On Debian, as root, they install themselves; elsewhere the error names the package.

import { existsSync } from 'node:fs';

/** Debian's packages, by the name of the program. */
const PACKAGES = { chromium: 'chromium', nginx: 'nginx-light', 'redis-server': 'redis-server', wrk: 'wrk' } as const;

export type Program = keyof typeof PACKAGES;

/** The path of the program, which is installed first where it is missing. */
export function findProgram(name: Program): string {
  // Servers stand in a folder that is not on every path.
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
  if (installed === null) throw new Error(`${pack} is installed, and there is still no ${name}.`);
  return installed;
}

function apt(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['apt-get', '--quiet', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (exitCode !== 0) throw new Error(`apt-get ${args.join(' ')} failed: ${stderr.toString().slice(-500)}`);
}

// Finds programs that npm does not have. On Debian, as root, it installs them; elsewhere the error names the package.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Debian packages by program name. */
const PACKAGES = {
  buildah: 'buildah',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  go: 'golang-go',
  'iptables-translate': 'iptables',
  jq: 'jq',
  nginx: 'nginx-light',
  pg_dump: 'postgresql-client',
  python3: 'python3',
  'redis-server': 'redis-server',
  sqlite3: 'sqlite3',
  wrk: 'wrk',
} as const;

export type Program = keyof typeof PACKAGES;

/** Of the benchmarks alone. */
const NOT_OF_TESTS: readonly Program[] = ['wrk'];

/** Servers are in a folder that is not on every PATH. */
const whichProgram = (name: Program) => Bun.which(name, { PATH: `${process.env['PATH']}:/usr/sbin` });
const mayInstall = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Returns the path of the program; installs it first if it is missing. */
export function findProgram(name: Program): string {
  const found = whichProgram(name);
  if (found !== null) return found;
  const pack = PACKAGES[name];
  if (!mayInstall()) throw new Error(`${name} is missing. Install it first: on Debian, apt-get install ${pack}.`);
  install([pack]);
  const installed = whichProgram(name);
  if (installed === null) throw new Error(`${pack} is installed, but ${name} was not found.`);
  return installed;
}

/** Installs all that the tests need, where it may. Elsewhere, each test that misses a program names it. */
export function installProgramsOfTests(): void {
  const names = (Object.keys(PACKAGES) as Program[]).filter((name) => !NOT_OF_TESTS.includes(name));
  const missing = names.filter((name) => whichProgram(name) === null);
  if (missing.length > 0 && mayInstall()) install(missing.map((name) => PACKAGES[name]));
}

function install(packages: readonly string[]): void {
  console.error(`Tests or benchmarks need what is missing: installing Debian's ${packages.join(', ')} with apt-get.`);
  apt('update');
  apt('install', '--yes', '--no-install-recommends', ...packages);
}

/** Returns the path of promtool. Debian's package would start Prometheus, so it is unpacked and not installed. */
export function findPromtool(): string {
  const folder = join(import.meta.dir, '../../node_modules/.cache/prometheus');
  const unpacked = join(folder, 'usr/bin/promtool');
  const found = Bun.which('promtool') ?? Bun.which(unpacked);
  if (found !== null) return found;
  if (!existsSync('/usr/bin/apt-get')) {
    throw new Error(
      "promtool is missing. Install it first: it is part of Prometheus, on Debian in the package 'prometheus'.",
    );
  }
  console.error("promtool is missing and these tests need it: unpacking Debian's prometheus into node_modules/.cache.");
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() === 0) apt('update');
  run(['apt-get', '--quiet', 'download', 'prometheus'], folder);
  const [archive] = new Bun.Glob('prometheus_*.deb').scanSync(folder);
  run(['dpkg-deb', '--extract', join(folder, archive ?? ''), folder]);
  return unpacked;
}

/** Test files run in several processes, and apt-get fails if another one runs: they take turns. */
function apt(...args: string[]): void {
  run(['flock', '/run/lock/delegations-apt', 'apt-get', '--quiet', '-o', 'DPkg::Lock::Timeout=120', ...args]);
}

function run(command: string[], cwd?: string): void {
  const { exitCode, stderr } = Bun.spawnSync(command, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().slice(-500)}`);
}

// Builds the executables of all platforms on one machine, each with the Bun of its platform from npm.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devDependencies, scripts } from '../../package.json' with { type: 'json' };
import { run } from './run-command.ts';

const ROOT = join(import.meta.dir, '../..');

/** Platforms by their package of Bun. */
export const PLATFORMS = {
  '@oven/bun-linux-x64': 'linux-x64',
  '@oven/bun-linux-aarch64': 'linux-arm64',
  '@oven/bun-darwin-x64': 'darwin-x64',
  '@oven/bun-darwin-aarch64': 'darwin-arm64',
} as const;

export type BunPackage = keyof typeof PLATFORMS;

/** Bun compiles the code for its own platform only: on another one the program would crash at its start. */
const COMPILED = ' --bytecode --format=esm';

/** Writes `delegations-<version>-<platform>` into the folder and returns its name. */
export function buildExecutable(bunPackage: BunPackage, version: string, folder: string): string {
  const name = `delegations-${version}-${PLATFORMS[bunPackage]}`;
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-release-'));
  try {
    const bun = fetchBun(bunPackage, scratch);
    const isForHere = PLATFORMS[bunPackage] === `${process.platform}-${process.arch}`;
    const script = isForHere ? scripts.build : scripts.build.replace(COMPILED, '');
    const command = script.replace('dist/delegations', join(folder, name)).replace(/^bun /, '');
    const target = `--target=bun-${PLATFORMS[bunPackage]}`;
    run(ROOT, process.execPath, ...command.split(' '), target, `--compile-executable-path=${bun}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return name;
}

/** Returns the path of the platform's Bun, with the bytes that package-lock.json names. */
function fetchBun(bunPackage: BunPackage, folder: string): string {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const spec = `${bunPackage}@${devDependencies.bun}`;
  const file = run(folder, 'npm', 'pack', '--silent', '--prefer-offline', spec).trim();
  const found = `sha512-${createHash('sha512')
    .update(readFileSync(join(folder, file)))
    .digest('base64')}`;
  const { integrity } = lock.packages[`node_modules/${bunPackage}`] ?? {};
  if (found !== integrity) throw new Error(`${spec} has ${found}, but package-lock.json has ${integrity}.`);
  const unpacked = join(folder, 'bun');
  mkdirSync(unpacked);
  run(folder, 'tar', 'xzf', file, '-C', unpacked, '--strip-components=1');
  return join(unpacked, 'bin/bun');
}

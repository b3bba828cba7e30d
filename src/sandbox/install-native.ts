// Installs the native package of Hardhat's EVM. npm skips it below Node 22, but Bun can run it.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');
const MODULES = join(ROOT, 'node_modules');

export interface LockedPackage {
  readonly version: string;
  /** As npm writes it: `sha512-` and base64. */
  readonly integrity: string;
}

/** Does nothing if the package is installed. */
export function installNative(): void {
  const name = `@nomicfoundation/edr-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const folder = join(MODULES, name);
  if (existsSync(join(folder, 'package.json'))) return;
  const locked = lockedPackage(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), name);
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-edr-'));
  try {
    const packed = run(['npm', 'pack', `${name}@${locked.version}`, '--pack-destination', scratch, '--silent']);
    const file = join(scratch, packed.trim().split('\n').at(-1) ?? '');
    requireIntegrity(name, readFileSync(file), locked.integrity);
    mkdirSync(dirname(folder), { recursive: true });
    // Moved into place in one step, because two processes may do this at once.
    const unpacked = mkdtempSync(join(MODULES, '.edr-'));
    run(['tar', 'xzf', file, '-C', unpacked, '--strip-components=1']);
    try {
      renameSync(unpacked, folder);
    } catch (error) {
      rmSync(unpacked, { recursive: true, force: true });
      if (!existsSync(join(folder, 'package.json'))) throw error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Throws if the lock file does not have the package with its integrity. */
export function lockedPackage(lockFile: string, name: string): LockedPackage {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, Partial<LockedPackage>> };
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json does not have ${name}: the sandbox does not run on this platform.`);
  return { version, integrity };
}

/** Throws unless these are the bytes that the lock file names. */
export function requireIntegrity(name: string, bytes: Uint8Array, integrity: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (!integrity.split(' ').includes(found))
    throw new Error(`${name} is not the package that package-lock.json names: it has ${found}. Nothing was installed.`);
}

function run(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.slice(0, 3).join(' ')} failed: ${stderr.toString().slice(-300)}`);
  return stdout.toString();
}

// npm runs this after an install, so that the sandbox later needs no network. Without Hardhat there is no sandbox.
if (import.meta.main && existsSync(join(MODULES, 'hardhat/package.json'))) {
  try {
    installNative();
  } catch (error) {
    console.warn(
      `Could not install the sandbox's native EVM package. The sandbox will try again when it starts. ${error}`,
    );
  }
}

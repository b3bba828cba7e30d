// Finds the native package of the local chain's EVM, or installs it: npm skips it below Node 22, but Bun can run it.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from '../service/usage-error.ts';
import { integrity, version } from './native-packages.json' with { type: 'json' };

const MODULES = join(import.meta.dir, '../../node_modules');
const INTEGRITY: Readonly<Record<string, string>> = integrity;

/** Throws if there is no such package for this platform. */
export function nativePackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@nomicfoundation/edr-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
  if (name in INTEGRITY) return name;
  throw new UsageError(
    `The sandbox does not run on ${platform} ${arch}, only on Linux (glibc) and macOS, on x64 and arm64. All other commands do.`,
  );
}

/** Does nothing if the package is installed. */
export function installNative(): void {
  const name = nativePackage();
  if (installedVersion(name) === version) return;
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-edr-'));
  try {
    const packed = run(['npm', 'pack', `${name}@${version}`, '--pack-destination', scratch, '--silent']);
    const file = join(scratch, packed.trim().split('\n').at(-1) ?? '');
    requireIntegrity(name, readFileSync(file));
    const folder = join(MODULES, name);
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

/** Throws unless these are the bytes of the package that native-packages.json names. */
export function requireIntegrity(name: string, bytes: Uint8Array): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (INTEGRITY[name] !== found)
    throw new Error(
      `${name} is not the package that native-packages.json names: it has ${found}. Nothing was installed.`,
    );
}

function installedVersion(name: string): string | null {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return null;
  }
}

function run(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.slice(0, 3).join(' ')} failed: ${stderr.toString().slice(-300)}`);
  return stdout.toString();
}

// npm runs this after npm ci, so that the sandbox later needs no network.
if (import.meta.main) {
  try {
    installNative();
  } catch (error) {
    console.warn(`The sandbox's EVM was not installed. The sandbox will try again when it starts. ${error}`);
  }
}

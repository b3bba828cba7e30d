// Installs the native package of Hardhat's EVM. npm skips it below Node 22, but Bun can run it.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const MODULES = join(import.meta.dir, '../../node_modules');
const VERSION = '0.20.0';

/** Does nothing if the package is installed. */
export function installNative(): void {
  const name = `@nomicfoundation/edr-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const folder = join(MODULES, name);
  if (existsSync(join(folder, 'package.json'))) return;
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-edr-'));
  try {
    const packed = run(['npm', 'pack', `${name}@${VERSION}`, '--pack-destination', scratch, '--silent']);
    const file = packed.trim().split('\n').at(-1) ?? '';
    mkdirSync(dirname(folder), { recursive: true });
    // Moved into place in one step, because two processes may do this at once.
    const unpacked = mkdtempSync(join(MODULES, '.edr-'));
    run(['tar', 'xzf', join(scratch, file), '-C', unpacked, '--strip-components=1']);
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

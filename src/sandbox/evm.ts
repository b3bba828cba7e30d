// A real EVM on the loopback: Hardhat's own node, with chain id 1 and both registries at their real addresses.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { createRpc, type Rpc } from '../chain/rpc.ts';
import { NETWORKS, type Network } from '../registry/network.ts';

const MODULES = join(import.meta.dir, '../../node_modules');
/** The native part. npm leaves it out below Node 22, where it is not needed: Bun runs it. */
const NATIVE_VERSION = '0.20.0';

export interface Evm {
  readonly url: string;
  readonly rpc: Rpc;
  stop(): Promise<void>;
}

export async function startEvm(): Promise<Evm> {
  installNative();
  const port = freePort();
  const child = Bun.spawn(
    [
      process.execPath,
      '--bun',
      join(MODULES, 'hardhat/dist/src/cli.js'),
      '--config',
      join(import.meta.dir, 'hardhat.config.ts'),
      ...['node', '--hostname', '127.0.0.1', '--port', String(port)],
    ],
    { cwd: import.meta.dir, stdout: 'ignore', stderr: 'pipe' },
  );
  const url = `http://127.0.0.1:${port}`;
  const rpc = createRpc(url);
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  try {
    await answers(rpc, child);
    const { registries } = NETWORKS.get(1) as Network;
    await rpc.call('hardhat_setCode', [registries[1], artifacts.RegistryV1.code]);
    await rpc.call('hardhat_setCode', [registries[2], artifacts.RegistryV2.code]);
    return { url, rpc, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts the code of a smart account at an address. */
export const makeSmartWallet = (rpc: Rpc, address: string) =>
  rpc.call('hardhat_setCode', [address, artifacts.BatchWallet.code]);

async function answers(rpc: Rpc, child: Bun.Subprocess<'ignore', 'ignore', 'pipe'>): Promise<void> {
  for (let left = 300; left > 0; left--) {
    if (child.exitCode !== null) {
      throw new Error(`The local chain did not start: ${(await new Response(child.stderr).text()).slice(-500)}`);
    }
    if ((await rpc.call('eth_chainId', []).catch(() => null)) === '0x1') return;
    await Bun.sleep(100);
  }
  throw new Error('The local chain did not answer within 30 s.');
}

function freePort(): number {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port as number;
}

function installNative(): void {
  const name = `@nomicfoundation/edr-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  const folder = join(MODULES, name);
  if (existsSync(join(folder, 'package.json'))) return;
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-edr-'));
  try {
    const packed = Bun.spawnSync([
      'npm',
      'pack',
      `${name}@${NATIVE_VERSION}`,
      '--pack-destination',
      scratch,
      '--silent',
    ]);
    if (packed.exitCode !== 0) throw new Error(`npm pack ${name} failed: ${packed.stderr.toString().slice(-300)}`);
    mkdirSync(dirname(folder), { recursive: true });
    // Whole or not at all: two programs may do this at once.
    const unpacked = mkdtempSync(join(MODULES, '.edr-'));
    const file = packed.stdout.toString().trim().split('\n').at(-1) ?? '';
    const { exitCode } = Bun.spawnSync(['tar', 'xzf', join(scratch, file), '-C', unpacked, '--strip-components=1']);
    if (exitCode !== 0) throw new Error(`${name} could not be unpacked`);
    Bun.spawnSync(['mv', '-T', unpacked, folder]);
    rmSync(unpacked, { recursive: true, force: true });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

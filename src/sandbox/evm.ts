// Starts a local chain: Hardhat's node on the loopback interface, with chain id 1, and both registries and Multicall3 at
// their real addresses.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { createRpc, type Rpc } from '../chain/rpc.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { freePort } from './free-port.ts';
import { installNative } from './install-native.ts';

/** The address that viem and other libraries expect on every chain. */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

export interface Evm {
  readonly url: string;
  readonly rpc: Rpc;
  readonly pid: number;
  /** Resolves when the chain's process has exited. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface EvmOptions {
  /** The time of the first block. */
  readonly since?: Date;
  /** Of its JSON-RPC. Without it, a free one. */
  readonly port?: number;
  /** For the chain's files. Deleted when the chain exits. */
  readonly folder?: string;
}

export async function startEvm(options: EvmOptions = {}): Promise<Evm> {
  const { since = new Date(), port = freePort(), folder = mkdtempSync(join(tmpdir(), 'delegations-evm-')) } = options;
  installNative();
  const stderr = Bun.file(join(folder, 'stderr'));
  const program = join(import.meta.dir, 'evm-process.ts');
  const child = Bun.spawn([process.execPath, '--bun', program, String(port), folder, since.toISOString()], {
    // Hardhat resolves its packages from the working directory.
    cwd: import.meta.dir,
    stdout: 'ignore',
    stderr,
    ipc() {},
  });
  const url = `http://127.0.0.1:${port}`;
  const rpc = createRpc(url);
  const ended = child.exited.then(() => rmSync(folder, { recursive: true, force: true }));
  const stop = () => {
    child.kill();
    return ended;
  };
  try {
    await waitUntilReady(rpc, child, stderr);
    const { registries } = NETWORKS.get(1) as Network;
    await rpc.call('hardhat_setCode', [registries[1], artifacts.RegistryV1.code]);
    await rpc.call('hardhat_setCode', [registries[2], artifacts.RegistryV2.code]);
    await rpc.call('hardhat_setCode', [MULTICALL3, artifacts.Multicall3.code]);
    return { url, rpc, pid: child.pid, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts a smart account's code at an address. */
export const deploySmartWallet = (rpc: Rpc, address: string) =>
  rpc.call('hardhat_setCode', [address, artifacts.BatchWallet.code]);

async function waitUntilReady(rpc: Rpc, child: Bun.Subprocess, stderr: Bun.BunFile): Promise<void> {
  for (let left = 300; left > 0; left--) {
    if (child.exitCode !== null) {
      throw new Error(`The local chain did not start: ${(await stderr.text()).slice(-500)}`);
    }
    if ((await rpc.call('eth_chainId', []).catch(() => null)) === '0x1') return;
    await Bun.sleep(100);
  }
  throw new Error('The local chain did not respond within 30 s.');
}

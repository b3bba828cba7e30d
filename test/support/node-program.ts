// Starts a real node program with both registries: Foundry's anvil if available, otherwise the sandbox's EVM (EDR).

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts';
import { startEvm } from '../../src/sandbox/evm.ts';
import { freePort } from '../../src/sandbox/free-port.ts';
import { MAINNET } from './vectors.ts';

export interface NodeProgram {
  readonly url: string;
  readonly rpc: Rpc;
  stop(): Promise<void>;
}

/** npm has it for x86-64 only. The test fetches it, so that npm install works on other machines. */
const ANVIL = '@foundry-rs/anvil-linux-amd64@1.7.1';
/** An anvil that is already installed. */
const OWN = process.env['ANVIL'];
const hasAnvil = OWN !== undefined || (process.platform === 'linux' && process.arch === 'x64');

export const NODE_PROGRAM = hasAnvil
  ? 'anvil'
  : `EDR, Hardhat's EVM (anvil is not installed on ${process.platform} ${process.arch}; ANVIL=<path> uses one)`;

/** The chain id is 1, and both registries are at their real addresses. */
export const startNodeProgram = (): Promise<NodeProgram> => (hasAnvil ? startAnvil() : startEvm());

async function startAnvil(): Promise<NodeProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-anvil-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const program = OWN ?? fetchAnvil(folder);
    const port = freePort();
    const command = [program, '--host', '127.0.0.1', '--port', String(port), '--chain-id', '1', '--silent'];
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' });
    const stop = async () => {
      child.kill();
      await child.exited;
      remove();
    };
    const url = `http://127.0.0.1:${port}`;
    const rpc = createRpc(url);
    try {
      for (let left = 300; (await rpc.call('eth_chainId', []).catch(() => null)) !== '0x1'; left--) {
        if (left === 0 || child.exitCode !== null) throw new Error(`anvil did not start: exit code ${child.exitCode}`);
        await Bun.sleep(100);
      }
      await rpc.call('anvil_setCode', [MAINNET.registries[1], artifacts.RegistryV1.code]);
      await rpc.call('anvil_setCode', [MAINNET.registries[2], artifacts.RegistryV2.code]);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url, rpc, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Downloads the package without running its install script. */
function fetchAnvil(folder: string): string {
  console.error(`This test runs on anvil: downloading ${ANVIL} from npm into a temporary folder.`);
  for (const command of [
    ['npm', 'pack', ANVIL, '--silent'],
    ['sh', '-c', 'tar xzf *.tgz'],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder, timeout: 120_000 });
    if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().slice(-300)}`);
  }
  return join(folder, 'package/bin/anvil');
}

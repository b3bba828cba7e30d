// Starts a local chain: an EVM in a process of its own, served on the loopback interface, with both
// registries and Multicall3 at their real addresses.

import { rmSync } from 'node:fs';
import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { optionalDependencies } from '../../package.json' with { type: 'json' };
import { createRpc, type Rpc } from '../chain/rpc/rpc.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { encodeArray, encodeBytes, word } from '../registry/registry-call.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
import { programPath } from '../service/self-command.ts';
import { UsageError } from '../service/terminal.ts';
import { findNativePackage, nativePackage } from './edr.ts';

/** The address that viem and other libraries expect on every chain. */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** The contract of each version. */
const CONTRACT_OF = { 1: 'RegistryV1', 2: 'RegistryV2' } as const satisfies {
  readonly [V in Version]: keyof typeof artifacts;
};

export type Evm = Awaited<ReturnType<typeof startEvm>>;

const OFFERED: Readonly<Partial<Record<string, string>>> = optionalDependencies;

export interface EvmOptions {
  /** The time of the first block. */
  readonly since?: Date;
  /** 1 without it. */
  readonly chainId?: number;
  /** Without it, any free port. */
  readonly port?: number;
  /** Deleted when the chain exits, even if this process was killed. */
  readonly folder?: string;
}

export async function startEvm({ since = new Date(), chainId = 1, port = 0, folder }: EvmOptions = {}) {
  requireNativePackage();
  const { promise: listening, resolve: hears } = Promise.withResolvers<number>();
  const command = [
    process.execPath,
    programPath('sandbox/evm-process.ts'),
    String(port),
    since.toISOString(),
    String(chainId),
  ];
  if (folder !== undefined) command.push(folder);
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe', ipc: hears });
  /** Resolves when the chain's process has exited. */
  const ended = child.exited.then(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  const stop = () => {
    child.kill();
    return ended;
  };
  try {
    const exited = ended.then(async () => {
      throw new Error(`The local chain did not start: ${(await child.stderr.text()).slice(-500)}`);
    });
    const url = `http://127.0.0.1:${await Promise.race([listening, exited])}`;
    const rpc = createRpc(url);
    const { registries } = NETWORKS.get(1) as Network;
    for (const version of ALL_VERSIONS)
      await rpc.call('hardhat_setCode', [registries[version], artifacts[CONTRACT_OF[version]].code]);
    await rpc.call('hardhat_setCode', [MULTICALL3, artifacts.Multicall3.code]);
    return { url, rpc, pid: child.pid, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function requireNativePackage(): void {
  if (findNativePackage() !== null) return;
  const name = nativePackage();
  const version = OFFERED[name];
  throw new UsageError(
    version === undefined
      ? 'The sandbox runs on Linux (glibc, x64 and arm64) and on macOS (arm64). All other commands run here too.'
      : `The sandbox needs one more package, a local chain for this platform (27 MB). Install it here: npm install ${name}@${version}`,
  );
}

/** Puts a smart account's code at an address. */
export const deploySmartWallet = (rpc: Rpc, address: string) =>
  rpc.call('hardhat_setCode', [address, artifacts.BatchWallet.code]);

/** execute((address,bytes)[]) */
const EXECUTE = 'baae8abf';
/** The bytes of a call follow its two words. */
const BYTES_AT = '40'.padStart(64, '0');

/** Encodes a smart account's `execute`, which makes several calls in one transaction. */
export const encodeExecute = (calls: readonly { to: string; data: string }[]): string =>
  `0x${EXECUTE}${encodeArray(calls.map(({ to, data }) => `${word(to)}${BYTES_AT}${encodeBytes(data)}`))}`;

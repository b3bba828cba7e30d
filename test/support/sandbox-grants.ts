// Writes grants to the chain of a sandbox, and waits until the service has them.

import { createRpc } from '../../src/chain/rpc/rpc.ts';
import type { Delegation } from '../../src/registry/delegation.ts';
import { encodeCall, grantCall, type RegistryCall, revokeCall } from '../../src/registry/registry-call.ts';
import type { SandboxConnection } from '../../src/sandbox/welcome.ts';
import { fund } from './evm-wallets.ts';
import { MAINNET } from './vectors.ts';

/** Waits until the index has the chain's newest block. */
export async function untilIndexed({ url, rpcUrl }: SandboxConnection): Promise<void> {
  const head = Number(await createRpc(rpcUrl).call('eth_blockNumber', []));
  for (let left = 600; ; left--) {
    const [network] = (await (await fetch(`${url}/networks`)).json()) as { head: { number: number } | null }[];
    if ((network?.head?.number ?? 0) >= head) return;
    if (left === 0) throw new Error(`block ${head} was not indexed within a minute`);
    await Bun.sleep(100);
  }
}

export const makeGrants = (sandbox: SandboxConnection, ...grants: Delegation[]) => send(sandbox, grants, grantCall);
export const revokeGrants = (sandbox: SandboxConnection, ...grants: Delegation[]) => send(sandbox, grants, revokeCall);

async function send(
  sandbox: SandboxConnection,
  grants: readonly Delegation[],
  callOf: (grant: Delegation) => RegistryCall,
): Promise<void> {
  const rpc = createRpc(sandbox.rpcUrl);
  for (const one of grants) {
    await fund(rpc, [one.from]);
    const transaction = { from: one.from, to: MAINNET.registries[one.version], data: encodeCall(callOf(one)) };
    await rpc.call('eth_sendTransaction', [transaction]);
  }
  await untilIndexed(sandbox);
}

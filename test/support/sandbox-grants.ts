// Writes grants to the chain of a sandbox, and waits until the service has them.

import { createRpc } from '../../src/chain/rpc/rpc.ts';
import type { Delegation } from '../../src/registry/delegation.ts';
import { encodeCall, grantCall, revokeCall } from '../../src/registry/registry-call.ts';
import type { SandboxConnection } from '../../src/sandbox/welcome.ts';
import { eventually } from './eventually.ts';
import { fund } from './evm-wallets.ts';
import { MAINNET } from './vectors.ts';

/** Waits until the index has the chain's newest block. */
export async function untilIndexed({ url, rpcUrl }: SandboxConnection): Promise<void> {
  const head = Number(await createRpc(rpcUrl).call('eth_blockNumber', []));
  await eventually(`block ${head} is indexed`, async () => {
    const [network] = (await (await fetch(`${url}/networks`)).json()) as { head: { number: number } | null }[];
    return (network?.head?.number ?? 0) >= head;
  });
}

const sending =
  (callOf: typeof grantCall) =>
  async (sandbox: SandboxConnection, ...grants: readonly Delegation[]) => {
    const rpc = createRpc(sandbox.rpcUrl);
    await fund(rpc, [...new Set(grants.map(({ from }) => from))]);
    for (const one of grants) {
      const transaction = { from: one.from, to: MAINNET.registries[one.version], data: encodeCall(callOf(one)) };
      await rpc.call('eth_sendTransaction', [transaction]);
    }
    await untilIndexed(sandbox);
  };

export const makeGrants = sending(grantCall);
export const revokeGrants = sending(revokeCall);

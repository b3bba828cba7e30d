// The sandbox's chain, a browser with a wallet that sends, and owners whose grants the tests revoke.

import { afterAll, beforeAll } from 'bun:test';
import type { Browser } from 'playwright-core';
import { ANY_LIST } from '../../src/api/any-operations.ts';
import type { ResponseOf } from '../../src/api/operation.ts';
import type { DelegationRecord } from '../../src/api/responses.ts';
import { urlFor } from '../../src/api/url.ts';
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts';
import { type Address, type Delegation, type Kind, MAX_UINT256, NO_RIGHTS } from '../../src/registry/delegation.ts';
import { NETWORKS, type Network } from '../../src/registry/network.ts';
import { encodeCall, grantCall } from '../../src/registry/registry-call.ts';
import { rightsOf } from '../../src/registry/rights.ts';
import { grantId, grantIdOf } from '../../src/web/grant-id.ts';
import { startBrowser } from './browser.ts';
import { fund } from './evm-wallets.ts';
import { type QuietSandbox, startQuietSandbox } from './sandbox-process.ts';
import { openWithSendingWallet, type SendingWallet, type WalletOptions } from './sending-wallet.ts';

export const REGISTRIES = (NETWORKS.get(1) as Network).registries;

/** Made from a name. */
export const ownerNamed = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, '1')}`;
export const [HOT, OTHER, CONTRACT] = [ownerNamed('hot'), ownerNamed('other'), ownerNamed('contract')];
export const VOTE = rightsOf('vote') as `0x${string}`;

/** A grant to HOT, with the longest token id. */
export const grantOf = (from: Address, version: 1 | 2, kind: Kind, more: Partial<Delegation> = {}): Delegation => ({
  version,
  kind,
  from,
  to: HOT,
  contract: kind === 'ALL' ? null : CONTRACT,
  tokenId: kind === 'TOKEN' || kind === 'ERC721' || kind === 'ERC1155' ? MAX_UINT256 : null,
  rights: version === 2 ? NO_RIGHTS : null,
  amount: kind === 'ERC20' || kind === 'ERC1155' ? 250n : null,
  ...more,
});

/** Each kind of v1, and each of v2 with and without rights. */
export const everyKind = (from: Address, to = HOT): Delegation[] => [
  ...(['ALL', 'CONTRACT', 'TOKEN'] as const).map((kind) => grantOf(from, 1, kind, { to })),
  ...(['ALL', 'CONTRACT', 'ERC721', 'ERC20', 'ERC1155'] as const).flatMap((kind) => [
    grantOf(from, 2, kind, { to }),
    grantOf(from, 2, kind, { to, rights: VOTE }),
  ]),
];

export interface RevokeRig {
  readonly browser: Browser;
  readonly rpc: Rpc;
  readonly url: string;
  /** Makes grants of one owner, and waits until the index has them. */
  grant(grants: readonly Delegation[]): Promise<void>;
  /** Waits until the index has the chain's newest block. */
  untilIndexed(): Promise<void>;
  recordsOf(wallet: Address): Promise<DelegationRecord[]>;
  idsOf(wallet: Address): Promise<string[]>;
  linkOf(wallet: Address, ...grants: readonly Delegation[]): string;
  open(url: string, account: string, more?: Partial<WalletOptions>): Promise<SendingWallet>;
}

/** The fields are set when the first test begins. */
export function useRevokeRig(): RevokeRig {
  let sandbox: QuietSandbox;
  const rig = {} as { -readonly [Name in keyof RevokeRig]: RevokeRig[Name] };
  beforeAll(async () => {
    // Nothing but the test writes to the chain.
    sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
    rig.browser = await startBrowser();
    rig.rpc = createRpc(sandbox.rpcUrl);
    rig.url = sandbox.url;
  });
  afterAll(async () => {
    await rig.browser.close();
    await sandbox.stop();
  });

  async function untilIndexed(): Promise<void> {
    const head = Number(await rig.rpc.call('eth_blockNumber', []));
    for (let left = 600; ; left--) {
      const [network] = (await (await fetch(`${rig.url}/networks`)).json()) as { head: { number: number } }[];
      if ((network?.head.number ?? 0) >= head) return;
      if (left === 0) throw new Error(`block ${head} is not indexed after a minute`);
      await Bun.sleep(100);
    }
  }

  return Object.assign(rig, {
    untilIndexed,
    async grant(grants: readonly Delegation[]) {
      const [{ from }] = grants as [Delegation];
      await fund(rig.rpc, [from]);
      for (const one of grants) {
        const transaction = { from, to: REGISTRIES[one.version], data: encodeCall(grantCall(one)) };
        await rig.rpc.call('eth_sendTransaction', [transaction]);
      }
      await untilIndexed();
    },
    async recordsOf(wallet: Address) {
      const path = urlFor(ANY_LIST, { wallet, chainId: 1, direction: 'outgoing', numbers: 'string' });
      const { delegations } = (await (await fetch(rig.url + path)).json()) as ResponseOf<typeof ANY_LIST>;
      return [...delegations];
    },
    idsOf: async (wallet: Address) => (await rig.recordsOf(wallet)).map(grantId).sort(),
    linkOf: (wallet: Address, ...grants: readonly Delegation[]) =>
      `${rig.url}/revoke?wallet=${wallet}&chain=1${grants.map((one) => `&grant=${grantIdOf(one)}`).join('')}`,
    open: (url: string, account: string, more: Partial<WalletOptions> = {}) =>
      openWithSendingWallet(rig.browser, url, {
        forward: (method, params) => rig.rpc.call(method, [...params]),
        account,
        ...more,
      }),
  });
}

// The sandbox's chain, a browser with a wallet that sends, and owners whose grants the tests revoke.

import { afterAll, beforeAll } from 'bun:test';
import type { Browser } from 'playwright-core';
import { ANY_LIST } from '../../src/api/any-operations.ts';
import type { ResponseOf } from '../../src/api/operation.ts';
import type { DelegationRecord } from '../../src/api/responses.ts';
import { urlFor } from '../../src/api/url.ts';
import { createRpc } from '../../src/chain/rpc/rpc.ts';
import { type Address, type Delegation, type Kind, MAX_UINT256, NO_RIGHTS } from '../../src/registry/delegation.ts';
import { NETWORKS, type Network } from '../../src/registry/network.ts';
import { rightsOf } from '../../src/registry/rights.ts';
import { hasRights } from '../../src/registry/versions.ts';
import { grantId, grantIdOf } from '../../src/web/grant-id.ts';
import { startBrowser } from './browser.ts';
import { openWithWallet, type WalletOptions } from './browser-wallet.ts';
import { makeGrants, untilIndexed } from './sandbox-grants.ts';
import { type QuietSandbox, startQuietSandbox } from './sandbox-process.ts';

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
  rights: hasRights(version) ? NO_RIGHTS : null,
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

/** `rpc` and what depends on it are there when the first test begins. */
export function useRevokeRig() {
  let browser: Browser;
  let sandbox: QuietSandbox;
  beforeAll(async () => {
    // Nothing but the test writes to the chain.
    sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await sandbox.stop();
  });
  const rig = {
    get browser() {
      return browser;
    },
    get rpc() {
      return createRpc(sandbox.rpcUrl);
    },
    get url() {
      return sandbox.url;
    },
    grant: (grants: readonly Delegation[]) => makeGrants(sandbox, ...grants),
    untilIndexed: () => untilIndexed(sandbox),
    async recordsOf(wallet: Address): Promise<DelegationRecord[]> {
      const path = urlFor(ANY_LIST, { wallet, chainId: 1, direction: 'outgoing', numbers: 'string' });
      const { delegations } = (await (await fetch(rig.url + path)).json()) as ResponseOf<typeof ANY_LIST>;
      return [...delegations];
    },
    idsOf: async (wallet: Address) => (await rig.recordsOf(wallet)).map(grantId).sort(),
    linkOf: (wallet: Address, ...grants: readonly Delegation[]) =>
      `${rig.url}/revoke?wallet=${wallet}&chain=1${grants.map((one) => `&grant=${grantIdOf(one)}`).join('')}`,
    /** With a wallet that forwards what `answer` leaves open to the node, which signs. */
    open: (url: string, account: string, { answer, ...more }: Partial<WalletOptions> = {}) =>
      openWithWallet(browser, url, {
        account,
        answer: async (method, params) => {
          const own = await answer?.(method, params);
          return own === undefined && method !== 'eth_requestAccounts' ? rig.rpc.call(method, [...params]) : own;
        },
        ...more,
      }),
  };
  return rig;
}

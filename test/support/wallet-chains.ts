// A wallet with grants on five chains, one of which does not answer: long token ids, rights of every form, both registries.

import { type Address, type Bytes32, MAX_UINT256 } from '../../src/registry/delegation.ts';
import type { RegistryEvent } from '../../src/registry/event.ts';
import { rightsOf } from '../../src/registry/rights.ts';
import type { Store } from '../../src/store/store.ts';
import { address, block, ended, granted, timeOf } from './fixtures.ts';

export const CHAINS = [1, 10, 137, 8453, 100] as const;
/** It has not started. */
export const AWAY = 100;
/** Its index begins after its registries. */
const PARTIAL = 8453;

/** The wallet that the pages show, and others. */
export const OWNER: Address = '0x7e57a11f0e11ab1e5eefc01dca5cade00fb1dca7';
export const FRIEND: Address = '0x1f2e3d4c5b6a798877665544332211000a1b2c3d';
export const VOTER: Address = '0xb0a71e5c0ffee00ddecade0fadedfacade123456';
export const LONG_ID = MAX_UINT256 - 58n;

const VOTE = rightsOf('vote') as Bytes32;
/** A name, zeros, and an expiry of 40 bits. */
const EXPIRING: Bytes32 = `0x${Buffer.from('claim').toString('hex').padEnd(48, '0')}${timeOf(500).toString(16).padStart(16, '0')}`;
const UNREADABLE: Bytes32 = `0x01${'ff'.repeat(31)}`;
export const FORMULA = rightsOf('=1+1,"x";@y') as Bytes32;

/** A wallet with grants to sixty others. */
export const BUSY: Address = '0x60d60d60d60d60d60d60d60d60d60d60d60d60d6';
const BUSY_GRANTS = Array.from({ length: 60 }, (_, of) =>
  granted('CONTRACT', { from: BUSY, to: address(0x7000 + of) }),
);

const GRANTS: Readonly<Record<number, readonly RegistryEvent[]>> = {
  1: [
    granted('ALL', { from: OWNER, to: FRIEND }),
    granted('ALL', { version: 1, from: OWNER, to: FRIEND }),
    granted('ALL', { from: OWNER, to: VOTER, rights: VOTE }),
    granted('ERC721', { from: OWNER, to: VOTER, tokenId: LONG_ID, rights: UNREADABLE }),
    granted('ERC20', { from: OWNER, to: VOTER, amount: 100n }),
  ],
  10: [
    granted('TOKEN', { from: OWNER, to: VOTER, tokenId: LONG_ID }),
    granted('ERC721', { from: OWNER, to: VOTER, tokenId: LONG_ID }),
    granted('ERC1155', { from: OWNER, to: VOTER, tokenId: LONG_ID, amount: MAX_UINT256, rights: EXPIRING }),
  ],
  137: [
    ...BUSY_GRANTS,
    granted('CONTRACT', { from: address(0x50), to: OWNER }),
    granted('ALL', { from: address(0x51), to: OWNER, rights: FORMULA }),
  ],
  8453: [granted('CONTRACT', { from: OWNER, to: VOTER, rights: FORMULA })],
};

/** Fills the chains. On chain 1 an amount changes and a grant ends. */
export async function fillWalletChains(store: Store): Promise<void> {
  for (const chainId of CHAINS) {
    if (chainId === AWAY) continue;
    const { epoch } = await store.claim(chainId, 100, chainId === PARTIAL);
    const later = [
      granted('ERC20', { from: OWNER, to: VOTER, amount: 250n }),
      granted('ALL', { from: OWNER, to: address(0x60) }),
    ];
    const blocks = [
      block(101, GRANTS[chainId] ?? []),
      block(102, chainId === 1 ? later : []),
      block(103, chainId === 1 ? [ended('ALL', { from: OWNER, to: address(0x60) })] : []),
    ];
    await store.apply({ chainId, epoch, after: null, blocks, head: block(103) });
  }
}

/** Three days after the last block. */
export const NOW = timeOf(103) + 3 * 86_400 + 60;

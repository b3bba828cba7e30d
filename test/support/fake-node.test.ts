// Compares the fake node's storage with our own contract on a real EVM.

import { expect, test } from 'bun:test';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import { delegateVersionSlot as versionSlot } from '../../src/registry/storage.ts';
import { startEvm } from '../../src/sandbox/evm.ts';
import { prepareWallets, SMART, send } from './evm-wallets.ts';
import { createChainMaker, type FakeBlock, type FakeCall, startFakeNode } from './fake-node.ts';
import { MAINNET } from './vectors.ts';
import { WALLETS } from './wallets.ts';

const [A, B] = WALLETS;
const grant = (from: string, to: string): RegistryCall => ['v1', from, 'delegateForAll', [to, true]];
const revoke = (from: string, to: string): RegistryCall => ['v1', from, 'revokeDelegate', [to]];
const revokeSelf = (delegate: string, from: string): RegistryCall => ['v1', delegate, 'revokeSelf', [from]];

/** The calls of each block; the smart account's calls in one block share a transaction. */
const BLOCKS: readonly (readonly RegistryCall[])[] = [
  [grant(A, B)],
  [revoke(A, B)],
  // Never granted.
  [revoke(B, A)],
  [revokeSelf(A, B)],
  // Through the smart account, twice the same pair and once another.
  [grant(SMART, A), revoke(SMART, A), revoke(SMART, A), revoke(SMART, B)],
  [revokeSelf(SMART, A)],
  // A wallet that revokes itself, both ways.
  [revoke(A, A)],
  [revokeSelf(A, A)],
  // These do not change the count of any pair.
  [['v1', A, 'revokeAllDelegates', []]],
  [['v1', A, 'delegateForAll', [B, false]]],
  [['v2', A, 'delegateAll', [B, `0x${'0'.repeat(64)}`, false]]],
];

test('the fake node counts revocations per pair in the same slots as the contract, block by block', async () => {
  const evm = await startEvm();
  const maker = createChainMaker(1);
  const node = startFakeNode();
  try {
    const { rpc } = evm;
    await prepareWallets(rpc);
    await rpc.call('evm_setAutomine', [false]);
    const pairs = WALLETS.flatMap((vault) => WALLETS.map((delegate) => versionSlot(vault, delegate)));
    const registry = MAINNET.registries[1];
    let before = 0;
    for (const calls of [[], ...BLOCKS]) {
      if (calls.length > 0) await send(rpc, calls);
      await rpc.call('evm_mine', []);
      const fake = calls.map((call): FakeCall => ({ call, direct: false }));
      const tip = maker.block(node.chain.at(-1) ?? null, fake);
      node.chain = [...node.chain, tip];
      const theirs = await rpc.batch(
        pairs.map((slot) => ({ method: 'eth_getStorageAt', params: [registry, slot, 'latest'] })),
      );
      const ours = (tag: unknown) =>
        pairs.map((slot) => node.answer({ method: 'eth_getStorageAt', params: [registry, slot, tag] }));
      expect(ours('latest')).toEqual(theirs);
      expect(ours({ blockHash: tip.hash })).toEqual(theirs);
      const sum = theirs.reduce((all: number, one) => all + Number(one), 0);
      const revokes = calls.filter(([, , name]) => name === 'revokeDelegate' || name === 'revokeSelf').length;
      expect(sum - before).toBe(revokes);
      before = sum;
    }
    expect(before).toBe(9);
    // Another branch has its own counts.
    const [first] = node.chain as [FakeBlock];
    const other = maker.block(first, [{ call: revoke(A, B), direct: true }]);
    expect(other.storage?.(versionSlot(A, B))).toBe(`0x${'1'.padStart(64, '0')}`);
    expect(other.storage?.(versionSlot(B, A))).toBe(`0x${'0'.repeat(64)}`);
  } finally {
    await node.stop();
    await evm.stop();
  }
});

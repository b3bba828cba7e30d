// From owners to a claim on a real EVM: the tree of the allowlist, its proofs, and a contract that verifies them.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { encodeFunctionData, parseAbi } from 'viem';
import artifacts from '../contracts/artifacts.json' with { type: 'json' };
import { checksummed } from '../src/registry/checksum.ts';
import type { Address } from '../src/registry/delegation.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { openStore } from '../src/store/open.ts';
import { newChain } from './support/chain.ts';
import { codeBlock } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { fund } from './support/evm-wallets.ts';
import { address, block, granted } from './support/fixtures.ts';
import { runCommand } from './support/serve-process.ts';

const PAGE = 'docs/integrating.md';
const CLAIM: Address = `0x${'75'.repeat(20)}`;
const ABI = parseAbi([
  'function setRoot(bytes32 value)',
  'function claim(uint256 amount, bytes32[] proof)',
  'function claimed(address) view returns (uint256)',
]);
const [VAULT, OTHER, HOT, ALONE, NOBODY] = [1, 2, 3, 4, 5].map((of) => address(0xabc0 + of)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

let evm: Evm;
beforeAll(async () => {
  evm = await startEvm();
  await evm.rpc.call('hardhat_setCode', [CLAIM, artifacts.Claim.code]);
  await fund(evm.rpc, [VAULT, HOT, ALONE, NOBODY]);
});
afterAll(() => evm.stop());

const send = (from: Address, data: string) =>
  evm.rpc.call('eth_sendTransaction', [{ from, to: CLAIM, data, gas: '0x2dc6c0' }]);
const claimedBy = async (wallet: Address) => {
  const data = encodeFunctionData({ abi: ABI, functionName: 'claimed', args: [wallet] });
  return BigInt((await evm.rpc.call('eth_call', [{ to: CLAIM, data }, 'latest'])) as string);
};

test('each claimant of the list claims once, and nobody else', async () => {
  const url = `sqlite:${temporaryPath('claim.db')}`;
  const store = await openStore(url);
  const chain = await newChain(store, 1);
  const grants = [granted('ALL', { from: VAULT, to: HOT }), granted('ALL', { version: 1, from: OTHER, to: HOT })];
  await chain.add([block(101, grants), block(105)], { verified: 105 });
  await store.close();
  const [owners, tree] = [temporaryPath('owners.csv'), temporaryPath('tree.json')];
  writeFileSync(owners, `owner,amount\n${VAULT},10\n${OTHER},7\n${ALONE},5\n`);
  // The command of the documentation, for these owners.
  const { text } = codeBlock(PAGE, 'delegations allowlist');
  const words = (text.split(' > ')[0] ?? '').split(' ').slice(1);
  const own: Readonly<Record<string, string>> = { 'owners.csv': owners, 'tree.json': tree, '20000000': '105' };
  const { code } = await runCommand(
    words.map((word) => own[word] ?? word),
    { DATABASE_URL: url },
  );
  expect(code).toBe(0);

  const loaded = StandardMerkleTree.load<[Address, string]>(await Bun.file(tree).json());
  await send(HOT, encodeFunctionData({ abi: ABI, functionName: 'setRoot', args: [loaded.root as Address] }));
  const claimOf = (wallet: Address, amount: string) => {
    const found = [...loaded.entries()].find(([, [claimant]]) => claimant === wallet);
    const proof = (found === undefined ? [] : loaded.getProof(found[0])) as Address[];
    return encodeFunctionData({ abi: ABI, functionName: 'claim', args: [BigInt(amount), proof] });
  };
  // As the page of the documentation does.
  const page = `${import.meta.dir}/support/claim-page-${process.pid}.ts`;
  writeFileSync(page, codeBlock(PAGE, 'function claimOf').text);
  try {
    const { claimOf: shown } = await import(page);
    const file = await Bun.file(tree).json();
    for (const wallet of [HOT, ALONE]) {
      const { amount, proof } = shown(file, checksummed(wallet));
      await send(wallet, encodeFunctionData({ abi: ABI, functionName: 'claim', args: [amount, proof] }));
    }
    expect(shown(file, VAULT)).toBeNull();
  } finally {
    rmSync(page);
  }
  expect(await Promise.all([HOT, ALONE, VAULT].map(claimedBy))).toEqual([17n, 5n, 0n]);
  for (const [from, data, why] of [
    [HOT, claimOf(HOT, '17'), 'claimed before'],
    [VAULT, claimOf(VAULT, '10'), 'not in the list'],
    [NOBODY, claimOf(HOT, '17'), 'not in the list'],
    [ALONE, claimOf(ALONE, '6'), 'not in the list'],
  ] as const)
    await expect(send(from, data)).rejects.toThrow(why);
});

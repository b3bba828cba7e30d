// Calls the view functions of both registries and Multicall3 with viem, as wallets and SDKs do.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPublicClient, type Hex, http, multicall3Abi, type PublicClient, parseAbi } from 'viem';
import { mainnet } from 'viem/chains';
import { encodeCall, type RegistryCall } from '../src/registry/registry-call.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { MAINNET } from '../test/support/vectors.ts';

const [V1, V2] = [MAINNET.registries[1], MAINNET.registries[2]] as [Hex, Hex];
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
/** Accounts of the local chain. */
const VAULT = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const [A, B, C] = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const NFT: Hex = `0x${'dd'.repeat(20)}`;
const [NONE, VOTE] = ['', '766f7465'].map((hex) => `0x${hex.padEnd(64, '0')}`) as [Hex, Hex];

const V1_VIEWS = parseAbi([
  'function getDelegatesForAll(address vault) view returns (address[])',
  'function getDelegatesForContract(address vault, address contract_) view returns (address[])',
  'function getDelegatesForToken(address vault, address contract_, uint256 tokenId) view returns (address[])',
]);
const V2_VIEWS = parseAbi([
  'struct Delegation { uint8 type_; address to; address from; bytes32 rights; address contract_; uint256 tokenId; uint256 amount; }',
  'function checkDelegateForAll(address to, address from, bytes32 rights) view returns (bool)',
  'function getIncomingDelegations(address to) view returns (Delegation[])',
  'function getOutgoingDelegations(address from) view returns (Delegation[])',
  'function getIncomingDelegationHashes(address to) view returns (bytes32[])',
  'function getOutgoingDelegationHashes(address from) view returns (bytes32[])',
  'function getDelegationsFromHashes(bytes32[] hashes) view returns (Delegation[])',
  'function readSlot(bytes32 location) view returns (bytes32)',
  'function readSlots(bytes32[] locations) view returns (bytes32[])',
]);
const v1 = { address: V1, abi: V1_VIEWS } as const;
const v2 = { address: V2, abi: V2_VIEWS } as const;

let evm: Evm;
let client: PublicClient;
beforeAll(async () => {
  evm = await startEvm();
  client = createPublicClient({ chain: mainnet, transport: http(evm.url) }) as PublicClient;
});
afterAll(() => evm.stop());

async function send(registry: 'v1' | 'v2', name: string, args: RegistryCall[3]): Promise<void> {
  const data = encodeCall([registry, VAULT, name, args]);
  await evm.rpc.call('eth_sendTransaction', [{ from: VAULT, to: registry === 'v1' ? V1 : V2, data }]);
}
const lower = (addresses: readonly string[]) => addresses.map((one) => one.toLowerCase());

test('v1: delegates are listed for exactly the vault, the contract or the token that they were granted', async () => {
  await send('v1', 'delegateForAll', [A, true]);
  await send('v1', 'delegateForContract', [B, NFT, true]);
  await send('v1', 'delegateForContract', [C, NFT, true]);
  await send('v1', 'delegateForToken', [A, NFT, '7', true]);
  await send('v1', 'delegateForToken', [C, NFT, '8', true]);
  await send('v1', 'delegateForContract', [C, NFT, false]);
  const ofContract = (contract: Hex) =>
    client.readContract({ ...v1, functionName: 'getDelegatesForContract', args: [VAULT, contract] });
  const ofToken = (id: bigint) =>
    client.readContract({ ...v1, functionName: 'getDelegatesForToken', args: [VAULT, NFT, id] });
  expect(lower(await client.readContract({ ...v1, functionName: 'getDelegatesForAll', args: [VAULT] }))).toEqual([A]);
  expect(lower(await ofContract(NFT))).toEqual([B]);
  expect(await ofContract(A)).toEqual([]);
  expect(lower(await ofToken(7n))).toEqual([A]);
  expect(lower(await ofToken(8n))).toEqual([C]);
  expect(await ofToken(9n)).toEqual([]);
});

test('v2: hashes lead to the active delegations, in the order of the hashes', async () => {
  await send('v2', 'delegateAll', [A, VOTE, true]);
  await send('v2', 'delegateContract', [A, NFT, NONE, true]);
  await send('v2', 'delegateERC20', [A, NFT, NONE, '50']);
  await send('v2', 'delegateERC20', [A, NFT, NONE, '70']);
  await send('v2', 'delegateERC721', [A, NFT, '7', NONE, true]);
  await send('v2', 'delegateERC721', [A, NFT, '7', NONE, false]);
  const incoming = await client.readContract({ ...v2, functionName: 'getIncomingDelegationHashes', args: [A] });
  const outgoing = await client.readContract({ ...v2, functionName: 'getOutgoingDelegationHashes', args: [VAULT] });
  const list = await client.readContract({ ...v2, functionName: 'getIncomingDelegations', args: [A] });
  expect(incoming).toEqual(outgoing);
  // The last byte of a hash is the type.
  expect(incoming.map((hash) => hash.slice(-2))).toEqual(['01', '02', '04']);
  expect(list.map(({ type_, rights, amount }) => [type_, rights, amount])).toEqual([
    [1, VOTE, 0n],
    [2, NONE, 0n],
    [4, NONE, 70n],
  ]);
  const get = (hashes: Hex[]) =>
    client.readContract({ ...v2, functionName: 'getDelegationsFromHashes', args: [hashes] });
  expect(await get([...incoming])).toEqual([...list]);
  const [, unknown, last] = await get([incoming[0] as Hex, NONE, incoming[2] as Hex]);
  expect([unknown?.type_, unknown?.amount, last?.amount]).toEqual([0, 0n, 70n]);
});

test('v2: slots are those of its storage; both registries support ERC-165', async () => {
  const slot = await client.readContract({ ...v2, functionName: 'readSlot', args: [VOTE] });
  const slots = await client.readContract({ ...v2, functionName: 'readSlots', args: [[NONE, VOTE]] });
  expect([slot, slots[1]]).toEqual([NONE, (await client.getStorageAt({ address: V2, slot: VOTE })) as Hex]);
  const abi = parseAbi(['function supportsInterface(bytes4 id) view returns (bool)']);
  for (const address of [V1, V2])
    for (const [id, answer] of [
      ['0x01ffc9a7', true],
      ['0xffffffff', false],
    ] as const)
      expect(await client.readContract({ address, abi, functionName: 'supportsInterface', args: [id] })).toBe(answer);
});

test("viem's multicall uses Multicall3 at its usual address, and one call may fail", async () => {
  const [check, failed, list] = await client.multicall({
    contracts: [
      { ...v2, functionName: 'checkDelegateForAll', args: [A, VAULT, VOTE] },
      { address: V2, abi: parseAbi(['function nothing() view returns (bool)']), functionName: 'nothing' },
      { ...v1, functionName: 'getDelegatesForAll', args: [VAULT] },
    ],
  });
  expect([check.status, check.result]).toEqual(['success', true]);
  expect(failed.status).toBe('failure');
  expect(lower(list.result ?? [])).toEqual([A]);
});

test('every other function of Multicall3 answers as its ABI says', async () => {
  const abi = parseAbi([
    'struct Call { address target; bytes callData; }',
    'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
    'struct Result { bool success; bytes returnData; }',
    'function aggregate(Call[] calls) view returns (uint256 blockNumber, bytes[] returnData)',
    'function tryAggregate(bool requireSuccess, Call[] calls) view returns (Result[])',
    'function blockAndAggregate(Call[] calls) view returns (uint256, bytes32, Result[])',
    'function tryBlockAndAggregate(bool requireSuccess, Call[] calls) view returns (uint256, bytes32, Result[])',
    'function aggregate3Value(Call3Value[] calls) payable returns (Result[])',
    'function getBlockHash(uint256 blockNumber) view returns (bytes32)',
    'function getBlockNumber() view returns (uint256)',
    'function getCurrentBlockCoinbase() view returns (address)',
    'function getCurrentBlockDifficulty() view returns (uint256)',
    'function getCurrentBlockGasLimit() view returns (uint256)',
    'function getCurrentBlockTimestamp() view returns (uint256)',
    'function getEthBalance(address addr) view returns (uint256)',
    'function getLastBlockHash() view returns (bytes32)',
    'function getBasefee() view returns (uint256)',
    'function getChainId() view returns (uint256)',
  ]);
  const at = await client.getBlock();
  const parent = await client.getBlock({ blockHash: at.parentHash });
  const options = { address: MULTICALL3, abi, blockNumber: at.number } as const;
  const read = (functionName: string, args: readonly unknown[] = []) =>
    client.readContract({ ...options, functionName, args } as never);
  const good = { target: V1, callData: encodeCall(['v1', A, 'revokeSelf', [VAULT]]) };
  const bad = { target: V1, callData: '0x12345678' };
  const done = { success: true, returnData: '0x' };
  const undone = { success: false, returnData: '0x' };
  expect(await read('aggregate', [[good]])).toEqual([at.number, ['0x']] as never);
  expect(await read('tryAggregate', [false, [good, bad]])).toEqual([done, undone] as never);
  // A block does not know its own hash.
  expect(await read('blockAndAggregate', [[good]])).toEqual([at.number, NONE, [done]] as never);
  expect(await read('tryBlockAndAggregate', [false, [bad]])).toEqual([at.number, NONE, [undone]] as never);
  for (const [name, args] of [
    ['aggregate', [[bad]]],
    ['tryAggregate', [true, [bad]]],
    ['blockAndAggregate', [[bad]]],
  ] as const)
    expect(read(name, args)).rejects.toThrow('Multicall3: call failed');
  const values: Record<string, unknown> = {
    getBlockNumber: at.number,
    getCurrentBlockTimestamp: at.timestamp,
    getCurrentBlockGasLimit: at.gasLimit,
    getLastBlockHash: parent.hash,
    getChainId: 1n,
  };
  for (const [name, value] of Object.entries(values)) expect([name, await read(name)]).toEqual([name, value]);
  expect(await read('getBlockHash', [parent.number])).toBe(parent.hash as never);
  expect(await read('getEthBalance', [VAULT])).toBe((await client.getBalance({ address: VAULT })) as never);
  expect(String(await read('getCurrentBlockCoinbase')).toLowerCase()).toBe(at.miner.toLowerCase());
  for (const name of ['getCurrentBlockDifficulty', 'getBasefee']) expect(typeof (await read(name))).toBe('bigint');
  const pay = (value: bigint) =>
    client.simulateContract({
      ...options,
      account: VAULT,
      functionName: 'aggregate3Value',
      args: [[{ target: C, allowFailure: false, value: 5n, callData: '0x' }]],
      value,
    });
  expect((await pay(5n)).result).toEqual([{ success: true, returnData: '0x' }]);
  expect(pay(6n)).rejects.toThrow('Multicall3: value mismatch');
  expect(
    (await client.readContract({ address: MULTICALL3, abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' })) >
      0n,
  ).toBe(true);
});

import { expect, test } from 'bun:test';
import { type FakeNode, startFakeNode } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { checksummed } from '../../registry/checksum.ts';
import { parseNetwork } from '../../registry/custom-network.ts';
import type { Address } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { Untrusted, WrongChain } from './errors.ts';
import { createProviderPool } from './provider-pool.ts';
import { RpcError } from './rpc.ts';

type Nodes = readonly [FakeNode, FakeNode];
const poolOf = (nodes: Nodes, options?: Parameters<typeof createProviderPool>[2]) =>
  createProviderPool(
    MAINNET,
    nodes.map(({ url }) => url),
    options,
  );

/** The second of two providers, which is compared with and does not answer any more. */
async function startGoneSecond() {
  const nodes: Nodes = [startFakeNode([], 'process'), startFakeNode()];
  const pool = poolOf(nodes);
  const [second] = await pool.others(await pool.pick(0), 0);
  await nodes[1].stop();
  await expect(second?.node.chainId()).rejects.toThrow('Cannot connect');
  return { second, stop: () => nodes[0].stop() };
}

test('a provider that changed to another chain is asked nothing until it is back', async () => {
  const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
  const pool = poolOf(nodes, { random: () => 0.5 });
  const othersAt = async (ms: number) => {
    const first = await pool.pick(ms);
    return [first.name, (await pool.others(first, ms)).map(({ name }) => name)];
  };
  expect(await othersAt(0)).toEqual(['1/1', ['1/2']]);
  nodes[0].chainId = 5;
  pool.failed({ name: '1/1' }, new WrongChain(5), 0);
  expect(await othersAt(60_000)).toEqual(['1/2', []]);
  nodes[0].chainId = 1;
  expect(await othersAt(120_000)).toEqual(['1/2', ['1/1']]);
  for (const node of nodes) await node.stop();
});

test('a provider without the registries of a network that an operator named is not used until it has them', async () => {
  const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
  const named = parseNetwork(1, 'Own,2s,v1') as Network;
  const pool = createProviderPool(named, [nodes[0].url, nodes[1].url], { random: () => 0.5 });
  const [one, two] = nodes;
  let missing: unknown = named.registries[2];
  one.fault = ({ method }, honest) => (method === 'eth_getCode' ? '0x60' : honest());
  two.fault = ({ method, params }, honest) =>
    method === 'eth_getCode' ? (params[0] === missing ? '0x' : '0x60') : honest();
  const first = await pool.pick(0);
  expect([first.name, await pool.others(first, 0)]).toEqual(['1/1', []]);
  const [, second] = pool.all;
  expect(second?.failure).toMatchObject({
    cause: 'no-registry',
    message: `chain 1 has no code at ${checksummed(named.registries[2] as Address)}, the address of registry v2: correct NETWORK_1`,
  });
  missing = null;
  await pool.others(await pool.pick(60_000), 60_000);
  expect(second?.failure).toBeNull();
  for (const node of [one, two]) await node.stop();
});

test('one that was wrong is read from again only after more failures of the other than one', async () => {
  const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
  const pool = poolOf(nodes, { random: () => 0.5 });
  const picked: string[] = [];
  pool.failed({ name: '1/1' }, new Untrusted('wrong logs'), 0);
  for (let turn = 1; turn < 5; turn++) {
    picked.push((await pool.pick(turn * 60_000)).name);
    pool.failed({ name: '1/2' }, new RpcError('unreachable', 'no answer'), turn * 60_000);
  }
  expect(picked).toEqual(['1/2', '1/2', '1/2', '1/2']);
  pool.failed({ name: '1/2' }, new RpcError('unreachable', 'no answer'), 300_000);
  expect((await pool.pick(360_000)).name).toBe('1/1');
  for (const node of nodes) await node.stop();
});

test('a tick waits only once for a provider that it compares with', async () => {
  const { second, stop } = await startGoneSecond();
  await expect(second?.node.chainId()).rejects.toThrow('is backing off');
  await stop();
});

test('what a provider that is compared with does not answer says nothing about the size of ranges', async () => {
  const { second, stop } = await startGoneSecond();
  for (let turn = 0; turn < 2; turn++) await expect(second?.scanner.fetchLogs(1, 300)).rejects.toThrow('backing off');
  expect(second?.scanner.rangeSize()).toBe(2000);
  await stop();
});

test('a range that a provider finds too large, and then reads in parts, is no failure', async () => {
  const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
  nodes[1].fault = ({ method, params }, honest) =>
    method === 'eth_getLogs' && Number(params[0].toBlock) - Number(params[0].fromBlock) >= 100
      ? new Response('range too large', { status: 400 })
      : honest();
  const failures: string[] = [];
  const pool = poolOf(nodes, { onFailure: (provider) => failures.push(provider) });
  const [second] = await pool.others(await pool.pick(0), 0);
  expect(await second?.scanner.fetchLogs(1, 300)).toEqual([]);
  expect(failures).toEqual([]);
  expect(second?.scanner.rangeSize()).toBeLessThan(150);
  for (const node of nodes) await node.stop();
});

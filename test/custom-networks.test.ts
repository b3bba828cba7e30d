// Chains that are not in the table of networks, on real EVMs with ids of their own: one with v2 only, one with both registries, and
// three of which something is wrong. One service follows them all; other processes know them from its database.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient } from '../client/src/client.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, NO_RIGHTS } from '../src/registry/delegation.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { deployTokens, sendToken, TOKENS } from './support/evm-tokens.ts';
import { fund, OWNER, send } from './support/evm-wallets.ts';
import { type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { runCommand, type ServeProcess, startServe } from './support/serve-process.ts';
import { MAINNET } from './support/vectors.ts';

const [V2_ONLY, BOTH, EMPTY, WRONG, DOWN] = [69_000, 69_001, 69_002, 69_003, 69_004] as const;
const SECRET = 'SECRET-KEY-123';
const COLD: Address = `0x${'c0'.repeat(20)}`;
const HOT: Address = `0x${'d4'.repeat(20)}`;
/** Of chains of the zkSync type. */
const OTHER_V2 = '0x0000000059A24EB229eED07Ac44229DB56C5d797';

const DATABASE_URL = `sqlite:${temporaryPath('custom.db')}`;
let evms: readonly [Evm, Evm];
let proxy: RpcProxy;
let served: ServeProcess;

/** What an operator sets for a chain. */
const settingsOf = (chainId: number, network: string, url: string) => ({
  [`NETWORK_${chainId}`]: network,
  [`RPC_URL_${chainId}`]: `${url}/${SECRET}`,
  [`POLL_INTERVAL_${chainId}`]: '100',
});

beforeAll(async () => {
  evms = await Promise.all([startEvm({ chainId: V2_ONLY }), startEvm({ chainId: BOTH })]);
  const [one, both] = evms;
  await one.rpc.call('hardhat_setCode', [MAINNET.registries[1], '0x']);
  for (const { rpc } of evms) {
    await fund(rpc, [COLD, OWNER]);
    await rpc.call('evm_mine', []);
    await send(rpc, [['v2', COLD, 'delegateAll', [HOT, NO_RIGHTS, true]]]);
  }
  await send(both.rpc, [['v1', COLD, 'delegateForAll', [HOT, true]]]);
  await deployTokens(one.rpc);
  await sendToken(one.rpc, 'Collection', 'mint721', [COLD, 7n]);
  // A node of another chain, as far as anyone can see. It has nothing at the other address of v2.
  proxy = startRpcProxy(one.url);
  proxy.lies = ({ method }) => (method === 'eth_chainId' ? `0x${EMPTY.toString(16)}` : undefined);
  served = await startServe(DATABASE_URL, {
    OWNERSHIP: 'on',
    ...settingsOf(V2_ONLY, 'Animechain,2s,explorer=https://scan.example', one.url),
    ...settingsOf(BOTH, 'Old chain,12s,v1', both.url),
    ...settingsOf(EMPTY, 'Empty,2s,zksync', proxy.url),
    // It would be indexed from here on, and answer no to everything, if nobody looked for the code.
    [`START_BLOCK_${EMPTY}`]: '1',
    ...settingsOf(WRONG, 'Wrong,2s', one.url),
    ...settingsOf(DOWN, 'Down,2s', 'http://127.0.0.1:9'),
  });
  for (const [chainId, { rpc }] of [
    [V2_ONLY, one],
    [BOTH, both],
  ] as const) {
    const path = `${checkOf(chainId, 2)}&block=${Number(await rpc.call('eth_blockNumber', []))}`;
    await eventually(`chain ${chainId} is indexed`, async () => (await get(path)).status === 200);
  }
});
afterAll(async () => {
  await served.stop();
  await proxy.stop();
  for (const evm of evms) await evm.stop();
});

const checkOf = (chainId: number, version: 1 | 2) =>
  version === 1
    ? `/registry/v1/check/all?delegate=${HOT}&vault=${COLD}&chainId=${chainId}`
    : `/registry/v2/check/all?to=${HOT}&from=${COLD}&chainId=${chainId}`;

async function get(path: string, { url }: Pick<ServeProcess, 'url'> = served, init?: RequestInit) {
  const response = await fetch(url + path, init);
  return { status: response.status, text: await response.text() };
}
const jsonOf = async (path: string, init?: RequestInit) => JSON.parse((await get(path, served, init)).text);

describe('a chain that is not in the table', () => {
  test('is answered for, now and at a block, by the registries that it has', async () => {
    for (const chainId of [V2_ONLY, BOTH]) {
      expect(await get(checkOf(chainId, 2))).toEqual({ status: 200, text: 'true' });
      expect(await get(`${checkOf(chainId, 2)}&block=1`)).toEqual({ status: 200, text: 'false' });
    }
    expect(await get(checkOf(BOTH, 1))).toEqual({ status: 200, text: 'true' });
    const missing = await get(checkOf(V2_ONLY, 1));
    expect(missing.status).toBe(400);
    expect(missing.text).toContain('69000 has no v1 registry');
  });

  test('is in /networks, with the numbers that follow from its block time', async () => {
    const networks: { chainId: number }[] = await jsonOf('/networks');
    expect(networks.map(({ chainId }) => chainId)).toEqual([V2_ONLY, BOTH, EMPTY, WRONG, DOWN]);
    const [v1, v2] = [1, 2].map((version) => checksummed(MAINNET.registries[version as 1 | 2] as Address));
    const indexed = { ready: true, partial: false, testnet: null };
    expect(networks.slice(0, 2)).toMatchObject([
      { ...indexed, name: 'Animechain', registries: { v1: null, v2 }, maxLagSeconds: 60 },
      { ...indexed, name: 'Old chain', registries: { v1, v2 }, maxLagSeconds: 120 },
    ]);
  });

  test('is part of batches, of lists of several chains, and of the feed', async () => {
    const questions = [V2_ONLY, BOTH, 69_009].map((chainId) => ({ check: 'all', from: COLD, to: HOT, chainId }));
    const body = JSON.stringify({ questions });
    const headers = { 'content-type': 'application/json' };
    const { answers } = await jsonOf('/registry/any/check', { method: 'POST', headers, body });
    expect(answers).toMatchObject([{ result: true }, { result: true }, { problem: { status: 400 } }]);
    const two = `chainId=${V2_ONLY},${BOTH}`;
    type Rows = { chainId: number; grants: { version: number }[] }[];
    const { vaults }: { vaults: Rows } = await jsonOf(`/registry/any/vaults/${HOT}?${two}`);
    expect(vaults.map(({ chainId, grants }) => [chainId, grants.map(({ version }) => version)])).toEqual([
      [V2_ONLY, [2]],
      [BOTH, [2, 1]],
    ]);
    const { changes } = await jsonOf(`/registry/any/changes?${two}`);
    const change = (chainId: number, version: 1 | 2) => ({ type: 'began', chainId, delegation: { version } });
    expect(changes).toMatchObject([change(V2_ONLY, 2), change(BOTH, 2), change(BOTH, 1)]);
  });

  test('has token gates', async () => {
    const query = `contract=${TOKENS.Collection}&tokenId=7&chainId=${V2_ONLY}`;
    const { holds, holders } = await jsonOf(`/registry/any/holders/${HOT}?${query}`);
    expect([holds, holders]).toMatchObject([true, [{ owner: checksummed(COLD), delegations: [{ type: 'ALL' }] }]]);
  });

  test('has pages, with its name and its explorer', async () => {
    const wallet = (await get(`/?wallet=${HOT}`)).text;
    expect(wallet).toContain(`<option value="${V2_ONLY}">Animechain</option>`);
    expect(wallet).toContain(`href="https://scan.example/address/${checksummed(COLD)}"`);
    const status = (await get('/status')).text;
    for (const name of ['Animechain', 'Old chain', 'Empty']) expect(status).toContain(name);
    expect((await get(`/revoke?wallet=${COLD}&chain=${V2_ONLY}`)).text).toContain('Animechain');
  });

  test('is known to the client, and to processes that have only the database', async () => {
    const client = createClient({ url: served.url });
    expect(await client.check.all({ from: COLD, to: HOT, chainId: V2_ONLY })).toBe(true);
    const check = ['check', '--from', COLD, '--to', HOT, '--chain', String(V2_ONLY)];
    expect(await runCommand([...check, '--url', served.url])).toMatchObject({ code: 0, stderr: '' });
    expect(await runCommand(check, { DATABASE_URL })).toMatchObject({ code: 0, stderr: '' });
    // Its history is not final yet.
    const { stderr } = await runCommand(['export', '--chain', String(V2_ONLY)], { DATABASE_URL });
    expect(stderr).toBe('Chain 69000 has no finalized blocks in this store yet.\n');
    const rewind = await runCommand(['rewind', '--chain', String(V2_ONLY), '--to', '99'], { DATABASE_URL });
    expect(rewind.stderr).toStartWith('Nothing to roll back: chain 69000 is at block');
    const api = await startServe(DATABASE_URL, {}, 'api', '--workers', '2');
    try {
      expect(await get(checkOf(BOTH, 1), api)).toEqual({ status: 200, text: 'true' });
      expect((await get(checkOf(V2_ONLY, 1), api)).text).toContain('69000 has no v1 registry');
      expect((await get('/status', api)).text).toContain('Animechain');
      expect(await (await fetch(api.metricsUrl)).text()).toContain('delegations_chain_head{chain="69000"}');
    } finally {
      await api.stop();
    }
  });
});

test('a wrong address and a wrong chain are named, with chain and provider; a node that is down is neither', async () => {
  const causes = { [EMPTY]: 'no-registry', [WRONG]: 'wrong-chain', [DOWN]: 'connection-refused' };
  for (const [chainId, cause] of Object.entries(causes)) {
    const { status, text } = await get(checkOf(Number(chainId), 2));
    expect(status).toBe(503);
    expect(text).toContain(`${chainId}/1 ${cause}`);
  }
  const told = new Map<unknown, Readonly<Record<string, unknown>>>();
  for await (const line of served.lines) {
    if (line['message'] === 'provider unhealthy') told.set(line['chainId'], line);
    expect(JSON.stringify(line)).not.toContain(SECRET);
    if (told.size === 3) break;
  }
  expect(told.get(EMPTY)).toMatchObject({
    provider: '69002/1',
    error: `chain 69002 has no code at ${OTHER_V2}, the address of registry v2: correct NETWORK_69002`,
  });
  expect(told.get(WRONG)).toMatchObject({ provider: '69003/1', error: 'the provider serves chain 69000' });
  expect(told.get(DOWN)).toMatchObject({ provider: '69004/1', cause: 'connection-refused' });
});

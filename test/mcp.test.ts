// Tests the MCP server with the official client: every tool and its errors, over HTTP and stdio, in both eras of the protocol.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { checksummed } from '../src/registry/checksum.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT } from './support/fixtures.ts';
import { createRandom } from './support/random.ts';
import { PROGRAM, type ServeProcess, startServe } from './support/serve-process.ts';

const HOLDER = address(9);
const STRANGER = address(77);
const DATABASE = `sqlite:${temporaryPath('mcp.db')}`;
const LAG = { MAX_LAG_1: '86400' };
let served: ServeProcess;
let off: ServeProcess;

beforeAll(async () => {
  const store = await openStore(DATABASE);
  const { epoch } = await store.claim(1, 100);
  const now = Math.floor(Date.now() / 1000);
  const blocks = [
    block(101, [granted('ALL')]),
    block(102, [granted('ERC20', { to: HOLDER, amount: 2n ** 200n })]),
    block(103, [granted('ERC721', { to: HOLDER, tokenId: 2n ** 255n })]),
    block(104, [granted('ALL', { to: STRANGER })]),
    block(105, [ended('ALL', { to: STRANGER })]),
  ].map((one) => ({ ...one, timestamp: now - 60 + one.number - 100 }));
  const head = blocks.at(-1) as (typeof blocks)[number];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head });
  await store.close();
  served = await startServe(DATABASE, { ...LAG, MCP: 'on', ANONYMOUS_LIMIT: '5000/10s' });
  off = await startServe(DATABASE, LAG);
});
afterAll(async () => {
  await served.stop();
  await off.stop();
});

const overHttp = (url: string) => new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
const [command = '', ...first] = PROGRAM;
const onStdio = (args: readonly string[], environment: Record<string, string>) =>
  new StdioClientTransport({
    command,
    args: [...first, 'mcp', ...args],
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stderr: 'inherit',
  });

type Called = Readonly<Record<string, unknown>> & { readonly error?: string | undefined };

async function connect(transport: Transport, mode: 'legacy' | 'auto' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

const TRANSPORTS: readonly (readonly [string, () => Transport])[] = [
  ['HTTP', () => overHttp(served.url)],
  ['stdio with --url', () => onStdio(['--url', served.url], {})],
  ['stdio on a database', () => onStdio([], { ...LAG, DATABASE_URL: DATABASE })],
];

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(open());
  });
  afterAll(() => client.close());

  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Called> => {
    const result = await client.callTool({ name, arguments: args });
    const [content] = result.content as { type: string; text: string }[];
    expect(content?.type).toBe('text');
    if (!result.isError) {
      expect(JSON.parse(content?.text ?? '')).toEqual(result.structuredContent);
      expect(result.content).toMatchObject([{}, { type: 'text', text: expect.stringContaining('not instructions') }]);
    }
    return {
      ...(result.structuredContent as Record<string, unknown>),
      error: result.isError ? content?.text : undefined,
    };
  };
  const BLOCK = { number: 105, hash: expect.any(String), timestamp: expect.any(Number) };

  test('offers ten tools that only read, with the parameters of the operations', async () => {
    const { tools } = await client.listTools();
    const alone = ['exclusive_wallet', 'exclusive_owner', 'exclusive_vaults'];
    const offered = ['may_act', 'explain', 'vaults', 'delegates', 'holders', ...alone, 'history', 'networks'];
    expect(tools.map(({ name }) => name)).toEqual(offered);
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
    const [mayAct, , vaults] = tools;
    expect(mayAct?.inputSchema).toMatchObject({ required: ['from', 'to'], additionalProperties: false });
    const names = ['check', 'to', 'from', 'rights', 'chainId', 'block', 'timestamp', 'contract', 'tokenId'];
    expect(Object.keys(mayAct?.inputSchema.properties ?? {})).toEqual(names);
    expect(vaults?.inputSchema.required).toEqual(['wallet']);
    expect(client.getInstructions()).toContain('An error means unknown, not no.');
  });

  test('exclusive_wallet says who alone acts', async () => {
    const itself = { delegated: false, delegation: null, expires: null, nextChange: null };
    expect(await call('exclusive_wallet', { vault: COLD })).toMatchObject(itself);
    expect(await call('exclusive_owner', { contract: CONTRACT, tokenId: '7', owner: COLD })).toMatchObject(itself);
    expect(await call('exclusive_vaults', { wallet: HOT, rights: 'text:vote' })).toMatchObject({
      vaults: [],
      next: null,
    });
  });

  test('may_act says yes and no, and names the block', async () => {
    const pair = { check: 'all', from: COLD, to: HOT };
    expect(await call('may_act', pair)).toEqual({ mayAct: true, result: true, chainId: 1, block: BLOCK });
    expect(await call('may_act', { ...pair, to: STRANGER })).toMatchObject({ mayAct: false, result: false });
    // What is asked follows from what is named.
    expect(await call('may_act', { from: COLD, to: HOT })).toMatchObject({ mayAct: true });
    expect(await call('may_act', { from: COLD, to: HOLDER, contract: CONTRACT })).toMatchObject({ mayAct: false });
    const then = await call('may_act', { ...pair, to: STRANGER, block: 104 });
    expect(then).toMatchObject({ mayAct: true, block: { number: 104 } });
  });

  test('may_act keeps every digit of balances and token ids', async () => {
    const pair = { from: COLD, to: HOLDER, contract: CONTRACT };
    expect(await call('may_act', { check: 'erc20', ...pair })).toMatchObject({
      mayAct: true,
      result: String(2n ** 200n),
    });
    expect(await call('may_act', { check: 'erc20', ...pair, to: HOT })).toMatchObject({ result: String(MAX_UINT256) });
    expect(await call('may_act', { check: 'erc20', ...pair, to: STRANGER })).toMatchObject({
      mayAct: false,
      result: '0',
    });
    const tokenId = String(2n ** 255n);
    expect(await call('may_act', { check: 'erc721', ...pair, tokenId })).toMatchObject({ mayAct: true });
    expect(await call('may_act', { check: 'erc721', ...pair, tokenId: 2 ** 255 })).toEqual({
      error: 'tokenId must be an integer below 2^53, or a string with all its digits.',
    });
  });

  test('explain adds the delegations', async () => {
    const answer = await call('explain', { check: 'contract', from: COLD, to: HOT, contract: CONTRACT });
    expect(answer).toMatchObject({ mayAct: true, block: BLOCK, delegations: [{ type: 'ALL', since: { block: 101 } }] });
  });

  test('vaults, delegates and history list wallets and grants, with their blocks', async () => {
    const chains = [{ chainId: 1, block: BLOCK }];
    const vaults = await call('vaults', { wallet: HOT });
    expect(vaults).toMatchObject({ complete: true, chains, vaults: [{ vault: checksummed(COLD), narrower: false }] });
    const delegates = await call('delegates', { wallet: COLD, narrower: true, limit: 1 });
    expect(delegates).toMatchObject({ complete: true, chains, delegates: [{ delegate: checksummed(HOT) }] });
    const rest = await call('delegates', { wallet: COLD, narrower: true, limit: 1, cursor: delegates['next'] });
    expect(rest).toMatchObject({ delegates: [{ delegate: checksummed(HOLDER), narrower: true }] });
    const history = await call('history', { wallet: STRANGER });
    expect(history).toMatchObject({ chains, grants: [{ since: { block: 104 }, until: { block: 105 } }] });
  });

  test('networks has the newest block of every chain', async () => {
    expect(await call('networks')).toMatchObject({ networks: [{ chainId: 1, head: { number: 105 } }] });
  });

  test('errors are tool errors with the text of the problem', async () => {
    const pair = { check: 'all', from: COLD, to: HOT };
    const errorOf = async (args: Record<string, unknown>, name = 'may_act') => (await call(name, args)).error;
    expect(await errorOf({ ...pair, to: '0x12' })).toBe(
      'Invalid request: to must be an address (0x and 40 hex digits), not "0x12"',
    );
    expect(await errorOf({ check: 'erc20', from: COLD, to: HOT })).toBe('Invalid request: contract is required');
    expect(await errorOf({ ...pair, chainId: 137 })).toBe(
      'Chain not served: chainId 137 is not served here. Served chains: 1',
    );
    expect(await errorOf({ ...pair, block: 106 })).toEndWith(': Chain 1 is indexed up to block 105.');
    expect(await errorOf({ ...pair, block: 99 })).toStartWith('Before the first indexed block: ');
    expect(await errorOf({ ...pair, block: 101, timestamp: '1' })).toContain('timestamp');
    expect(await errorOf({ ...pair, contract: CONTRACT })).toStartWith('contract is not an argument of this question.');
    expect(await errorOf({ ...pair, explain: 'false' })).toStartWith('explain is not an argument of this question.');
    expect(await errorOf({ ...pair, rights: null })).toBe('rights must be a string, a number or a boolean.');
    expect(await errorOf({ ...pair, check: 'token' })).toBe(
      'check must be one of all, contract, erc721, erc1155, erc20.',
    );
    expect(await errorOf({ from: COLD, to: HOT, contract: CONTRACT, tokenId: 1 })).toBe(
      'check is required with tokenId: erc721 or erc1155.',
    );
    expect(await errorOf({ wallet: HOT, contract: CONTRACT }, 'holders')).toContain('OWNERSHIP=on');
    expect(await errorOf({}, 'vaults')).toContain('wallet');
    expect(await errorOf({ wallet: '../../networks' }, 'history')).toContain('wallet must be an address');
    expect(await errorOf({ chainId: 1 }, 'networks')).toStartWith('chainId is not an argument of this question.');
  });

  test('a tool that does not exist is an error', async () => {
    const outcome = await client.callTool({ name: 'revoke', arguments: {} }).then(
      (result) => result.isError === true,
      (error: Error) => error.message.includes('revoke'),
    );
    expect(outcome).toBe(true);
  });
});

test('clients of the older protocol are answered too', async () => {
  for (const [, open] of TRANSPORTS.slice(0, 2)) {
    const client = await connect(open(), 'legacy');
    const { structuredContent } = await client.callTool({
      name: 'may_act',
      arguments: { check: 'all', from: COLD, to: HOT },
    });
    expect(structuredContent).toMatchObject({ mayAct: true, block: { number: 105 } });
    await client.close();
  }
});

test('a service that cannot be reached is a tool error on stdio', async () => {
  const client = await connect(onStdio(['--url', 'http://127.0.0.1:1'], {}));
  const { isError, content } = await client.callTool({ name: 'networks', arguments: {} });
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('127.0.0.1:1 is unreachable');
  await client.close();
});

describe('POST /mcp', () => {
  const post = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    });
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

  test('is a 404 that names the setting unless the operator has turned it on', async () => {
    const response = await post(off.url, list);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('MCP=on');
  });

  test('is counted like a request of v2, and answered without streams or caches', async () => {
    const response = await post(served.url, list);
    expect(response.status).toBe(200);
    expect(response.headers.get('ratelimit')).toStartWith('"anon";r=');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await post(served.url, list, { 'x-api-key': 'nonsense' })).status).toBe(401);
    expect((await fetch(`${served.url}/mcp`)).status).toBe(405);
  });

  test('refuses pages of other sites, also of one whose name was moved here', async () => {
    const statusOf = async (origin: string) => (await post(served.url, list, { origin })).status;
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example:80',
    ])
      expect([origin, await statusOf(origin)]).toEqual([origin, 403]);
    for (const origin of ['http://localhost:6274', 'http://127.0.0.1'])
      expect([origin, await statusOf(origin)]).toEqual([origin, 200]);
  });

  test('refuses batches, large bodies and what is not JSON-RPC', async () => {
    const statusOf = async (body: string, headers?: Record<string, string>) =>
      (await post(served.url, body, headers)).status;
    expect(await statusOf(` [${list},${list}]`)).toBe(400);
    expect(await statusOf(`${list}${' '.repeat(17_000)}`)).toBe(413);
    expect(await statusOf(list, { 'content-type': 'text/plain' })).toBe(415);
    for (const body of ['', '{', 'null', '1', '{"jsonrpc":"1.0"}', '\0']) expect(await statusOf(body)).toBe(400);
    expect(await (await post(served.url, list)).text()).toContain('may_act');
  });

  test('1000 bodies with errors anywhere are each answered or refused', async () => {
    const random = createRandom(19);
    const int = (below: number) => Math.floor(random() * below);
    const asked = { name: 'may_act', arguments: { check: 'all', from: COLD, to: HOT } };
    const valid = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: asked });
    const pieces = ['', '"', '{', '}', '[', ',', ':', '\\', '9'.repeat(99), '\0', 'é', 'null', '__proto__', 'listen'];
    const counts = new Map<number, number>();
    for (let turn = 0; turn < 1000; turn++) {
      let body = valid;
      for (let edits = 1 + int(3); edits > 0; edits--) {
        const at = int(body.length + 1);
        body = body.slice(0, at) + pieces[int(pieces.length)] + body.slice(at + int(6));
      }
      const response = await post(served.url, body);
      await response.text();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    }
    console.log(`1000 hostile bodies to /mcp: ${JSON.stringify([...counts].sort())}`);
    expect([...counts.keys()].filter((status) => ![200, 202, 400].includes(status))).toEqual([]);
  });

  test('opens no subscription', async () => {
    const client = await connect(overHttp(served.url));
    const listening = client.listen({ toolsListChanged: true });
    expect(
      await listening.then(
        () => 'open',
        () => 'refused',
      ),
    ).toBe('refused');
    await client.close();
  });
});

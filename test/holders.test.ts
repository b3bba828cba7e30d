// The token gate on a real EVM: the answers of the API against ownerOf, balanceOf and the registries' own checks, through reorgs
// and with providers that die, lag and lie.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createTokenReader } from '../src/chain/tokens/token-reader.ts';
import { createApp } from '../src/http/server/app.ts';
import { type Address, type Bytes32, NO_RIGHTS } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { rightsOf } from '../src/registry/rights.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { deployTokens, headHash, sendToken, setBadWay, TOKENS } from './support/evm-tokens.ts';
import { fund, OWNER, prepareWallets, SMART, send } from './support/evm-wallets.ts';
import { type Following, following } from './support/following.ts';
import { type Asked, type Holders, holdersAt } from './support/holders-truth.ts';
import { createRandom } from './support/random.ts';
import { type RpcBody, type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { serviceOf } from './support/serving.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';

const COMPARED = Number(process.env['HOLDERS_COMPARED'] ?? 150);
const VOTE = rightsOf('vote') as Bytes32;
const HOT = `0x${'d4'.repeat(20)}` as const;
const [ADA, BEN] = WALLETS;
const ELLA = `0x${'e5'.repeat(20)}` as const;
const PEOPLE: readonly Address[] = [...WALLETS, HOT, ELLA];
const { Collection, Cards, Coin, BadToken } = TOKENS;

let evm: Evm;
let index: Following;
let [a, b]: RpcProxy[] = [];
let proxies: [RpcProxy, RpcProxy];
const disputes: number[] = [];

/** Runs once, between the read of an owner and that of the delegations. */
let interruption: (() => Promise<void>) | null = null;
let ask: (path: string, headers?: Record<string, string>) => Promise<Response>;

beforeAll(async () => {
  const since = new Date(Date.now() - 3_600_000);
  evm = await startEvm({ since });
  await prepareWallets(evm.rpc);
  await fund(evm.rpc, PEOPLE);
  await evm.rpc.call('evm_mine', []);
  await deployTokens(evm.rpc);
  proxies = [startRpcProxy(evm.url), startRpcProxy(evm.url)];
  [a, b] = proxies;
  index = await following([evm], {
    firstBlock: 0,
    clock: since.getTime(),
    network: { ...MAINNET, finality: { blocks: 12 } },
  });
  const tokens = createTokenReader({
    nodes: new Map([[1, proxies.map(({ url }) => url)]]),
    // A slow machine is not a fault.
    limits: { requestMs: 60_000, readMs: 120_000 },
    onDispute: (chainId) => disputes.push(chainId),
  });
  const interrupted: typeof tokens = {
    ...tokens,
    async ownerOf(...args) {
      const read = await tokens.ownerOf(...args);
      const interrupt = interruption;
      interruption = null;
      await interrupt?.();
      return read;
    },
  };
  const app = createApp({
    ...serviceOf(index.store, 0),
    now: () => index.clock / 1000,
    maxLag: () => 3600,
    tokens: interrupted,
  });
  ask = (path, headers = {}) => app.fetch(new Request(`http://localhost${path}`, { headers }));
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await index.close();
  await evm.stop();
});
beforeEach(() => honest(...proxies));

function honest(...all: RpcProxy[]): void {
  for (const proxy of all) Object.assign(proxy, { refuses: () => null, lies: () => undefined, delayMs: 0 });
}

/** Follows the chain to its head. */
async function follow(): Promise<void> {
  const { timestamp } = (await evm.rpc.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  index.clock = Math.max(index.clock, 1000 * Number(timestamp));
  index.clock += 1000;
  await index.catchUp();
}

const urlOf = ({ wallet, contract, tokenId, standard, rights }: Asked, more = '') =>
  `/registry/any/holders/${wallet}?contract=${contract}${tokenId === undefined ? '' : `&tokenId=${tokenId}`}${
    standard === undefined ? '' : `&standard=${standard}`
  }${rights === NO_RIGHTS ? '' : `&rights=${rights}`}&numbers=string${more}`;
const get = async (asked: Partial<Asked> & Pick<Asked, 'contract'>, more = '') => {
  const response = await ask(urlOf({ wallet: HOT, rights: NO_RIGHTS, ...asked }, more));
  return { status: response.status, body: (await response.json()) as Body };
};
type Body = Holders & { readonly type?: string; readonly cause?: string; readonly detail?: string };
const problem = (type: string, more: object = {}) => ({ type: `/docs#problem-${type}`, ...more });

describe('holders', () => {
  beforeAll(async () => {
    const { rpc } = evm;
    for (const [owner, id] of [
      [ADA, 1n],
      [BEN, 2n],
      [HOT, 3n],
      [SMART, 4n],
    ] as const)
      await sendToken(rpc, 'Collection', 'mint721', [owner, id]);
    await sendToken(rpc, 'Coin', 'mint20', [ADA, 100n]);
    await sendToken(rpc, 'Coin', 'mint20', [HOT, 5n]);
    await sendToken(rpc, 'Cards', 'mint1155', [BEN, 7n, 9n]);
    await send(rpc, [['v2', ADA, 'delegateERC721', [HOT, Collection, '1', VOTE, true]]]);
    await send(rpc, [['v1', BEN, 'delegateForContract', [HOT, Collection, true]]]);
    await send(rpc, [['v2', ADA, 'delegateERC20', [HOT, Coin, NO_RIGHTS, '30']]]);
    await send(rpc, [['v2', BEN, 'delegateERC1155', [HOT, Cards, '7', NO_RIGHTS, '4']]]);
    await send(rpc, [['v2', SMART, 'delegateAll', [HOT, NO_RIGHTS, true]]]);
    await follow();
  });

  test('the wallet itself', async () => {
    const { status, body } = await get({ contract: Collection, tokenId: 3n });
    expect(status).toBe(200);
    expect(body).toMatchObject({ holds: true, chainId: 1, next: null });
    expect(body.holders).toEqual([
      { owner: expect.stringMatching(new RegExp(HOT, 'i')), balance: '1', delegations: [] },
    ]);
    const { head } = (await index.store.chain(1)) as { head: object | null };
    expect(body.block).toEqual(head as typeof body.block);
  });

  test('a vault, by v1, by v2, and by a right', async () => {
    const byV1 = (await get({ contract: Collection, tokenId: 2n })).body;
    expect(byV1).toMatchObject({ holds: true, holders: [{ balance: '1', delegations: [{ version: 1 }] }] });
    const byV2 = (await get({ contract: Collection, tokenId: 4n })).body;
    expect(byV2).toMatchObject({ holds: true, holders: [{ delegations: [{ version: 2, type: 'ALL' }] }] });
    expect((await get({ contract: Collection, tokenId: 1n })).body).toMatchObject({ holds: false, holders: [] });
    const byRight = (await get({ contract: Collection, tokenId: 1n, rights: VOTE })).body;
    expect(byRight).toMatchObject({ holds: true, holders: [{ delegations: [{ version: 2, rights: VOTE }] }] });
  });

  test('balances: of the wallet and its vaults, and of an amount not more than was delegated', async () => {
    const named = (body: Body) => body.holders.map(({ owner, balance }) => `${owner.toLowerCase()} ${balance}`).sort();
    const all = (await get({ contract: Collection })).body;
    expect(named(all)).toEqual([`${BEN} 1`, `${SMART} 1`, `${HOT} 1`].sort());
    const coins = (await get({ contract: Coin, standard: 'ERC20' })).body;
    expect(named(coins)).toEqual([`${ADA} 30`, `${HOT} 5`].sort());
    // Without the standard, an amount is not a delegation of the contract.
    expect(named((await get({ contract: Coin })).body)).toEqual([`${HOT} 5`]);
    const cards = (await get({ contract: Cards, tokenId: 7n, standard: 'ERC1155' })).body;
    expect(cards).toMatchObject({ holds: true, holders: [{ balance: '4', delegations: [{ amount: '4' }] }] });
  });

  test('pages ask a bounded number of wallets, and "not known yet" is not a no', async () => {
    const first = (await get({ contract: Collection, wallet: HOT }, '&limit=1')).body;
    expect(first.holders.map(({ owner }) => owner.toLowerCase())).toEqual([HOT, BEN]);
    const second = (await get({ contract: Collection, wallet: HOT }, `&limit=1&cursor=${first.next}`)).body;
    expect(second).toMatchObject({ holds: true, next: null });
    expect(second.holders.map(({ owner }) => owner.toLowerCase())).toEqual([SMART]);
    // The first vault has no coins, the second has none either.
    const coins = (await get({ contract: Cards, tokenId: 1n, standard: 'ERC1155' }, '&limit=1')).body;
    expect(coins).toMatchObject({ holds: coins.next === null ? false : null, holders: [] });
    const other = await get({ contract: Coin, standard: 'ERC20' }, `&limit=1&cursor=${first.next}`);
    expect(other).toMatchObject({ status: 400, body: { detail: 'cursor is not a cursor of this list' } });
  });

  test('a token that nobody owns is a no', async () => {
    expect(await get({ contract: Collection, tokenId: 99n })).toMatchObject({
      status: 200,
      body: { holds: false, holders: [], next: null },
    });
  });

  test('a contract that is not one, reverts or lies about its size is a clear problem', async () => {
    const tests = [
      [{ contract: BEN, tokenId: 1n }, 'no-code'],
      [{ contract: BEN }, 'no-code'],
      [{ contract: Coin, tokenId: 1n }, 'reverted'],
      [{ contract: Collection, tokenId: 1n, standard: 'ERC1155' }, 'reverted'],
    ] as const;
    for (const [asked, cause] of tests)
      expect(await get(asked)).toMatchObject({ status: 422, body: problem('not-a-token', { cause, chainId: 1 }) });
    for (const [way, cause] of [
      ['reverts', 'reverted'],
      ['returns 64 bytes', 'bad-return-data'],
      ['returns all ones', 'bad-return-data'],
    ] as const) {
      await setBadWay(evm.rpc, way);
      await follow();
      expect(await get({ contract: BadToken, tokenId: 1n })).toMatchObject({
        status: 422,
        body: problem('not-a-token', { cause }),
      });
    }
    expect((await get({ contract: BadToken })).body).toMatchObject({ holds: true });
  });

  test('parameters that contradict each other', async () => {
    for (const [more, detail] of [
      ['&standard=ERC1155', 'tokenId is required with standard=ERC1155'],
      ['&standard=ERC20&tokenId=1', 'tokenId cannot be combined with standard=ERC20'],
      ['&limit=101', 'limit must be a number from 1 to 100, not "101"'],
      ['&cursor=AAAAAAAAAAAA', 'cursor is not a cursor of this list'],
      ['&block=1&timestamp=1', 'timestamp cannot be combined with block'],
    ] as const)
      expect(await get({ contract: Collection }, more)).toMatchObject({ status: 400, body: { detail } });
    expect(await get({ contract: Collection, wallet: `0x${'0'.repeat(40)}` })).toMatchObject({
      status: 400,
      body: { detail: 'wallet must not be the zero address' },
    });
  });

  test('as of a block whose hash the index keeps, and a problem for any other', async () => {
    // A block with a log of the registry is kept.
    await send(evm.rpc, [['v2', BEN, 'delegateAll', [BEN, NO_RIGHTS, true]]]);
    await follow();
    const { head } = (await index.store.chain(1)) as { head: { number: number; timestamp: number } };
    await sendToken(evm.rpc, 'Collection', 'transferFrom', [HOT, BEN, 3n], HOT);
    await evm.rpc.call('evm_increaseTime', [100]);
    for (let left = 60; left > 0; left--) await evm.rpc.call('evm_mine', []);
    for (let left = 5; left > 0; left--) {
      index.clock += 61_000;
      await follow();
    }
    const before = { holds: true, holders: [{ delegations: [] }], block: { number: head.number } };
    expect(await get({ contract: Collection, tokenId: 3n }, `&block=${head.number}`)).toMatchObject({ body: before });
    expect((await get({ contract: Collection, tokenId: 3n })).body).toMatchObject({
      holders: [{ delegations: [{ version: 1 }] }],
    });
    const finalized = await get({ contract: Collection, tokenId: 3n }, '&block=finalized');
    expect(finalized).toMatchObject({ status: 200, body: { holds: true } });
    const kept = new Set((await index.store.blocks(1, { from: 0, to: 1e9 })).map(({ number }) => number));
    const gone = Array.from({ length: head.number + 40 }, (_, number) => number).find((number) => !kept.has(number));
    expect(gone).toBeDefined();
    expect(await get({ contract: Collection, tokenId: 3n }, `&block=${gone}`)).toMatchObject({
      status: 404,
      body: problem('block-not-kept', { chainId: 1, block: gone }),
    });
    // The token may have moved between the kept block and that time.
    const header = (await evm.rpc.call('eth_getBlockByNumber', [`0x${gone?.toString(16)}`, false])) as {
      timestamp: string;
    };
    expect(await get({ contract: Collection, tokenId: 3n }, `&timestamp=${Number(header.timestamp)}`)).toMatchObject({
      status: 404,
      body: problem('block-not-kept'),
    });
    await sendToken(evm.rpc, 'Collection', 'transferFrom', [BEN, HOT, 3n], BEN);
    await follow();
  });

  test('between a reorg and its indexing: 503, then the truth', async () => {
    const snapshot = await evm.rpc.call('evm_snapshot', []);
    await sendToken(evm.rpc, 'Collection', 'transferFrom', [HOT, OWNER, 3n], HOT);
    await follow();
    expect((await get({ contract: Collection, tokenId: 3n })).body).toMatchObject({ holds: false });
    await evm.rpc.call('evm_revert', [snapshot]);
    await evm.rpc.call('evm_increaseTime', [31]);
    for (let left = 3; left > 0; left--) await evm.rpc.call('evm_mine', []);
    // Not asked before, so nothing is shared.
    expect(await get({ contract: Collection, tokenId: 4n })).toMatchObject({
      status: 503,
      body: problem('ownership-unavailable', { cause: 'no-provider', chainId: 1 }),
    });
    await follow();
    expect((await get({ contract: Collection, tokenId: 3n })).body).toMatchObject({ holds: true });
  });

  test('a reorg between the owner and the delegations: both are of the new block', async () => {
    const { rpc } = evm;
    const snapshot = await rpc.call('evm_snapshot', []);
    await sendToken(rpc, 'Collection', 'transferFrom', [HOT, ELLA, 3n], HOT);
    await follow();
    interruption = async () => {
      await rpc.call('evm_revert', [snapshot]);
      await rpc.call('evm_increaseTime', [37]);
      // She delegates only where she does not own the token.
      await send(rpc, [['v2', ELLA, 'delegateAll', [HOT, NO_RIGHTS, true]]]);
      for (let left = 2; left > 0; left--) await rpc.call('evm_mine', []);
      await follow();
    };
    const { status, body } = await get({ contract: Collection, tokenId: 3n });
    expect([status, body.block.hash]).toEqual([200, await headHash(rpc)]);
    expect(body.holders).toMatchObject([{ owner: expect.stringMatching(new RegExp(HOT, 'i')), delegations: [] }]);
    await send(rpc, [['v2', ELLA, 'delegateAll', [HOT, NO_RIGHTS, false]]]);
    await follow();
  });

  test('a cursor of a block that a reorg replaced is gone', async () => {
    const snapshot = await evm.rpc.call('evm_snapshot', []);
    await evm.rpc.call('evm_mine', []);
    await follow();
    const { next } = (await get({ contract: Collection }, '&limit=1')).body;
    await evm.rpc.call('evm_revert', [snapshot]);
    await evm.rpc.call('evm_increaseTime', [33]);
    for (let left = 3; left > 0; left--) await evm.rpc.call('evm_mine', []);
    await follow();
    expect(await get({ contract: Collection }, `&limit=1&cursor=${next}`)).toMatchObject({
      status: 409,
      body: problem('cursor-gone'),
    });
  });

  test('providers that disagree, and too few providers: 503 with the cause', async () => {
    (a as RpcProxy).lies = ({ method }) =>
      method === 'eth_call' ? `0x${OWNER.slice(2).padStart(64, '0')}` : undefined;
    await evm.rpc.call('evm_mine', []);
    await follow();
    const disputed = await get({ contract: Collection, tokenId: 3n });
    expect(disputed).toMatchObject({ status: 503, body: problem('ownership-unavailable', { cause: 'disputed' }) });
    expect(disputes.length).toBeGreaterThan(0);
    honest(a as RpcProxy);
    (b as RpcProxy).refuses = () => 'header not found';
    const response = await ask(urlOf({ wallet: HOT, rights: NO_RIGHTS, contract: Collection, tokenId: 3n }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(((await response.json()) as Body).detail).toContain('1/2 rpc-error');
  });

  test('an unchanged answer is a 304 without a Content-Type', async () => {
    const path = urlOf({ wallet: HOT, rights: NO_RIGHTS, contract: Collection, tokenId: 3n });
    const { headers } = await ask(path);
    expect(headers.get('x-block-hash')).toMatch(/^0x/);
    const unchanged = await ask(path, { 'if-none-match': headers.get('etag') ?? '' });
    expect([unchanged.status, unchanged.headers.get('content-type')]).toEqual([304, null]);
    await evm.rpc.call('evm_mine', []);
    await follow();
    expect((await ask(path, { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(200);
  });

  test('without OWNERSHIP=on there are no token gates', async () => {
    const app = createApp({ ...serviceOf(index.store, 0), now: () => index.clock / 1000, maxLag: () => 3600 });
    const path = urlOf({ wallet: HOT, rights: NO_RIGHTS, contract: Collection, tokenId: 3n });
    const response = await app.fetch(new Request(`http://localhost${path}`));
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining(problem('ownership-off', { detail: expect.stringContaining('OWNERSHIP=on') })),
    ]);
  });
});

/** Changes results of calls to other plausible ones. */
const lie =
  (random: () => number) =>
  ({ method, params }: RpcBody): unknown => {
    if (method === 'eth_getCode') return random() < 0.3 ? '0x' : undefined;
    if (method !== 'eth_call') return undefined;
    const { data } = params[0] as { data: string };
    const pick = PEOPLE[Math.floor(random() * PEOPLE.length)] as Address;
    if (data.startsWith('0x6352211e')) return `0x${pick.slice(2).padStart(64, '0')}`;
    return `0x${Math.floor(random() * 9)
      .toString(16)
      .padStart(64, '0')}`;
  };

test('random owners, delegations and reorgs: every answer is what the contracts say at its block, or a 503', async () => {
  const { rpc } = evm;
  const random = createRandom(16);
  const int = (below: number) => Math.floor(random() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  const ids = [1n, 2n, 11n, 12n];
  const right = () => pick([NO_RIGHTS, NO_RIGHTS, VOTE]);

  const delegate = (): RegistryCall => {
    const [from, to] = [pick(PEOPLE), pick(PEOPLE)];
    const token = pick([Collection, Cards, Coin]);
    const isGrant = random() < 0.65;
    const id = String(pick(ids));
    return pick<RegistryCall>([
      ['v2', from, 'delegateAll', [to, right(), isGrant && random() < 0.5]],
      ['v2', from, 'delegateContract', [to, token, right(), isGrant]],
      ['v2', from, 'delegateERC721', [to, Collection, id, right(), isGrant]],
      ['v2', from, 'delegateERC20', [to, Coin, right(), isGrant ? String(1 + int(60)) : '0']],
      ['v2', from, 'delegateERC1155', [to, Cards, id, right(), isGrant ? String(1 + int(6)) : '0']],
      ['v1', from, 'delegateForAll', [to, isGrant && random() < 0.5]],
      ['v1', from, 'delegateForContract', [to, token, isGrant]],
      ['v1', from, 'delegateForToken', [to, token, id, isGrant]],
    ]);
  };
  const act = async () => {
    for (let left = 1 + int(4); left > 0; left--) await send(rpc, [delegate()]);
    const id = pick(ids);
    const who = pick(PEOPLE);
    // A call that reverts mines a block all the same.
    await pick([
      () => sendToken(rpc, 'Collection', 'mint721', [who, id]),
      () => sendToken(rpc, 'Collection', 'burn', [id]),
      () => sendToken(rpc, 'Coin', 'mint20', [who, BigInt(int(50))]),
      () => sendToken(rpc, 'Cards', 'mint1155', [who, id, BigInt(int(5))]),
    ])().catch(() => {});
  };
  const asked = (): Asked => {
    const base = { wallet: pick(PEOPLE), rights: right() };
    return pick<Asked>([
      { ...base, contract: Collection, tokenId: pick(ids) },
      { ...base, contract: Collection, tokenId: pick(ids), standard: 'ERC721' },
      { ...base, contract: Collection },
      { ...base, contract: Coin, standard: 'ERC20' },
      { ...base, contract: Coin },
      { ...base, contract: Cards, tokenId: pick(ids), standard: 'ERC1155' },
    ]);
  };

  const FAULTS = ['none', 'none', 'dead', 'lagging', 'lying', 'lying'] as const;
  let [compared, refused, unexpected, holding, reorgs] = [0, 0, 0, 0, 0];
  const wrong: string[] = [];
  while (compared < COMPARED) {
    honest(...proxies);
    const snapshot = await rpc.call('evm_snapshot', []);
    await act();
    const isFollowed = random() < 0.8;
    if (random() < 0.35) {
      if (random() < 0.5) await follow();
      await rpc.call('evm_revert', [snapshot]);
      await rpc.call('evm_increaseTime', [1 + int(30)]);
      await act();
      for (let left = 5; left > 0; left--) await rpc.call('evm_mine', []);
      reorgs++;
    }
    if (isFollowed) await follow();
    const fault = pick(FAULTS);
    const faulty = pick(proxies);
    if (fault === 'dead') faulty.refuses = () => 'daily request limit reached';
    if (fault === 'lagging') faulty.refuses = ({ method }) => (method === 'eth_chainId' ? null : 'header not found');
    if (fault === 'lying') faulty.lies = lie(random);
    const head = (await index.store.chain(1))?.head;
    const tip = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: string };
    const isCurrent = head?.hash === tip.hash;
    await Promise.all(
      Array.from({ length: fault === 'lagging' ? 8 : 24 }, asked).map(async (question) => {
        const response = await ask(urlOf(question));
        const body = (await response.json()) as Body;
        compared++;
        if (response.status !== 200) {
          refused++;
          const isExpected = body.type === '/docs#problem-ownership-unavailable' && (fault !== 'none' || !isCurrent);
          if (!isExpected) wrong.push(`${urlOf(question)} gave ${JSON.stringify(body)} with fault ${fault}`);
          return;
        }
        if (fault !== 'none') unexpected++;
        const truth = await holdersAt(rpc, question, PEOPLE, body.block.hash).catch((error: Error) => error.message);
        const found = body.holders.map(({ owner, balance }) => `${owner.toLowerCase()} ${balance}`).sort();
        if (found.length > 0) holding++;
        if (JSON.stringify(found) !== JSON.stringify(truth) || body.holds !== found.length > 0 || body.next !== null)
          wrong.push(`${urlOf(question)} gave ${found}, not ${truth}, with fault ${fault}`);
      }),
    );
  }
  console.log(
    `${compared} token gates against the contracts: ${holding} held, ${refused} refused, ${unexpected} answered despite a fault, ${reorgs} reorgs, ${disputes.length} disputes, ${wrong.length} wrong`,
  );
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(Math.min(holding, refused)).toBeGreaterThan(COMPARED / 20);
  expect(reorgs).toBeGreaterThan(COMPARED / 400);
});

// The interface, sentence by sentence. Limits and keys come with their own tests.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { requiredParams } from '../src/api/operation.ts';
import { REGISTRY_OPERATIONS } from '../src/api/operations.ts';
import type { App } from '../src/http/server/app.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, ended, GOOD_VALUES, granted, HOT, timeOf } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';

const [WHOLE, AT_CONTRACT, AT_TOKEN, VOTER, NOBODY, AMOUNTS] = [1, 2, 3, 4, 5, 6].map(address) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const OTHER = address(0xdd);
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const POLYGON = 137;

let store: Store;
let app: App;

beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('interface.db')}`);
  const blocks = [
    block(100, [
      granted('ALL', { to: WHOLE }),
      granted('CONTRACT', { to: AT_CONTRACT }),
      granted('ERC721', { to: AT_TOKEN, tokenId: 7n }),
      granted('ALL', { to: VOTER, rights: VOTE }),
      granted('ERC20', { to: AMOUNTS, amount: 100n }),
      granted('ERC1155', { to: AMOUNTS, tokenId: 7n, amount: 5n }),
      granted('ALL', { from: HOT, to: COLD }),
      granted('ALL', { version: 1, to: WHOLE }),
      granted('CONTRACT', { version: 1, to: AT_CONTRACT }),
      granted('TOKEN', { to: AT_TOKEN, tokenId: 7n }),
    ]),
    block(101, [granted('ALL', { to: NOBODY })]),
    block(102, [ended('ALL', { to: NOBODY })]),
  ];
  for (const chainId of [1, POLYGON]) {
    const { epoch } = await store.claim(chainId, 100);
    const other = { ...block(202, [granted('ALL', { to: NOBODY })]), timestamp: timeOf(102) };
    const kept = chainId === 1 ? blocks : [other];
    await store.apply({ chainId, epoch, after: null, blocks: kept, head: kept.at(-1) ?? other });
  }
  app = appOf(store, timeOf(102), { chainIds: new Set([1, POLYGON]) });
});
afterAll(() => store.close());

const send = (path: string, init?: RequestInit) => app.fetch(new Request(`http://localhost${path}`, init));
const text = async (path: string) => (await send(path)).text();
const json = async (path: string) => (await send(path)).json() as Promise<Record<string, unknown>[]>;
const v2 = (scope: string, to: string, more = '') => text(`/registry/v2/check/${scope}?to=${to}&from=${COLD}${more}`);
const v1 = (scope: string, to: string, more = '') =>
  text(`/registry/v1/check/${scope}?delegate=${to}&vault=${COLD}${more}`);
const AT = `&contract=${CONTRACT}`;
const ELSEWHERE = `&contract=${OTHER}`;

describe('every operation', () => {
  for (const operation of REGISTRY_OPERATIONS) {
    const { path, params, version, kind, tag } = operation;
    const target = path.replace('{wallet}', HOT);
    const query = requiredParams(operation)
      .filter((name) => name !== 'wallet')
      .map((name) => [name, GOOD_VALUES[name] ?? ''] as const);
    const ask = (pairs: readonly (readonly [string, string])[], init?: RequestInit) =>
      send(`${target}?${new URLSearchParams(pairs as [string, string][])}`, init);

    test(`${path}: is a GET, and nothing else`, async () => {
      expect((await ask(query)).status).toBe(200);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await ask(query, { method });
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      }
    });

    for (const [name] of query) {
      test(`${path}: ${name} must be supplied`, async () => {
        const response = await ask(query.filter(([other]) => other !== name));
        expect(response.status).toBe(400);
        const { errors } = (await response.json()) as { errors: { parameter: string; detail: string }[] };
        expect(errors).toEqual([{ parameter: name, detail: expect.stringContaining('is required') }]);
      });
    }

    test(`${path}: everything else is optional, and chainId is among it`, async () => {
      expect(params.chainId.required).toBe(false);
      expect((await ask(query)).status).toBe(200);
    });

    test(`${path}: the chain is 1 unless chainId names another`, async () => {
      const headOf = async (more: readonly (readonly [string, string])[]) =>
        (await ask([...query, ...more])).headers.get('x-block-number');
      expect(await headOf([])).toBe('102');
      expect(await headOf([['chainId', '1']])).toBe('102');
      expect(await headOf([['chainId', String(POLYGON)]])).toBe('202');
    });

    test(`${path}: the version stands right behind registry`, async () => {
      expect((await send(path.replace(`/${tag}/`, '/v3/').replace('{wallet}', HOT))).status).toBe(404);
      expect((await send(path.replace(`/${tag}/`, '/').replace('{wallet}', HOT))).status).toBe(404);
    });

    test(`${path}: rights ${version === 1 ? 'are unknown to v1' : 'may be given'}`, async () => {
      const response = await ask([...query, ['rights', `0x${'0'.repeat(64)}`]]);
      expect(response.status).toBe(version === 1 ? 400 : 200);
    });

    test(`${path}: answers with ${kind === 'list' ? 'an array of delegations' : 'the bare value'}`, async () => {
      const response = await ask(query);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const body = await response.text();
      expect(body).toMatch(kind === 'list' ? /^\[.*\]$/ : /^(true|false|\d+)$/);
    });
  }

  test('a chainId selects the network', async () => {
    expect(await v2('all', NOBODY)).toBe('false');
    expect(await v2('all', NOBODY, `&chainId=${POLYGON}`)).toBe('true');
  });
});

describe('a list', () => {
  test('v2: has the incoming and the outgoing delegations of the wallet', async () => {
    const records = await json(`/registry/v2/${COLD}`);
    expect(records.filter(({ from }) => from === checksummed(COLD))).toHaveLength(6);
    expect(records.filter(({ to }) => to === checksummed(COLD))).toHaveLength(1);
    expect(records).toHaveLength(7);
  });

  test('v2: a record has type, from, to, contract and tokenId, and null where it is not limited', async () => {
    const records = await json(`/registry/v2/${COLD}`);
    for (const record of records) expect(Object.keys(record)).toEqual(['type', 'from', 'to', 'contract', 'tokenId']);
    // The incoming one is first.
    const [, all, contract, token] = records;
    const from = checksummed(COLD);
    const at = checksummed(CONTRACT);
    expect(all).toEqual({ type: 'ALL', from, to: checksummed(WHOLE), contract: null, tokenId: null });
    expect(contract).toEqual({ type: 'CONTRACT', from, to: checksummed(AT_CONTRACT), contract: at, tokenId: null });
    expect(token).toEqual({ type: 'TOKEN', from, to: checksummed(AT_TOKEN), contract: at, tokenId: 7 });
  });

  test('v2: ERC-721, ERC-20 and ERC-1155 are all TOKEN, and ERC-20 has no token id', async () => {
    const records = await json(`/registry/v2/${AMOUNTS}`);
    expect(records.map(({ type, tokenId }) => [type, tokenId])).toEqual([
      ['TOKEN', null],
      ['TOKEN', 7],
    ]);
  });

  test('v1: has the delegations of the v1 registry, each with type, delegate, vault, contract and tokenId', async () => {
    const records = await json(`/registry/v1/${COLD}`);
    const vault = checksummed(COLD);
    const contract = checksummed(CONTRACT);
    expect(records).toEqual([
      { type: 'ALL', delegate: checksummed(WHOLE), vault, contract: null, tokenId: null },
      { type: 'CONTRACT', delegate: checksummed(AT_CONTRACT), vault, contract, tokenId: null },
      { type: 'TOKEN', delegate: checksummed(AT_TOKEN), vault, contract, tokenId: 7 },
    ]);
    expect(Object.keys(records[0] ?? {})).toEqual(['type', 'delegate', 'vault', 'contract', 'tokenId']);
  });
});

describe('a v2 check', () => {
  test('all: is true where to may act for the entire wallet from', async () => {
    expect(await v2('all', WHOLE)).toBe('true');
    expect(await v2('all', AT_CONTRACT)).toBe('false');
    expect(await v2('all', NOBODY)).toBe('false');
    expect(await text(`/registry/v2/check/all?to=${COLD}&from=${HOT}`)).toBe('true');
    expect(await text(`/registry/v2/check/all?to=${HOT}&from=${COLD}`)).toBe('false');
  });

  test('all: a right counts besides what is unrestricted', async () => {
    expect(await v2('all', VOTER)).toBe('false');
    expect(await v2('all', VOTER, `&rights=${VOTE}`)).toBe('true');
    expect(await v2('all', WHOLE, `&rights=${VOTE}`)).toBe('true');
  });

  test('contract: is true for the entire wallet or that contract', async () => {
    expect(await v2('contract', WHOLE, AT)).toBe('true');
    expect(await v2('contract', AT_CONTRACT, AT)).toBe('true');
    expect(await v2('contract', AT_CONTRACT, ELSEWHERE)).toBe('false');
    expect(await v2('contract', AT_TOKEN, AT)).toBe('false');
  });

  test('contract: from is the cold wallet and to the hot one, as everywhere', async () => {
    expect(await text(`/registry/v2/check/contract?from=${COLD}&to=${AT_CONTRACT}${AT}`)).toBe('true');
    expect(await text(`/registry/v2/check/contract?from=${AT_CONTRACT}&to=${COLD}${AT}`)).toBe('false');
  });

  test('erc721: is true for the entire wallet, that contract or that token', async () => {
    for (const to of [WHOLE, AT_CONTRACT, AT_TOKEN]) expect(await v2('erc721', to, `${AT}&tokenId=7`)).toBe('true');
    expect(await v2('erc721', AT_TOKEN, `${AT}&tokenId=8`)).toBe('false');
    expect(await v2('erc721', AT_TOKEN, `${ELSEWHERE}&tokenId=7`)).toBe('false');
  });

  test('erc721, erc1155 and erc20: go by delegate and vault as well as by to and from', async () => {
    const ask = (scope: string, more: string) =>
      text(`/registry/v2/check/${scope}?delegate=${AMOUNTS}&vault=${COLD}${AT}${more}`);
    expect(await ask('erc721', '&tokenId=7')).toBe(await v2('erc721', AMOUNTS, `${AT}&tokenId=7`));
    expect(await ask('erc1155', '&tokenId=7')).toBe('5');
    expect(await ask('erc20', '')).toBe('100');
  });

  test('erc1155: is the delegated balance, 0 where there is none', async () => {
    expect(await v2('erc1155', AMOUNTS, `${AT}&tokenId=7`)).toBe('5');
    expect(await v2('erc1155', AMOUNTS, `${AT}&tokenId=8`)).toBe('0');
    expect(await v2('erc1155', NOBODY, `${AT}&tokenId=7`)).toBe('0');
  });

  test('erc20: is the delegated balance, 0 where there is none', async () => {
    expect(await v2('erc20', AMOUNTS, AT)).toBe('100');
    expect(await v2('erc20', AMOUNTS, ELSEWHERE)).toBe('0');
    expect(await v2('erc20', NOBODY, AT)).toBe('0');
  });

  test('a balance is without limit where the wallet or the contract is delegated', async () => {
    expect(await v2('erc20', WHOLE, AT)).toBe(String(MAX_UINT256));
    expect(await v2('erc1155', AT_CONTRACT, `${AT}&tokenId=1`)).toBe(String(MAX_UINT256));
  });
});

describe('a v1 check', () => {
  test('all: is true where the delegate may act for the entire vault', async () => {
    expect(await v1('all', WHOLE)).toBe('true');
    expect(await v1('all', AT_CONTRACT)).toBe('false');
  });

  test('contract: is true for that contract or the entire vault', async () => {
    expect(await v1('contract', WHOLE, AT)).toBe('true');
    expect(await v1('contract', AT_CONTRACT, AT)).toBe('true');
    expect(await v1('contract', AT_TOKEN, AT)).toBe('false');
  });

  test('token: is true for that token, its contract or the entire vault', async () => {
    for (const to of [WHOLE, AT_CONTRACT, AT_TOKEN]) expect(await v1('token', to, `${AT}&tokenId=7`)).toBe('true');
    expect(await v1('token', AT_TOKEN, `${AT}&tokenId=8`)).toBe('false');
  });
});

describe('the versions', () => {
  test('v1 has the checks all, contract and token; v2 has all, contract, erc721, erc1155 and erc20', async () => {
    const status = async (version: number, scope: string) =>
      (await send(`/registry/v${version}/check/${scope}`)).status === 404;
    const absent = async (version: number, scopes: string[]) =>
      Promise.all(scopes.map((scope) => status(version, scope)));
    expect(await absent(1, ['all', 'contract', 'token', 'erc721', 'erc1155', 'erc20'])).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(await absent(2, ['all', 'contract', 'erc721', 'erc1155', 'erc20', 'token'])).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test('stand side by side: each answers from its own registry', async () => {
    expect(await v2('all', VOTER, `&rights=${VOTE}`)).toBe('true');
    expect(await v1('all', VOTER)).toBe('false');
  });

  test('v1 goes by delegate and vault alone', async () => {
    expect((await send(`/registry/v1/check/all?to=${WHOLE}&from=${COLD}`)).status).toBe(400);
  });

  test('v1 pays no heed to X-API-KEY', async () => {
    const path = `/registry/v1/check/all?delegate=${WHOLE}&vault=${COLD}`;
    expect(await (await send(path, { headers: { 'x-api-key': 'nonsense' } })).text()).toBe('true');
  });
});

// Votes: every owner counts once, whoever is asked, in the two forms in which Snapshot asks; and what the caller sees where something
// is not known.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain, VOTE } from '../../../test/support/chain.ts';
import { chosenGrant } from '../../../test/support/chosen-truth.ts';
import { codeBlock } from '../../../test/support/code-blocks.ts';
import { ENGINES, temporaryPath } from '../../../test/support/engines.ts';
import { address, block, CONTRACT, ended, granted, revocation, timeOf } from '../../../test/support/fixtures.ts';
import { below, createRandom, pickFrom, type Random } from '../../../test/support/random.ts';
import { admissionOf, appOf, tokensOf } from '../../../test/support/serving.ts';
import type { TokenReader } from '../../chain/tokens/token-reader.ts';
import { checksummed } from '../../registry/checksum.ts';
import { type Address, type Bytes32, type Delegation, NO_RIGHTS } from '../../registry/delegation.ts';
import { NEVER } from '../../registry/rights.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { createLongLists } from '../limits/long-lists.ts';

type App = ReturnType<typeof appOf>;
interface Votes {
  readonly score: readonly { readonly address: string; readonly score: string }[];
  readonly token: { readonly chainId: number; readonly block: { readonly number: number } };
  readonly delegations: readonly { readonly chainId: number; readonly block: { readonly number: number } }[];
  readonly owners:
    | readonly {
        readonly owner: string;
        readonly balance: string;
        readonly voter: string;
        readonly reason: string;
        readonly delegation: { readonly version: number; readonly chainId: number } | null;
      }[]
    | null;
}

const until = (rights: Bytes32, expiry: number): Bytes32 =>
  `${rights.slice(0, 56)}${expiry.toString(16).padStart(10, '0')}` as Bytes32;
const balanceOf = (owner: Address) => (owner === address(0) ? 0n : BigInt(owner) ** 9n);
const tokens: TokenReader = {
  ...tokensOf(address(1)),
  balances: async (_of, owners) => ({ type: 'balances', balances: owners.map(balanceOf) }),
};

const post = (app: App, path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }),
    () => '198.51.100.1',
  );
const get = (app: App, path: string) => app.fetch(new Request(`http://localhost${path}`), () => '198.51.100.1');
const options = { contract: CONTRACT, standard: 'ERC20', rights: 'text:vote' };
const OF = `/registry/any/votes/${CONTRACT}/ERC20`;

const PEOPLE = Array.from({ length: 20 }, (_, of) => address(100 + of));
/** The blocks of a random history, in which a few grant to each other. */
function randomBlocks(random: Random, from: number, to: number) {
  const known: Delegation[] = [];
  const event = () => {
    if (known.length > 6 && random() < 0.3) {
      const { amount: _, ...key } = pickFrom(random, known);
      return ended(key.kind, key);
    }
    const version = pickFrom(random, [1, 2, 2] as const);
    const kind = pickFrom(random, ['ALL', 'ALL', 'CONTRACT', version === 1 ? 'TOKEN' : 'ERC20'] as const);
    const right = pickFrom(random, [NO_RIGHTS, VOTE, `0x${'5'.repeat(64)}` as Bytes32]);
    const expiry = pickFrom(random, [timeOf(from + 9), timeOf(from + 18), NEVER]);
    const one = granted(kind, {
      version,
      from: pickFrom(random, PEOPLE),
      to: pickFrom(random, PEOPLE),
      rights: version === 1 ? null : pickFrom(random, [right, until(right, expiry)]),
      ...(kind !== 'ALL' && { contract: pickFrom(random, [CONTRACT, address(7)]) }),
    });
    if (one.type === 'granted') known.push(one.delegation);
    return one;
  };
  return Array.from({ length: to - from }, (_, at) =>
    block(
      from + at,
      Array.from({ length: 1 + below(random, 7) }, () => event()),
    ),
  );
}

for (const engine of ENGINES) {
  describe(`every owner counts once on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());

    test('whatever is granted, and whoever is asked, now and as of a block', async () => {
      const random = createRandom(29);
      const [one, other] = [await newChain(store, 1), await newChain(store, 10)];
      const blocks = randomBlocks(random, 101, 125);
      await one.add(blocks);
      await other.add(randomBlocks(random, 101, 125));
      const app = appOf(store, timeOf(125), { tokens, chainIds: new Set([1, 10]) });
      const all = PEOPLE.reduce((sum, owner) => sum + balanceOf(owner), 0n);
      const decided: Record<string, number> = {};
      for (const [rights, right] of [
        ['none', NO_RIGHTS],
        ['text:vote', VOTE],
      ] as const) {
        for (const [snapshot, chains] of [
          [124, [one]],
          ['latest', [one]],
          [113, [one]],
          [113, [other]],
          [117, [other, one]],
          ['latest', [one, other]],
        ] as const) {
          const at = snapshot === 'latest' ? 124 : snapshot;
          const delegationChainId = chains.map(({ chainId }) => chainId).join();
          const ask = async (addresses: readonly string[]) => {
            const body = { options: { ...options, rights, delegationChainId }, network: '1', snapshot, addresses };
            const response = await post(app, '/registry/any/votes', body);
            expect(response.status).toBe(200);
            return (await response.json()) as Votes;
          };
          const expected = new Map(PEOPLE.map((person) => [person, 0n]));
          for (const owner of PEOPLE) {
            let chosen: Delegation | null = null;
            for (const chain of chains) {
              const lists = {
                1: await chain.list(at, owner, 1, 'outgoing'),
                2: await chain.list(at, owner, 2, 'outgoing'),
              };
              chosen ??= chosenGrant(lists, { contract: CONTRACT, rights: right, now: timeOf(at) });
            }
            const how =
              chosen === null
                ? 'none'
                : `v${chosen.version}${/[1-9a-f]$/.test(chosen.rights ?? '') ? ' with an expiry' : ''}`;
            decided[how] = (decided[how] ?? 0) + 1;
            const voter = chosen?.to ?? owner;
            expected.set(voter, (expected.get(voter) ?? 0n) + balanceOf(owner));
          }
          const { score, token, delegations } = await ask(PEOPLE);
          expect(score).toEqual(PEOPLE.map((person) => ({ address: person, score: String(expected.get(person)) })));
          expect(score.reduce((sum, { score: text }) => sum + BigInt(text), 0n)).toBe(all);
          expect([token, ...delegations].map(({ chainId, block: of }) => [chainId, of.number])).toEqual([
            [1, at],
            ...chains.map(({ chainId }): [number, number] => [chainId, at]),
          ]);
          for (let subsets = 0; subsets < 4; subsets++) {
            const asked = PEOPLE.filter(() => random() < 0.4);
            expect((await ask(asked)).score).toEqual(score.filter((voter) => asked.includes(voter.address as Address)));
          }
        }
      }
      expect(Object.keys(decided).sort()).toEqual(['none', 'v1', 'v2', 'v2 with an expiry']);
      expect(Math.min(...Object.values(decided))).toBeGreaterThan(5);
    }, 120_000);
  });
}

describe('the forms in which Snapshot asks', () => {
  const [vault, other, voter, nobody] = [201, 202, 203, 0xabcdef].map(address) as [Address, Address, Address, Address];
  let store: Store;
  let app: App;
  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('votes.db')}`);
    const chain = await newChain(store, 1);
    await chain.add([
      block(101, [
        granted('ALL', { from: vault, to: voter, rights: VOTE }),
        granted('ALL', { version: 1, from: other, to: voter }),
      ]),
      block(105),
    ]);
    app = appOf(store, timeOf(105), { tokens });
  });
  afterAll(() => store.close());
  const both = String(balanceOf(vault) + balanceOf(other) + balanceOf(voter));
  const SCORE = [
    { address: checksummed(voter), score: both },
    { address: vault, score: '0' },
    { address: checksummed(nobody), score: String(balanceOf(nobody)) },
  ];
  const addresses = SCORE.map((one) => one.address);
  const asked = { network: '1', snapshot: 105, addresses };

  test('api-post: the parameters are in options', async () => {
    // As the strategy sends it, with everything that the space configured.
    const body = {
      options: { api: 'http://localhost/registry/any/votes', symbol: 'V', decimals: 0, ...options },
      ...asked,
    };
    const response = await post(app, '/registry/any/votes', body);
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(((await response.json()) as Votes).score).toEqual(SCORE);
  });

  test('the settings of a space that the documentation shows', async () => {
    const shown = JSON.parse(codeBlock('docs/integrating.md', '"name": "api-post"').text) as {
      name: string;
      network: string;
      params: Record<string, string>;
    }[];
    const coin = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
    for (const { name, network, params } of shown) {
      // As the strategies send them.
      const target = name === 'api-v2' ? params['url'] : params['api'];
      const path = new URL(target ?? '').pathname;
      expect([params['contract'] ?? path.split('/')[4], path.startsWith('/registry/any/votes')]).toEqual([coin, true]);
      const response = await post(app, path, { options: params, ...asked, network });
      expect(((await response.json()) as Votes).score.map(({ address: of }) => of)).toEqual(addresses);
    }
    expect(shown.map(({ name }) => name)).toEqual(['api-v2', 'api-post']);
  });

  test('api-v2: the parameters are in the path, of GET and of POST', async () => {
    const url = `${OF}/text:vote?network=1&snapshot=105&addresses=${addresses.join(',')}`;
    for (const path of [url, url.replace('text:vote', 'text%3Avote'), url.replace('105', 'latest')])
      expect(((await (await get(app, path)).json()) as Votes).score).toEqual(SCORE);
    const sent = { options: { url: `${OF}/text:vote`, type: 'api-post' }, ...asked, snapshot: 'latest' };
    expect(((await (await post(app, `${OF}/text:vote`, sent)).json()) as Votes).score).toEqual(SCORE);
    const { options: _, ...without } = sent;
    expect(((await (await post(app, `${OF}/text:vote`, without)).json()) as Votes).score).toEqual(SCORE);
  });

  test('a right is none, a text, 32 or 24 bytes, or a hash', async () => {
    const scoreOf = async (rights: string) => {
      const response = await get(app, `${OF}/${rights}?network=1&snapshot=latest&addresses=${voter}`);
      const { score } = (await response.json()) as Votes;
      return score?.[0]?.score ?? response.status;
    };
    const withoutRight = String(balanceOf(other) + balanceOf(voter));
    expect(await Promise.all(['none', NO_RIGHTS, 'hash:AGW_LINK'].map(scoreOf))).toEqual(Array(3).fill(withoutRight));
    expect(await Promise.all(['text:vote', VOTE, VOTE.slice(0, 50)].map(scoreOf))).toEqual(Array(3).fill(both));
    expect(await Promise.all(['vote', '0x12', 'text:', '%zz'].map(scoreOf))).toEqual([400, 400, 400, 400]);
  });

  test('explain names each owner, its voter, and what decides', async () => {
    const response = await get(app, `${OF}/text:vote?network=1&snapshot=105&addresses=${voter},${vault}&explain=true`);
    const { owners } = (await response.json()) as Votes;
    expect(owners?.map(({ owner, voter: by, reason, delegation }) => [owner, by, reason, delegation?.version])).toEqual(
      [
        [checksummed(vault), checksummed(voter), 'last', 2],
        [checksummed(other), checksummed(voter), 'last', 1],
        [checksummed(voter), checksummed(voter), 'none', undefined],
      ],
    );
    expect(owners?.map(({ balance }) => BigInt(balance))).toEqual([vault, other, voter].map(balanceOf));
  });

  test('many addresses are a long list, of which a caller has a few at a time', async () => {
    const longLists = createLongLists();
    const begun = Array.from({ length: 4 }, () => longLists.begin({ id: '198.51.100.1', hasKey: false }));
    const busy = appOf(store, timeOf(105), { tokens, longLists });
    const statusOf = async (count: number) =>
      (await post(busy, `${OF}/none`, { ...asked, addresses: Array(count).fill(voter) })).status;
    expect([await statusOf(25), await statusOf(26)]).toEqual([200, 429]);
    begun[0]?.end();
    expect([await statusOf(26), await statusOf(26), longLists.inFlight]).toEqual([200, 200, 3]);
  });

  test('nobody, and the same address twice', async () => {
    const of = async (list: readonly string[]) =>
      ((await (await post(app, `${OF}/none`, { ...asked, addresses: list })).json()) as Votes).score;
    expect(await of([])).toEqual([]);
    const twice = await of([vault, checksummed(vault)]);
    expect(twice.map(({ score }) => score)).toEqual(Array(2).fill(String(balanceOf(vault))));
  });

  describe('an error has no score, whatever its status', () => {
    const refused = async (response: Response) => {
      const body = (await response.json()) as { readonly detail: string; readonly type: string };
      expect(body).not.toHaveProperty('score');
      return [response.status, `${body.type} ${body.detail}`] as const;
    };
    const errors: [what: string, body: unknown, status: number, detail: string][] = [
      ['no JSON', 'x', 400, 'not a JSON object'],
      ['a list', [], 400, 'not a JSON object'],
      ['no addresses', { ...asked, options, addresses: undefined }, 400, 'addresses must be a list'],
      [
        'a bad address',
        { ...asked, options, addresses: [voter, '0x12'] },
        400,
        'addresses at position 1 must be an address',
      ],
      ['a bad checksum', { ...asked, options, addresses: [checksummed(nobody).replace('D', 'd')] }, 400, 'checksum'],
      ['an address that is no text', { ...asked, options, addresses: [{}] }, 400, 'addresses must be a text'],
      ['the zero address', { ...asked, options, addresses: [address(0)] }, 400, 'must not be the zero address'],
      ['too many', { ...asked, options, addresses: Array(1001).fill(voter) }, 400, 'must be at most 1000, not 1001'],
      ['no options', asked, 400, 'contract is required; standard is required; rights is required'],
      ['options that are none', { ...asked, options: 'x' }, 400, 'options must be an object'],
      [
        'an unknown standard',
        { ...asked, options: { ...options, standard: 'ERC1155' } },
        400,
        'standard must be one of',
      ],
      ['no network', { ...asked, options, network: undefined }, 400, 'network is required'],
      ['a network that is not served', { ...asked, options, network: '5' }, 400, '5 is not served here'],
      [
        'a chain that is not served',
        { ...asked, options: { ...options, delegationChainId: '1,5' } },
        400,
        '5 is not served',
      ],
      ['a strange snapshot', { ...asked, options, snapshot: 'finalized' }, 400, 'must be a block number or "latest"'],
      ['a future block', { ...asked, options, snapshot: 106 }, 503, 'not-yet-indexed'],
      ['a block before the first', { ...asked, options, snapshot: 99 }, 404, 'not-indexed'],
      ['a block without a hash', { ...asked, options, snapshot: 103 }, 404, 'block-not-kept'],
    ];
    for (const [what, body, status, detail] of errors)
      test(what, async () => {
        expect(await refused(await post(app, '/registry/any/votes', body))).toEqual([
          status,
          expect.stringContaining(detail),
        ]);
      });

    test('a query where there is none, another type, too many bytes, and another method', async () => {
      const body = { ...asked, options };
      expect((await refused(await post(app, '/registry/any/votes?rights=none', body)))[0]).toBe(400);
      expect((await refused(await post(app, '/registry/any/votes', body, { 'content-type': 'text/plain' })))[0]).toBe(
        415,
      );
      expect((await refused(await post(app, '/registry/any/votes', ' '.repeat(70_000))))[0]).toBe(413);
      expect((await refused(await get(app, '/registry/any/votes')))[0]).toBe(405);
      expect((await refused(await get(app, `${OF}/none/x`)))[0]).toBe(404);
      const long = `${OF}/none?network=1&snapshot=105&addresses=${Array(190).fill(voter).join()}`;
      expect((await refused(await get(app, long)))[0]).toBe(414);
    });

    test('providers that do not answer, or that no operator has turned on', async () => {
      const without = appOf(store, timeOf(105));
      expect(await refused(await post(without, '/registry/any/votes', { ...asked, options }))).toEqual([
        404,
        expect.stringContaining('OWNERSHIP=on'),
      ]);
      const dead = appOf(store, timeOf(105), {
        tokens: {
          ...tokens,
          balances: async () => ({ type: 'unavailable', cause: 'no-provider', failures: ['1/1 timeout'] }),
        },
      });
      expect(await refused(await post(dead, '/registry/any/votes', { ...asked, options }))).toEqual([
        503,
        expect.stringContaining('ownership-unavailable'),
      ]);
      const none = appOf(store, timeOf(105), {
        tokens: { ...tokens, balances: async () => ({ type: 'not-a-token', cause: 'no-code' }) },
      });
      expect((await refused(await post(none, '/registry/any/votes', { ...asked, options })))[0]).toBe(422);
      // The index is too old.
      const stale = appOf(store, timeOf(105) + 600, { tokens });
      expect(
        (await refused(await post(stale, '/registry/any/votes', { ...asked, options, snapshot: 'latest' })))[0],
      ).toBe(503);
    });

    test('more than the rate limit: each address counts as a request', async () => {
      const limited = appOf(store, timeOf(105), { tokens, admission: admissionOf(5) });
      const statusOf = async (count: number) =>
        (await post(limited, '/registry/any/votes', { ...asked, options, addresses: Array(count).fill(voter) })).status;
      expect([await statusOf(6), await statusOf(3), await statusOf(2)]).toEqual([413, 200, 429]);
    });
  });
});

describe('what is not certain', () => {
  const OWNERS = Array.from({ length: 1001 }, (_, of) => address(5000 + of));
  const [voter, vault, quiet] = [301, 302, 303].map(address) as [Address, Address, Address];
  const ask = async (
    store: Store,
    addresses: readonly Address[],
    snapshot: number | 'latest' = 'latest',
    more: Partial<TokenReader> = {},
  ) => {
    const app = appOf(store, timeOf(120), { tokens: { ...tokens, ...more } });
    const response = await post(app, '/registry/any/votes', { options, network: 1, snapshot, addresses });
    return (await response.json()) as Votes & { readonly detail?: string };
  };
  const fresh = async () => {
    const store = await openStore(`sqlite:${temporaryPath('votes.db')}`);
    return { store, chain: await newChain(store, 1) };
  };

  test('an address that very many owners have granted something is refused, others are not', async () => {
    const { store, chain } = await fresh();
    await chain.add([
      block(
        118,
        OWNERS.slice(1).map((from) => granted('ALL', { from, to: voter })),
      ),
      block(120),
    ]);
    const sum = OWNERS.slice(1).reduce((all, owner) => all + balanceOf(owner), balanceOf(voter));
    expect((await ask(store, [voter])).score[0]?.score).toBe(String(sum));
    await chain.add([block(121, [granted('ALL', { from: OWNERS[0] as Address, to: voter })])]);
    const refused = await ask(store, [quiet, voter]);
    expect([refused.score, refused.detail]).toEqual([
      undefined as never,
      expect.stringContaining(`${voter}, which more than 1000 owners`),
    ]);
    expect((await ask(store, [quiet])).score[0]?.score).toBe(String(balanceOf(quiet)));
    await store.close();
  });

  test('addresses that have very many owners together are refused, fewer of them are not', async () => {
    const { store, chain } = await fresh();
    const voters = Array.from({ length: 26 }, (_, of) => address(0x50000 + of));
    const grants = voters.flatMap((to, of) =>
      Array.from({ length: 990 }, (_, one) => granted('ALL', { from: address(0x60000 + 990 * of + one), to })),
    );
    await chain.add([block(118, grants), block(120)]);
    const refused = await ask(store, voters);
    expect([refused.score, refused.detail]).toEqual([
      undefined as never,
      expect.stringContaining('more than 25000 owners together'),
    ]);
    expect((await ask(store, voters.slice(0, 3))).score).toHaveLength(3);
    await store.close();
  }, 60_000);

  test('a delegation of another chain that expires between its block and the time of the snapshot', async () => {
    const { store, chain } = await fresh();
    await chain.add([block(105), block(112), block(119), block(120)]);
    const other = await newChain(store, 10);
    const expiring = granted('ALL', { from: vault, to: voter, rights: until(VOTE, timeOf(111)) });
    await other.add([block(105, [expiring]), block(119), block(120)]);
    const app = appOf(store, timeOf(120), { tokens, chainIds: new Set([1, 10]) });
    const scoreAt = async (snapshot: number) => {
      const body = { options: { ...options, delegationChainId: [10] }, network: 1, snapshot, addresses: [voter] };
      const { score, detail } = (await (await post(app, '/registry/any/votes', body)).json()) as Votes & {
        detail?: string;
      };
      return score?.[0]?.score ?? detail;
    };
    const own = balanceOf(voter);
    expect(await scoreAt(105)).toBe(String(own + balanceOf(vault)));
    expect(await scoreAt(119)).toBe(String(own));
    expect(await scoreAt(112)).toContain('has no timestamp of the requested block');
    await store.close();
  });

  test('what the zero address has granted counts for nobody', async () => {
    const { store, chain } = await fresh();
    await chain.add([block(119, [granted('ALL', { version: 1, from: address(0), to: voter })]), block(120)]);
    const asked: Address[] = [];
    const balances: TokenReader['balances'] = async (_of, owners) => {
      asked.push(...owners);
      return { type: 'balances', balances: owners.map(balanceOf) };
    };
    expect((await ask(store, [voter], 'latest', { balances })).score[0]?.score).toBe(String(balanceOf(voter)));
    expect(asked).toEqual([voter]);
    await store.close();
  });

  test('a revocation that is not settled matters only where v1 would decide', async () => {
    const { store, chain } = await fresh();
    await chain.add([
      block(117, [
        granted('ALL', { version: 1, from: vault, to: voter }),
        granted('ALL', { version: 1, from: quiet, to: voter }),
      ]),
      revocation(118, vault),
      block(119),
    ]);
    expect((await ask(store, [quiet])).score[0]?.score).toBe('0');
    for (const one of [vault, voter]) expect((await ask(store, [one])).detail).toContain('could not be read');
    await chain.add([block(120, [granted('ALL', { from: vault, to: quiet })])]);
    expect((await ask(store, [vault])).score[0]?.score).toBe('0');
    await store.close();
  });

  test('a disputed wallet, as owner or as voter', async () => {
    const { store, chain } = await fresh();
    const state = await chain.add([block(119, [granted('ALL', { from: vault, to: voter })]), block(120)]);
    await store.report(1, state.epoch, {
      disputes: [{ vault, delegate: voter, since: 1, block: 119, statement: null }],
    });
    for (const one of [vault, voter]) expect((await ask(store, [one])).detail).toContain('disputed');
    expect((await ask(store, [quiet])).score[0]?.score).toBe(String(balanceOf(quiet)));
    await store.close();
  });

  test('a final block whose hash is not kept is read from the providers, with its time', async () => {
    const { store, chain } = await fresh();
    const expiring = granted('ALL', { from: vault, to: voter, rights: until(VOTE, timeOf(110)) });
    await chain.add([block(105, [expiring]), block(118), block(120)], { verified: 118 });
    const at: unknown[] = [];
    const providing = (hash: number, timestamp: number): Partial<TokenReader> => ({
      block: async (...args) => {
        at.push(args.slice(0, 2));
        return { type: 'block', hash: `0x${String(hash).padStart(64, '0')}`, timestamp };
      },
      balances: async (of, owners) => {
        at.push(of.blockHash);
        return { type: 'balances', balances: owners.map(balanceOf) };
      },
    });
    const scoreAt = async (number: number, timestamp: number) =>
      (await ask(store, [voter], number, providing(number, timestamp))).score?.[0]?.score;
    const own = String(balanceOf(voter));
    const more = String(balanceOf(voter) + balanceOf(vault));
    expect([await scoreAt(110, timeOf(110)), await scoreAt(111, timeOf(111))]).toEqual([more, own]);
    expect(at.slice(0, 2)).toEqual([[1, 110], `0x${'110'.padStart(64, '0')}`]);
    // Between the kept blocks around it, no provider can have another time.
    expect(await scoreAt(111, timeOf(119))).toBeUndefined();
    // Not final: a reorg would not be noticed.
    expect((await ask(store, [voter], 119)).detail).toContain('has no hash of the requested block');
    expect((await ask(store, [voter], 111)).detail).toContain('Too few providers');
    await store.close();
  });
});

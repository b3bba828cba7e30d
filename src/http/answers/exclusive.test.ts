import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT, hash, timeOf } from '../../../test/support/fixtures.ts';
import { appOf, BAD_TOKEN_ID, tokensOf } from '../../../test/support/serving.ts';
import { checksummed } from '../../registry/checksum.ts';
import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { GLOBAL_ID, NEVER, type RightsId } from '../../registry/rights.ts';
import { openStore } from '../../store/open.ts';
import type { BlockInput, Store } from '../../store/store.ts';
import { createLongLists } from '../limits/long-lists.ts';

const LINK: RightsId = '0xc10dcfe266c1f71ef476efbd3223555750dc271e4115626b';
const rightsOf = (id: RightsId, expiry: number, ignored = '000000'): Bytes32 =>
  `${id}${ignored}${expiry.toString(16).padStart(10, '0')}`;
const VOTE_ID: RightsId = `0x${'766f7465'.padEnd(48, '0')}`;
const [LINKED, NARROW, OTHER, FORMER] = [0x11, 0x12, 0x13, 0x14].map(address) as [Address, Address, Address, Address];
const [SELF, NEVER_GRANTS] = [address(0x20), address(1)];
const TOKEN = { contract: CONTRACT, tokenId: 7n };
/** The block at whose time a grant counts for the last time. */
const LAST = 103;
const GAP = 110;

const BLOCKS: readonly BlockInput[] = [
  block(100, [
    granted('ALL', { to: FORMER, rights: rightsOf(LINK, NEVER) }),
    granted('ALL', { to: LINKED, rights: rightsOf(LINK, timeOf(LAST), 'abcdef') }),
    granted('ERC721', { to: NARROW, rights: rightsOf(GLOBAL_ID, NEVER), ...TOKEN }),
    granted('ALL', { to: HOT }),
    granted('ALL', { from: OTHER, to: LINKED, rights: rightsOf(GLOBAL_ID, NEVER) }),
    granted('ALL', { from: SELF, to: SELF, rights: rightsOf(VOTE_ID, NEVER) }),
    granted('ALL', { from: NEVER_GRANTS, to: LINKED, rights: rightsOf(LINK, NEVER) }),
  ]),
  ...[101, 102, 103, 104].map((number) => block(number)),
  // A renewed grant keeps its place: the first one.
  block(105, [ended('ALL', { to: FORMER, rights: rightsOf(LINK, NEVER) })]),
  block(106, [granted('ALL', { to: FORMER, rights: rightsOf(LINK, NEVER) })]),
  // The times of the blocks in between are not kept.
  block(GAP, [granted('ALL', { to: NARROW, rights: rightsOf(VOTE_ID, timeOf(GAP) + 25) })]),
  block(GAP + 5),
];
const HEAD = GAP + 5;

let store: Store;
let chain: Awaited<ReturnType<typeof newChain>>;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('exclusive.db')}`);
  chain = await newChain(store, 1);
  await chain.add([...BLOCKS]);
});
afterAll(() => store.close());

type Body = Readonly<Record<string, unknown>> & { readonly delegation: { readonly to: string } | null };
const send = (path: string, more: Parameters<typeof appOf>[2] = {}, now = timeOf(HEAD)) =>
  appOf(store, now, { tokens: tokensOf(COLD), ...more }).fetch(
    new Request(`http://localhost/registry/v2/exclusive/${path}`),
  );
const ask = async (path: string, more?: Parameters<typeof appOf>[2]): Promise<Body> => {
  const response = await send(path, more);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Body;
};
const problemOf = async (path: string, more?: Parameters<typeof appOf>[2]) => {
  const { type, detail } = (await (await send(path, more)).json()) as { type: string; detail: string };
  return [type?.replace('/docs#problem-', ''), detail] as const;
};
const walletOf = async (path: string) => (await ask(path))['wallet'];

describe('the wallet of a vault', () => {
  test('is named with the delegation that decides, and when that ends', async () => {
    const found = await ask(`wallet/${COLD}?rights=${LINK}&block=${LAST}`);
    expect(found).toMatchObject({
      wallet: checksummed(LINKED),
      vault: checksummed(COLD),
      delegated: true,
      delegation: { type: 'ALL', from: checksummed(COLD), to: checksummed(LINKED), rightsId: LINK, chainId: 1 },
      expires: timeOf(LAST),
      nextChange: timeOf(LAST) + 1,
    });
    expect(Object.keys(found)).toEqual(['wallet', 'vault', 'delegated', 'delegation', 'expires', 'nextChange']);
  });

  test('changes with the first block after the expiry, without a log', async () => {
    const at = (number: number) => ask(`wallet/${COLD}?rights=${LINK}&block=${number}`);
    expect((await at(LAST))['wallet']).toBe(checksummed(LINKED));
    expect(await at(LAST + 1)).toMatchObject({ wallet: checksummed(FORMER), expires: 'never', nextChange: null });
    expect((await at(105))['delegated']).toBe(false);
    expect((await at(106))['wallet']).toBe(checksummed(FORMER));
  });

  test('is the vault itself without a delegation that counts', async () => {
    const none = { delegated: false, delegation: null, expires: null, nextChange: null };
    const itself = (vault: Address) => ({ wallet: checksummed(vault), vault: checksummed(vault), ...none });
    expect(await ask(`wallet/${COLD}`)).toEqual(itself(COLD));
    expect(await ask(`wallet/${HOT}?rights=${LINK}`)).toEqual(itself(HOT));
    // The registry answers no about whatever this wallet would have granted.
    expect(await ask(`wallet/${NEVER_GRANTS}?rights=${LINK}`)).toEqual(itself(NEVER_GRANTS));
    expect(await ask(`wallet/${SELF}?rights=text:vote`)).toMatchObject({ wallet: checksummed(SELF), delegated: true });
  });

  test('takes the right as bytes, as text and as the hash of a name, and refuses other forms', async () => {
    const linked = checksummed(LINKED);
    for (const rights of [LINK, LINK.toUpperCase().replace('0X', '0x'), 'hash:AGW_LINK'])
      expect(await walletOf(`wallet/${COLD}?block=100&rights=${rights}`)).toBe(linked);
    for (const rights of [VOTE_ID, 'text:vote'])
      expect(await walletOf(`wallet/${COLD}?block=${GAP}&rights=${rights}`)).toBe(checksummed(NARROW));
    // A global delegation counts for every right.
    expect(await walletOf(`wallet/${OTHER}?rights=text:anything`)).toBe(linked);
    for (const [rights, detail] of [
      [rightsOf(LINK, NEVER), 'must be 24 bytes'],
      ['vote', 'must be 24 bytes'],
      ['hash:', 'must be 24 bytes'],
      ['', 'must be 24 bytes'],
      [`text:${'x'.repeat(25)}`, 'must be at most 24 bytes of text'],
      ['text:a%00b', 'must not have control characters'],
    ])
      expect((await problemOf(`wallet/${COLD}?rights=${rights}`))[1]).toContain(`rights ${detail}`);
  });
});

describe('a block whose time is not kept', () => {
  test('is answered where no expiry is close to it, and refused where one is', async () => {
    const at = (number: number) => `wallet/${COLD}?rights=text:vote&block=${number}`;
    expect((await ask(at(GAP)))['wallet']).toBe(checksummed(NARROW));
    // It expires in the middle of blocks 110 to 115.
    for (const number of [GAP + 1, GAP + 4]) {
      const [type, detail] = await problemOf(at(number));
      expect([type, detail]).toEqual(['block-not-kept', expect.stringContaining('has no timestamp')]);
    }
    expect((await ask(at(HEAD)))['delegated']).toBe(false);
    expect((await ask(`wallet/${COLD}?rights=${LINK}&block=${GAP + 1}`))['wallet']).toBe(checksummed(FORMER));
    expect((await ask(`wallet/${COLD}?rights=text:vote&block=108`))['delegated']).toBe(false);
  });

  test('is refused by its time too, unless the next block is kept', async () => {
    const at = (time: number, rights: string) => `wallet/${COLD}?rights=${rights}&timestamp=${time}`;
    expect((await problemOf(at(timeOf(GAP) + 30, 'text:vote')))[0]).toBe('block-not-kept');
    expect((await ask(at(timeOf(GAP) + 25, 'text:vote')))['delegated']).toBe(true);
    // The block of that time is the last one at which it counts, though the time itself is later.
    expect((await ask(at(timeOf(LAST) + 9, LINK)))['wallet']).toBe(checksummed(LINKED));
  });
});

test('nothing is cached beyond the next expiry', async () => {
  const cacheOf = async (now: number) => {
    const own = await openStore(`sqlite:${temporaryPath('cached.db')}`);
    const { epoch } = await own.claim(1, 100);
    const head = block(100, [granted('ALL', { rights: rightsOf(GLOBAL_ID, timeOf(100) + 5) })]);
    await own.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
    const response = await appOf(own, now).fetch(new Request(`http://localhost/registry/v2/exclusive/wallet/${COLD}`));
    await own.close();
    return response.headers.get('cache-control');
  };
  // The next block is due after 12 seconds.
  expect(await cacheOf(timeOf(100))).toBe('public, max-age=6');
  expect(await cacheOf(timeOf(100) + 7)).toBe('public, no-cache');
});

describe('the wallet of a token', () => {
  const token = `owner?contract=${CONTRACT}&tokenId=7`;

  test('is by the narrower delegation, but by the right first', async () => {
    expect(await walletOf(`${token}&owner=${COLD}&block=${LAST}`)).toBe(checksummed(NARROW));
    expect(await walletOf(`${token}&owner=${COLD}&block=${LAST}&rights=${LINK}`)).toBe(checksummed(LINKED));
    expect(await walletOf(`owner?contract=${CONTRACT}&tokenId=8&owner=${COLD}&block=${LAST}`)).toBe(checksummed(COLD));
  });

  test('is that of the owner on the chain, unless the owner is given: then no node is asked', async () => {
    expect(await ask(token)).toMatchObject({ wallet: checksummed(NARROW), vault: checksummed(COLD) });
    const unasked = () => Promise.reject(new Error('asked'));
    const tokens = { ...tokensOf(COLD), ownerOf: unasked };
    expect(await ask(`${token}&owner=${COLD}`, { tokens })).toMatchObject({ wallet: checksummed(NARROW) });
    const off = { tokens: undefined as never };
    expect((await ask(`${token}&owner=${COLD}`, off))['wallet']).toBe(checksummed(NARROW));
    expect((await problemOf(token, off))[0]).toBe('ownership-off');
  });

  test('has the problems of token gates, and is nobody without an owner', async () => {
    expect((await problemOf(`owner?contract=${CONTRACT}&tokenId=${BAD_TOKEN_ID}`))[0]).toBe('not-a-token');
    expect((await problemOf(`${token}&block=${GAP + 1}`))[0]).toBe('block-not-kept');
    const away = { ownerOf: async () => ({ type: 'unavailable', cause: 'no-provider', failures: [] }) as const };
    expect((await problemOf(token, { tokens: { ...tokensOf(COLD), ...away } }))[0]).toBe('ownership-unavailable');
    const burned = { ...tokensOf(COLD), ownerOf: async () => ({ type: 'no-owner' }) as const };
    const nobody = { wallet: null, vault: null, delegated: false, delegation: null, expires: null, nextChange: null };
    expect(await ask(token, { tokens: burned })).toEqual(nobody);
  });
});

describe('the vaults of a wallet', () => {
  const vaultsOf = async (path: string) =>
    ((await ask(path))['vaults'] as { vault: string }[]).map(({ vault }) => vault);

  test('are those for which it alone acts, with the delegation and the next change', async () => {
    const page = await ask(`vaults/${LINKED}?rights=${LINK}&block=${LAST}`);
    expect(page['vaults']).toEqual([
      expect.objectContaining({ vault: checksummed(OTHER), expires: 'never' }),
      expect.objectContaining({ vault: checksummed(COLD), expires: timeOf(LAST) }),
    ]);
    const chains = [{ chainId: 1, block: { number: LAST } }];
    expect(page).toMatchObject({ complete: true, nextChange: timeOf(LAST) + 1, next: null, chains });
    expect(await vaultsOf(`vaults/${LINKED}?rights=${LINK}&block=${LAST + 1}`)).toEqual([checksummed(OTHER)]);
    // It comes to this wallet when what goes before expires.
    expect(await ask(`vaults/${FORMER}?rights=${LINK}&block=${LAST}`)).toMatchObject({
      vaults: [],
      nextChange: timeOf(LAST) + 1,
    });
    expect(await vaultsOf(`vaults/${FORMER}?rights=${LINK}`)).toEqual([checksummed(COLD)]);
  });

  test('come in pages as of one block, and only there', async () => {
    const path = `vaults/${LINKED}?rights=${LINK}&block=${LAST}&limit=1`;
    const first = await send(path);
    const { vaults, next } = (await first.json()) as { vaults: { vault: string }[]; next: string };
    expect(vaults.map(({ vault }) => vault)).toEqual([checksummed(OTHER)]);
    expect(first.headers.get('link')).toContain(`cursor=${next}`);
    expect(await vaultsOf(`${path}&cursor=${next}`)).toEqual([checksummed(COLD)]);
    const elsewhere = `vaults/${LINKED}?rights=text:vote&block=${LAST}&limit=1&cursor=${next}`;
    expect((await problemOf(elsewhere))[1]).toContain('is not a cursor of this list');
  });
});

describe('a disputed vault', () => {
  test('is refused, and so are lists that it could be in', async () => {
    const own = await openStore(`sqlite:${temporaryPath('disputed.db')}`);
    const disputed = await newChain(own, 1);
    await disputed.add([...BLOCKS]);
    const dispute = { vault: COLD, delegate: FORMER, since: 1, block: 100, statement: null };
    await own.report(1, disputed.state.epoch, { disputes: [dispute] });
    const app = appOf(own, timeOf(HEAD), { tokens: tokensOf(COLD) });
    const typeOf = async (path: string) => {
      const response = await app.fetch(new Request(`http://localhost/registry/v2/exclusive/${path}`));
      return ((await response.json()) as { type?: string }).type ?? response.status;
    };
    const refused = '/docs#problem-wallet-disputed';
    expect(await typeOf(`wallet/${COLD}`)).toBe(refused);
    for (const owner of ['', `&owner=${COLD}`])
      expect(await typeOf(`owner?contract=${CONTRACT}&tokenId=7${owner}`)).toBe(refused);
    expect(await typeOf(`vaults/${LINKED}?rights=${LINK}`)).toBe(refused);
    expect(await typeOf(`wallet/${OTHER}`)).toBe(200);
    await own.close();
  });
});

describe('resolver=exclusive', () => {
  const anyOf = async (path: string) => {
    const app = appOf(store, timeOf(HEAD), { tokens: tokensOf(COLD) });
    const response = await app.fetch(new Request(`http://localhost/registry/any/${path}`));
    return { response, body: (await response.json()) as Record<string, unknown> };
  };
  const vaultsOf = async (path: string) =>
    ((await anyOf(path)).body['vaults'] as { vault: string; grants: object[] }[]).map(({ vault, grants }) => [
      vault,
      grants.length,
    ]);
  const holdsOf = async (wallet: Address, more: string) =>
    (await anyOf(`holders/${wallet}?contract=${CONTRACT}&resolver=exclusive&${more}`)).body['holds'];

  test('lists the vaults that a wallet alone acts for, of everything or of a token', async () => {
    const all = `resolver=exclusive&rights=${LINK}&block=${LAST}`;
    expect(await vaultsOf(`vaults/${LINKED}?${all}`)).toEqual([
      [checksummed(OTHER), 1],
      [checksummed(COLD), 1],
    ]);
    expect(await vaultsOf(`vaults/${FORMER}?${all}`)).toEqual([]);
    const ofToken = `vaults/${NARROW}?resolver=exclusive&contract=${CONTRACT}&tokenId=7`;
    expect(await vaultsOf(ofToken)).toEqual([[checksummed(COLD), 1]]);
    expect(await vaultsOf(`vaults/${NARROW}?resolver=exclusive`)).toEqual([]);
    const { response, body } = await anyOf(`vaults/${LINKED}?${all}`);
    expect(body['nextChange']).toBe(timeOf(LAST) + 1);
    expect(response.headers.get('cache-control')).toBe('public, no-cache');
  });

  test('lets the one wallet through a token gate, and the owner only if nobody else acts for it', async () => {
    expect([await holdsOf(NARROW, 'tokenId=7'), await holdsOf(COLD, 'tokenId=7')]).toEqual([true, false]);
    expect([await holdsOf(HOT, 'tokenId=7'), await holdsOf(COLD, 'tokenId=8')]).toEqual([false, true]);
    // Balances go by the whole wallet.
    expect([await holdsOf(COLD, ''), await holdsOf(NARROW, '')]).toEqual([true, false]);
    const linked = `rights=${LINK}`;
    expect([await holdsOf(COLD, linked), await holdsOf(FORMER, linked), await holdsOf(LINKED, linked)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('refuses what it does not have', async () => {
    for (const [path, detail] of [
      [`vaults/${HOT}?resolver=exclusive&contract=${CONTRACT}`, 'tokenId is required with contract'],
      [`vaults/${HOT}?resolver=exclusive&narrower=true`, 'narrower cannot be combined'],
      [`vaults/${HOT}?resolver=exclusive&rights=${rightsOf(LINK, NEVER)}`, 'rights must be at most 24 bytes'],
      [`vaults/${HOT}?rights=${LINK}`, 'rights must be a bytes32'],
      [`holders/${HOT}?contract=${CONTRACT}&rights=hash:AGW_LINK`, 'rights must be a bytes32'],
      [`delegates/${HOT}?resolver=exclusive`, 'resolver is not a known parameter'],
    ]) {
      const { response, body } = await anyOf(String(path));
      expect([response.status, body['detail']]).toEqual([400, expect.stringContaining(String(detail))]);
    }
  });
});

describe('an owner with very many grants', () => {
  const MANY = 3000;
  const time = timeOf(102);
  /** Grants in the order of the list, then one block more. */
  async function ownerOf(rightsAt: (position: number) => Bytes32) {
    const own = await openStore(`sqlite:${temporaryPath('many.db')}`);
    const many = await newChain(own, 1);
    const to = (position: number) => address(0x10_000 + position);
    const events = Array.from({ length: MANY }, (_, at) => granted('ALL', { to: to(at), rights: rightsAt(at) }));
    await many.add([{ ...block(101, events), hash: hash(101) }, block(102)]);
    return { own, many, to };
  }

  test('costs a few reads, whatever is before what decides', async () => {
    const unexpired = (at: number) => rightsOf(at % 2 === 0 ? LINK : VOTE_ID, NEVER);
    const { own, many, to } = await ownerOf(unexpired);
    const classes = [LINK, GLOBAL_ID].map((id) => ({ id, kind: 'ALL', contract: null, tokenId: null }) as const);
    for (const number of [101, 102]) {
      const at = { block: number, revision: many.state.revision };
      const { exclusive: grants, read } = await own.ownerGrants({ chainId: 1, at, owners: [COLD], classes });
      expect(grants.map((one) => one.map((grant) => grant.to))).toEqual([[to(MANY - 2)]]);
      expect(read).toBeLessThan(10);
    }
    await own.close();
  });

  test('is answered in steps if what comes after it has expired, and its caller pays for them', async () => {
    const { own, to } = await ownerOf((at) => rightsOf(LINK, at < 2 ? NEVER : time - 1));
    const longLists = createLongLists(10);
    const app = appOf(own, time, { longLists });
    const request = () =>
      app.fetch(new Request(`http://localhost/registry/v2/exclusive/wallet/${COLD}?rights=${LINK}`));
    const response = await request();
    expect(((await response.json()) as Body)['wallet']).toBe(checksummed(to(1)));
    expect((await request()).status).toBe(429);
    await own.close();
  });
});

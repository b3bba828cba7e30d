// The page of a wallet without a browser: what it says, and above all what it does not say.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, granted, hash, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { CHAINS, FRIEND, fillWalletChains, LONG_ID, NOW, OWNER, VOTER } from '../../../test/support/wallet-chains.ts';
import type { App } from '../../http/server/app.ts';
import { type Bytes32, MAX_UINT256 } from '../../registry/delegation.ts';
import { expiringRights, rightsIdOf, rightsOf } from '../../registry/rights.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

const get = async (app: App, path: string) => (await app.fetch(new Request(`http://localhost${path}`))).text();
/** What a person reads: without tags, and with single spaces. */
const read = async (app: App, path: string) =>
  (await get(app, path))
    .replace(/^.*<main|<\/main>.*$/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
/** The keys of the rows, in order. */
const rowsOf = async (app: App, path: string) =>
  [...(await get(app, path)).matchAll(/data-key="((?:outgoing|incoming)\.[^"]+)"/g)].map(([, key]) => key);

describe('a wallet on five chains, one of which is away', () => {
  let store: Store;
  let app: App;
  let answering: App;

  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('wallet.db')}`);
    await fillWalletChains(store);
    const maxLag = () => 1e9;
    app = appOf(store, NOW, { chainIds: new Set(CHAINS), maxLag });
    answering = appOf(store, NOW, { chainIds: new Set([1, 10, 137]), maxLag });
  });
  afterAll(() => store.close());

  test('counts each wallet once, over chains and registries, and names those without any limit', async () => {
    expect(await read(answering, `/?wallet=${OWNER}`)).toContain(
      '2 wallets may act for it, 1 without any limit . It may act for 2 wallets, each within limits.',
    );
  });

  test('names what is missing, and claims nothing about it', async () => {
    const text = await read(app, `/?wallet=${OWNER}`);
    expect(text).toContain('Gnosis is missing. Gnosis is not indexed yet. Grants on Gnosis are unknown, not absent.');
    expect(text).toContain('Base is known only from block 100. Earlier grants are unknown, not absent.');
    expect(text).toContain('It may act for 2 wallets.');
    expect(text).not.toContain('within limits');
  });

  test('says that nobody may act only if every chain has answered from its beginning', async () => {
    const nobody = `/?wallet=${address(0xdead)}`;
    expect(await read(answering, nobody)).toContain('No other wallet may act for it. It may act for no other wallet.');
    for (const text of [await read(app, nobody), await read(app, `${nobody}&chain=8453`)]) {
      expect(text).toContain('not everything could be read: somebody may still act for it');
      expect(text).not.toMatch(/No other wallet may act|No delegations/);
    }
    expect(await read(app, `${nobody}&chain=100`)).toContain('this does not mean that nobody may act for it');
  });

  test('filters by direction, chain, kind and limit, and orders what is left', async () => {
    const count = async (filter: string) => (await rowsOf(app, `/?wallet=${OWNER}${filter}`)).length;
    expect(await count('')).toBe(11);
    expect(await count('&direction=incoming')).toBe(2);
    expect(await count('&chain=10')).toBe(3);
    expect(await count('&kind=nft')).toBe(3);
    expect(await count('&kind=erc20')).toBe(1);
    expect(await count('&unlimited=yes')).toBe(2);
    expect(await count('&unlimited=yes&kind=contract')).toBe(0);
    const [newest] = await rowsOf(app, `/?wallet=${OWNER}&order=newest`);
    expect(newest).toContain('v2.ERC20');
    const byKind = await rowsOf(app, `/?wallet=${OWNER}&order=kind&direction=outgoing`);
    expect(byKind.map((key) => key?.split('.')[4])).toEqual([
      'ALL',
      'ALL',
      'ALL',
      'CONTRACT',
      'ERC721',
      'TOKEN',
      'ERC721',
      'ERC1155',
      'ERC20',
    ]);
    const byWallet = await rowsOf(app, `/?wallet=${OWNER}&order=wallet&direction=outgoing`);
    expect(byWallet.map((key) => key?.split('.')[5])).toEqual([FRIEND, FRIEND, ...Array<string>(7).fill(VOTER)]);
  });

  test('has one card for each wallet that may act for it: the same power in both registries is one', async () => {
    const text = await read(answering, `/?wallet=${OWNER}`);
    expect(text).toMatch(
      /Who may act for it 0x1F2E…2c3D Copy can do everything , in both registries on Ethereum, for 3 days now\. Revoke all of it/i,
    );
    expect(text).toMatch(
      /0xb0A7…3456 Copy has \d limited grants , in both registries on Ethereum and Optimism, for 3 days now\. It may act for: .* and 3 more Revoke all of it/i,
    );
    const source = await get(answering, `/?wallet=${OWNER}`);
    expect(source.match(/data-key="hot\./g)).toHaveLength(2);
    expect(source).toMatch(/href="\/revoke\?wallet=0x\w+&amp;chain=1&amp;to=0x1f2e/i);
    // On several chains, the next page has one card for each.
    expect(source).toMatch(/href="\/revoke\?wallet=0x\w+&amp;to=0xb0a7/i);
    expect(await get(answering, `/?wallet=${OWNER}&chain=1&asOf=102`)).not.toContain('data-key="hot.');
  });

  test('shows long ids short with the whole value to copy, and rights as text and as bytes', async () => {
    const text = await get(app, `/?wallet=${OWNER}`);
    expect(text).toContain(`data-copy="${LONG_ID}"`);
    expect(text).toContain('115792…639877');
    expect(text.replace(/(?:title|data-full|data-copy|data-key|href)="[^"]*"/g, '')).not.toContain(String(LONG_ID));
    const words = await read(app, `/?wallet=${OWNER}`);
    expect(words).toContain('only “vote” 0x766f7465…');
    expect(words).toMatch(/only “claim” expired 2 days ago, not enforced by the registry/);
    expect(words).toContain('only 0x01ffffff…ffff');
  });

  test('leads to the revoke page for each grant from it, and only for those', async () => {
    const text = await get(app, `/?wallet=${OWNER}`);
    expect(text.match(/href="\/revoke\?wallet=0x[^"]*&amp;chain=\d+&amp;grant=v[12]\./g)).toHaveLength(9);
    expect(await get(app, `/?wallet=${address(0x50)}`)).toContain('Revoke');
    expect(await get(app, `/?wallet=${VOTER}`)).not.toContain('/revoke');
  });

  test('links to the block explorer of the chain, without saying where from, and never in the sandbox', async () => {
    const text = await get(app, `/?wallet=${OWNER}`);
    for (const [link] of text.matchAll(/<a href="https:[^>]+>/g)) expect(link).toContain('rel="noreferrer noopener"');
    expect(text).toMatch(/https:\/\/optimistic\.etherscan\.io\/address\/0x/);
    expect(text).toMatch(/https:\/\/etherscan\.io\/tx\/0x/);
    const sandbox = appOf(store, NOW, { chainIds: new Set([1]), maxLag: () => 1e9, sandbox: true });
    expect(await get(sandbox, `/?wallet=${OWNER}`)).not.toContain('https:');
  });

  test('tells the past as the past, with a way to the present and nothing to revoke', async () => {
    const path = `/?wallet=${OWNER}&chain=1&asOf=102`;
    const text = await read(app, path);
    expect(text).toContain('This is how it was at block 102. Show it as it is now');
    expect(text).toContain('3 wallets could act for it, 2 without any limit');
    expect(text).toContain('Could act for it');
    expect(text).not.toMatch(/may act/i);
    expect(await get(app, path)).not.toContain('/revoke');
    expect(await read(app, `/?wallet=${OWNER}&asOf=102`)).toContain('A block number belongs to one chain.');
    expect(await read(app, `/?wallet=${OWNER}&chain=1&asOf=5`)).toContain('This cannot be answered.');
  });

  test('a chain that is not followed is not the end', async () => {
    const path = `/?wallet=${OWNER}&chain=99`;
    expect(await read(answering, path)).toContain('This service does not follow chain 99. Show all chains');
    const [, all = ''] = /<a href="([^"]*)">Show all chains/.exec(await get(answering, path)) ?? [];
    expect(await read(answering, all)).toContain('2 wallets may act for it');
  });

  test('every field takes the one address in a text, and says what is wrong with any other', async () => {
    const url = encodeURIComponent(`https://etherscan.io/address/${OWNER}`);
    const revoke = (wallet: string) => `/revoke?wallet=${wallet}`;
    const check = (to: string) => `/?from=eth:${OWNER}&to=${to}&type=all&chainId=1`;
    expect(await read(answering, `/?wallet=${url}`)).toContain('2 wallets may act for it');
    expect(await read(answering, revoke(url))).toContain('Choose a chain');
    expect(await read(answering, check(`${FRIEND},`))).toContain('Check Yes.');
    expect(await get(answering, check(FRIEND.slice(2)))).toContain(`name="to" value="${FRIEND}"`);
    const hash = `0x${'ab'.repeat(32)}`;
    for (const path of [`/?wallet=${hash}`, revoke(hash), check(hash)])
      expect(await read(answering, path)).toContain('This is the hash of a transaction. ');
    expect(await read(answering, check('ada.eth'))).toContain('Hot wallet: This is a name.');
    expect(await read(answering, `/?from=${OWNER}&to=&type=erc721&chainId=1`)).toMatch(
      /Hot wallet: Enter an address\. .*Contract: Enter an address\. /,
    );
    expect(await read(answering, revoke('0x12'))).toContain('This has 2: 38 too few.');
  });

  test('a date that cannot be answered is explained by its field', async () => {
    const pages = (at: string) => [
      `/?wallet=${OWNER}&chain=1&asOf=${at}`,
      `/?from=${OWNER}&to=${VOTER}&type=all&chainId=1&at=${at}`,
    ];
    for (const path of pages('last+tuesday'))
      expect(await read(answering, path)).toContain(
        '“last tuesday” is not a point in time that this page knows. Enter a block number, a date such as 2026-10-20, or a time with its zone such as 2026-10-20 14:30 UTC.',
      );
    for (const path of pages('2031-02-03')) {
      const text = await read(answering, path);
      expect(text).toContain('2031-02-03 00:00 UTC is in the future. Nobody knows yet who may act then.');
      expect(text).not.toContain('try again');
    }
    // Past, but after the newest block.
    for (const path of pages('2023-11-15')) {
      const text = await read(answering, path);
      expect(text).toContain('is indexed up to 2023-11-14 22:30:30 UTC.');
      expect(text).not.toMatch(/\d{10}/);
    }
    expect(await read(answering, pages('9'.repeat(20))[0] ?? '')).toContain('As of must be a block number');
  });

  test('tells its history newest first: what ended with its transaction, and a changed amount as a change', async () => {
    const path = `/?wallet=${OWNER}&view=history&chain=1`;
    const text = await read(app, path);
    expect(text).toMatch(
      /Ended: the grant to 0x0000…0060 .* Granted to 0x0000…0060 .* Changed: the grant to 0xb0A7…3456 .* 100 → 250 base units of ERC-20/,
    );
    expect(text.match(/Granted to/g)).toHaveLength(6);
    expect(text).not.toContain('Ended: the grant to 0xb0A7');
    expect(await get(app, path)).toContain(`/tx/${hash(103_000)}`);
    // What ended can be granted again as it was.
    expect(
      (await get(app, path)).match(/href="\/grant\?wallet=0x\w+&amp;chain=1&amp;grant=v2\.ALL\.0x0+60"/g),
    ).toHaveLength(1);
    const all = await read(app, `/?wallet=${OWNER}&view=history`);
    expect(all).toContain('Gnosis is missing.');
    expect(all.match(/Granted (to|by)/g)).toHaveLength(12);
    expect((await read(app, `/?wallet=${OWNER}&view=history&direction=incoming`)).match(/Granted by/g)).toHaveLength(2);
    const nobody = `/?wallet=${address(0xdead)}&view=history`;
    expect(await read(answering, nobody)).toContain('Nothing was ever granted');
    expect(await read(app, nobody)).toContain('not everything could be read');
  });

  test('says how long ago with the exact time and block behind', async () => {
    const text = await get(app, `/?wallet=${OWNER}&chain=1`);
    const at = new Date(timeOf(102) * 1000).toISOString();
    expect(text).toContain(
      `<time datetime="${at}" title="${at.slice(0, 16).replace('T', ' ')} UTC, block 102">3 days ago</time>`,
    );
  });
});

test('a date is midnight, and says so: its block can be one of the day before', async () => {
  const store = await openStore(`sqlite:${temporaryPath('date.db')}`);
  const { epoch } = await store.claim(1, 100);
  const [from, to, head] = [address(7), address(8), block(700)];
  const blocks = [block(101, [granted('ALL', { from, to })]), block(639), head];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head });
  const app = appOf(store, timeOf(700));
  expect(await read(app, `/?wallet=${from}&asOf=2023-11-15`)).toContain('This is how it was at 2023-11-15 00:00 UTC.');
  expect(await read(app, `/?from=${from}&to=${to}&type=all&chainId=1&at=2023-11-15`)).toContain(
    'As of 2023-11-15 00:00 UTC: block 639, 2023-11-14 23:59 UTC.',
  );
  await store.close();
});

test('a wallet that granted to itself is not counted as another, and is listed in both directions', async () => {
  const store = await openStore(`sqlite:${temporaryPath('self.db')}`);
  const { epoch } = await store.claim(1, 100);
  const wallet = address(7);
  const head = block(101, [granted('ALL', { from: wallet, to: wallet })]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  const app = appOf(store, timeOf(101));
  expect(await read(app, `/?wallet=${wallet}`)).toContain(
    'No other wallet may act for it. It may act for no other wallet.',
  );
  expect(await rowsOf(app, `/?wallet=${wallet}`)).toHaveLength(2);
  // It is no danger in any other place either.
  expect(await rowsOf(app, `/?wallet=${wallet}&unlimited=yes`)).toHaveLength(0);
  for (const path of [`/?wallet=${wallet}`, `/revoke?wallet=${wallet}&chain=1`]) {
    const page = await get(app, path);
    expect(page).toContain('>this wallet itself<');
    expect(page).not.toMatch(/no limit<|class="[^"]*dangerous/);
  }
  await store.close();
});

test('the most dangerous comes first, then the newest, and the page says so; what is old or expires is told', async () => {
  const store = await openStore(`sqlite:${temporaryPath('risk.db')}`);
  const { epoch } = await store.claim(1, 100);
  const from = address(7);
  const until = (seconds: number) => expiringRights(rightsIdOf(rightsOf('play') as Bytes32), seconds);
  const now = timeOf(102) + 400 * 86_400;
  const blocks = [
    block(101, [
      granted('ERC20', { from, amount: MAX_UINT256 }),
      granted('CONTRACT', { from }),
      granted('ERC721', { from }),
      granted('ALL', { from, to: from }),
    ]),
    block(102, [
      granted('ALL', { from, version: 1 }),
      granted('ALL', { from, rights: until(now + 86_400) }),
      granted('ERC1155', { from, rights: until(now - 86_400) }),
    ]),
  ];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(102) });
  const app = appOf(store, now, { maxLag: () => 1e9 });
  const path = `/?wallet=${from}&direction=outgoing`;
  const kinds = (await rowsOf(app, path)).map((key) => key?.split('.').slice(3, 5).join('.'));
  expect(kinds).toEqual(['v1.ALL', 'v2.ERC20', 'v2.CONTRACT', 'v2.ERC1155', 'v2.ALL', 'v2.ALL', 'v2.ERC721']);
  const text = await read(app, path);
  expect(text).toContain('Most dangerous first: the whole wallet without any limit, any amount of a token');
  expect(text.match(/granted over a year ago/g)).toHaveLength(8);
  expect(text).toMatch(/only “play” until \d+ \w+ 20\d\d, not enforced/);
  expect(text).toContain('only “play” expired 1 day ago, not enforced');
  expect(text).toMatch(
    /can do everything , in registry v1, for 400 days now\. Also granted: ERC-20 \S+ contract \S+ and 3 more/,
  );
  expect(await read(app, `${path}&order=newest`)).not.toContain('Most dangerous first:');
  await store.close();
});

test('what others granted without limit is no alarm to the wallet that got it, and what it granted is the same on both pages', async () => {
  const store = await openStore(`sqlite:${temporaryPath('tone.db')}`);
  const { epoch } = await store.claim(1, 100);
  const [cold, hot] = [address(7), address(8)];
  const head = block(101, [granted('ALL', { from: cold, to: hot })]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  const app = appOf(store, timeOf(101));
  const danger = '<span class="badge no">⚠ no limit</span>';
  expect(await get(app, `/?wallet=${cold}`)).toContain(danger);
  expect(await get(app, `/revoke?wallet=${cold}&chain=1`)).toContain(danger);
  const incoming = await get(app, `/?wallet=${hot}`);
  expect(incoming).toContain('It may act for 1 wallet, <strong>without any limit</strong>.');
  expect(incoming).toContain('<span class="badge">no limit</span>');
  expect(incoming).not.toMatch(/class="danger"|badge no"/);
  await store.close();
});

test('what a wallet has granted comes first however much others grant to it', async () => {
  const store = await openStore(`sqlite:${temporaryPath('spam.db')}`);
  const { epoch } = await store.claim(1, 100);
  const victim = address(7);
  const spam = Array.from({ length: 1200 }, (_, turn) => granted('ALL', { from: address(1000 + turn), to: victim }));
  const blocks = [block(101, [granted('CONTRACT', { from: victim, to: address(9) })]), block(102, spam)];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(102) });
  const app = appOf(store, timeOf(102));
  const path = `/?wallet=${victim}`;
  expect((await rowsOf(app, path))[0]).toStartWith(`outgoing.1.${victim}.v2.CONTRACT.`);
  const text = await read(app, path);
  expect(text).toContain(
    '1 wallet may act for it, within limits. It may act for at least 1,000 wallets, at least 1,000 without any limit',
  );
  expect(text).toContain('1 chain: Ethereum');
  const several = appOf(store, timeOf(102), { chainIds: new Set([1, 10]) });
  expect(await read(several, path)).toContain('1 chain so far: Ethereum');
  expect(text).toContain('1,001 were read for this page: those without any limit first');
  // Pages of what was read, and then what was not.
  const next = /href="([^"#]*cursor=[^"#]*)/.exec(await get(app, path))?.[1]?.replaceAll('&amp;', '&') ?? '';
  const last = await rowsOf(app, `${path}&page=21`);
  const rest = [...(await rowsOf(app, next)), ...(await rowsOf(app, `${next}&page=4`))];
  expect([last.length, rest.length, new Set([...last, ...rest]).size]).toEqual([1, 100, 101]);
  expect(await read(app, `${path}&direction=incoming&cursor=bogusbogus`)).toContain(
    'cursor is not a cursor of this list',
  );
  await store.close();
});

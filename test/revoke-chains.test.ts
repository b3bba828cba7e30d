// What the revoke page says of wallets on several chains, and of wallets with very many grants.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { App } from '../src/http/server/app.ts';
import { checksummed } from '../src/registry/checksum.ts';
import type { Delegation } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { grantIdOf } from '../src/web/grant-id.ts';
import { type Selection, selectGrants } from '../src/web/revoke/revoke-selection.ts';
import { ENGINES } from './support/engines.ts';
import { address, block, COLD, delegation, granted, HOT, timeOf } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';

const [POLYGON, BASE, GNOSIS, CELO] = [137, 8453, 100, 42220];
const OTHER = address(0xdd);
/** A wallet with more grants than ten answers of the API hold, all to HOT, in each registry. */
const RICH = address(0x21c4);
const COUNT = 21_000;
const HEAD = 110;

let store: Store;
let app: App;

beforeAll(async () => {
  const [engine] = ENGINES;
  store = await openStore(await (engine as (typeof ENGINES)[number]).fresh());
  const rich = Array.from({ length: COUNT }, (_, id) => granted('ERC721', { from: RICH, tokenId: BigInt(id) }));
  const richV1 = Array.from({ length: 1500 }, (_, id) => granted('TOKEN', { from: RICH, tokenId: BigInt(id) }));
  const chains: Readonly<Record<number, ReturnType<typeof granted>[]>> = {
    1: [
      granted('ALL'),
      granted('ALL', { version: 1 }),
      granted('ERC20', { to: OTHER }),
      ...rich,
      ...richV1,
      granted('ALL', { from: RICH }),
    ],
    [POLYGON]: [granted('CONTRACT')],
    [BASE]: [granted('ALL')],
    [CELO]: [],
  };
  for (const [chain, events] of Object.entries(chains)) {
    const chainId = Number(chain);
    // Polygon's registry is older than its index.
    const { epoch } = await store.claim(chainId, 100, chainId === POLYGON);
    await store.apply({ chainId, epoch, after: null, blocks: [block(100, events)], head: block(HEAD) });
  }
  // Base is stale, and Gnosis has not started.
  const chainIds = new Set([1, POLYGON, BASE, GNOSIS, CELO]);
  app = appOf(store, timeOf(HEAD), { chainIds, maxLag: (chainId) => (chainId === BASE ? -1 : 60) });
});
afterAll(() => store.close());

async function sourceOf(query: string, of = app): Promise<string> {
  const response = await of.fetch(new Request(`http://localhost/revoke?${query}`));
  expect([query, response.status]).toEqual([query, 200]);
  return response.text();
}

/** The text of the page's content, without its tags. */
async function textOf(query: string, of = app): Promise<string> {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(await sourceOf(query, of)) ?? [];
  return main.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

const planOf = (chainId: number, ...grants: readonly Delegation[]) =>
  textOf(`wallet=${COLD}&chain=${chainId}${grants.map((one) => `&grant=${grantIdOf(one)}`).join('')}`);

test('a wallet with grants on several chains chooses one first, and learns which chain did not answer', async () => {
  const text = await textOf(`wallet=${COLD}`);
  expect(text).toContain('Choose a chain This wallet granted something on 2 chains.');
  expect(text).toMatch(/Gnosis is missing\. .* unknown, not absent\. .*Base is missing\. /);
  expect(text).toContain('Polygon is known only from block 100. Earlier grants are unknown, not absent.');
  expect(text).toMatch(
    /Ethereum 3 grants to 2 wallets\. At worst: everything, without any limit .* Revoke everything on Ethereum Choose on Ethereum/,
  );
  expect(text).toMatch(
    /Polygon 1 grant to 1 wallet\. At worst: everything in a contract .* Revoke everything on Polygon/,
  );
  expect(text).not.toContain('Celo');
});

test('says that there is nothing to revoke only if every chain answered from its beginning', async () => {
  const nobody = address(0xdead);
  const nothing = /There is nothing to revoke|No wallet may act for this wallet/;
  const unknown = 'not everything could be read: somebody may still act for it.';
  const isDown = appOf(store, timeOf(HEAD), { chainIds: new Set([1, CELO]), maxLag: () => -1 });
  const partly = appOf(store, timeOf(HEAD), { chainIds: new Set([1, POLYGON]) });
  for (const [query, of] of [
    [`wallet=${nobody}`, app],
    [`wallet=${nobody}`, isDown],
    [`wallet=${nobody}`, partly],
    [`wallet=${nobody}&chain=${POLYGON}`, app],
  ] as const) {
    const text = await textOf(query, of);
    expect(text).toContain(unknown);
    expect(text).not.toMatch(nothing);
  }
  expect(await textOf(`wallet=${nobody}`, isDown)).toMatch(/Ethereum is missing\. .* Celo is missing\./);
  const answering = appOf(store, timeOf(HEAD), { chainIds: new Set([1, CELO]) });
  expect(await textOf(`wallet=${nobody}`, answering)).toMatch(nothing);
  expect(await textOf(`wallet=${nobody}&chain=1`)).toMatch(nothing);
  // The same of grants that were asked for by name.
  const named = (chainId: number) => `wallet=${nobody}&chain=${chainId}&grant=${grantIdOf(delegation('ALL'))}`;
  expect(await textOf(named(POLYGON))).not.toMatch(/Nothing left to revoke|Not active/);
  expect(await textOf(named(POLYGON))).toContain('Not found as of block 110: granted before block 100, ended already');
  expect(await textOf(named(POLYGON))).toContain('Polygon is known only from block 100.');
  expect(await textOf(named(1))).toContain('Nothing left to revoke');
});

test('grants to the same wallet in the other registry and on other chains are named, and chains that were not read', async () => {
  const text = await planOf(1, delegation('ALL'));
  expect(text).toContain(`${checksummed(HOT)} will no longer be able to act for your whole wallet v2`);
  expect(text).toContain(
    `This is not enough. ${checksummed(HOT)} can still do what you are ending, because it may act for your whole wallet v1`,
  );
  expect(text).toContain(
    'On Polygon, 1 grant to the same wallet stays. A transaction counts on one chain only. Revoke on Polygon',
  );
  expect(text).toMatch(/Not read: (Gnosis, Base|Base, Gnosis)\./);
  expect(text).toContain('1 further grant of your wallet on Ethereum stays as it is.');
});

test('what has ended is not called done while the other registry or a wider grant lets the wallet go on', async () => {
  // Never granted, which a page cannot tell from what has ended.
  const text = await planOf(1, delegation('ERC721'));
  expect(text).toMatch(/can still use your whole wallet \(v2\), your whole wallet \(v1\)\s*\./);
  expect(text).toContain('On Polygon, 1 grant to the same wallet stays.');
  expect(text).not.toContain('Nothing left to revoke');
  const source = await sourceOf(`wallet=${COLD}&chain=1&grant=${grantIdOf(delegation('ERC721'))}`);
  expect(source).toMatch(
    new RegExp(`href="/revoke\\?[^"]*grant=v2.ALL.${HOT}&amp;grant=v1.ALL.${HOT}">Revoke the rest of`),
  );
  expect(await planOf(1, delegation('ERC20', { to: address(0xee) }))).toContain('Nothing left to revoke');
});

test('once all of v1 has ended, what is left in v2 is named', async () => {
  const text = await textOf(`wallet=${COLD}&chain=${POLYGON}&v1=all`);
  expect(text).toMatch(/can still use everything you have in contract \S+ \(v2\)\s*\. Revoke the rest of/);
  expect(text).not.toContain('Nothing left to revoke');
});

test('with what grants exactly the same, both registries are ended, and nothing wider', async () => {
  const whole = `wallet=${COLD}&chain=1&grant=${grantIdOf(delegation('ALL'))}&same=yes`;
  expect(await textOf(whole)).toMatch(
    /Transaction 1 of 2 .* your whole wallet v2 .* Transaction 2 of 2 .* your whole wallet v1/,
  );
  expect(await textOf(whole)).not.toContain('This is not enough');
  expect(await sourceOf(whole)).toContain(`grant=${grantIdOf(delegation('ALL'))}">Revoke only what you chose`);
  const token = delegation('ERC721', { from: RICH, tokenId: 5n });
  const narrow = await textOf(`wallet=${RICH}&chain=1&grant=${grantIdOf(token)}&same=yes`);
  const [ends = '', stays = ''] = narrow.split('What this does not end');
  expect(ends).toMatch(/token 5 of \S+ v2 .* token 5 of \S+ v1/);
  expect(ends).not.toContain('whole wallet');
  expect(stays).toMatch(/This is not enough\. .* your whole wallet v2/);
  expect(await textOf(`wallet=${COLD}&chain=1&same=no`)).toContain('same no must be yes, or absent');
});

test('everything to one wallet, or of one owner: a card for each chain, and afterwards what is left on the others', async () => {
  const named = await textOf(`wallet=${COLD}&to=${HOT}`);
  expect(named).toContain('Ethereum 2 grants to 1 wallet. At worst: everything, without any limit .');
  expect(await sourceOf(`wallet=${COLD}&to=${HOT}`)).toContain(
    `href="/revoke?wallet=${COLD}&amp;chain=1&amp;to=${HOT}">Revoke all of it on Ethereum`,
  );
  const all = await textOf(`wallet=${COLD}&chain=1&all=yes`);
  expect(all).toMatch(/Transaction 1 of 2 .* your whole wallet v2 .* Transaction 2 of 2 .* your whole wallet v1/);
  expect(all).toContain('On Polygon, 1 grant to 1 wallet stays.');
  expect(all).not.toContain('This is not enough');
  // On a chain that has none of them, what is left elsewhere is told, and how bad it is.
  const other = address(0xee);
  const left = await textOf(`wallet=${COLD}&chain=1&to=${other}`);
  expect(left).toMatch(
    /What is left 3 grants of your wallet are left on Ethereum, not all within limits \. Revoke everything/,
  );
  const nothing = await textOf(`wallet=${address(0xdead)}&chain=1&all=yes`);
  expect(nothing).toContain('What is left No grant of your wallet is left on Ethereum.');
  expect(nothing).toMatch(/Not read: (Gnosis, Base|Base, Gnosis)\. Whether any wallet may act for you there/);
  expect(await textOf(`wallet=${COLD}&chain=${POLYGON}&to=${other}`)).not.toContain('What is left 1 grant');
  // One chain that answers is not asked about.
  const only = appOf(store, timeOf(HEAD), { chainIds: new Set([1, CELO]) });
  expect(await textOf(`wallet=${COLD}&all=yes`, only)).toContain('What this ends on Ethereum');
  expect(await textOf(`wallet=${COLD}&all=yes&chain=99`, only)).not.toContain('What this ends');
});

test('what an incomplete index does not know is said', async () => {
  const text = await planOf(POLYGON, delegation('CONTRACT'));
  expect(text).toContain(
    'This service knows the grants on Polygon since block 100. Older grants are not listed and may stay.',
  );
});

test('a chain that does not answer prepares nothing', async () => {
  const text = await planOf(BASE, delegation('ALL'));
  expect(text).toContain('Nothing was prepared, because the grants on Base cannot be read:');
  expect(text).not.toContain('Send it');
  expect(await textOf(`wallet=${COLD}&chain=${BASE}`)).toContain('The grants on Base cannot be listed:');
});

test('of very many grants, the last is found, and one that gives the same is named however late it is listed', async () => {
  const last = delegation('ERC721', { from: RICH, tokenId: BigInt(COUNT - 1) });
  const text = await textOf(`wallet=${RICH}&chain=1&grant=${grantIdOf(last)}`);
  expect(text).toContain(`will no longer be able to act for token ${COUNT - 1} of`);
  expect(text).not.toContain('Not active');
  expect(text).toMatch(
    /This is not enough\. \S+ can still do what you are ending, because it may act for your whole wallet v2/,
  );
  expect(text).toContain(`${(COUNT + 499).toLocaleString('en')} further grants`);
});

test('of very many grants, all of v1 end in one transaction, and too many of v2 are said not to', async () => {
  const v1 = await textOf(`wallet=${RICH}&chain=1&v1=all`);
  expect(v1).toContain('One transaction not sent');
  expect(v1).toContain('This call ends every grant that you ever made in registry v1');
  expect(v1).toContain('500 more in registry v1 are not listed.');
  const both = await textOf(`wallet=${RICH}&chain=1&to=${HOT}`);
  expect(both).toContain('Transaction 10 of 10');
  expect(both).toContain(`${COUNT + 1 - 1000} more grants in registry v2 are not part of these transactions.`);
});

test('a reorg while the grants are read starts the reading again', async () => {
  const tokens = (count: number) =>
    Array.from({ length: count }, (_, id) => granted('ERC721', { from: RICH, tokenId: BigInt(id) }));
  let state = await store.claim(CELO, 100);
  const apply = async (events: ReturnType<typeof granted>[], branch: number) => {
    const [blocks, head] = [[block(111, events, branch)], block(112, [], branch)];
    const batch = { chainId: CELO, epoch: state.epoch, after: state.head, blocks, head };
    state = await store.apply(branch === 1 ? batch : { ...batch, rollbackTo: HEAD });
  };
  await apply(tokens(2500), 1);
  const later = appOf(store, timeOf(112), { chainIds: new Set([CELO]) });
  const statuses: number[] = [];
  const choice = { grants: new Map(), wallets: new Set([HOT]), allOfV1: false, everything: false, equals: false };
  const selection = await selectGrants(RICH, CELO, choice, async (path) => {
    if (statuses.length === 1) await apply(tokens(3), 2);
    const response = await later.fetch(new Request(`http://localhost${path}`));
    statuses.push(response.status);
    return response;
  });
  expect(statuses).toEqual([200, 409, 200]);
  expect(selection).toMatchObject({ block: 112, more: { 2: 0 } });
  expect((selection as Selection).chosen.map(({ tokenId }) => tokenId)).toEqual([0n, 1n, 2n]);
});

test('revoking what is selected says so if nothing is', async () => {
  const path = `wallet=${COLD}&chain=1&selected=yes`;
  expect(await textOf(path)).toContain('Nothing is selected. Tick at least one grant.');
  expect(await textOf(`${path}&grant=${grantIdOf(delegation('ALL'))}`)).not.toMatch(/Nothing is selected|not a known/);
});

test('the list to choose from has pages, and the ids of a page fit into a link', async () => {
  const source = await sourceOf(`wallet=${RICH}&chain=1`);
  // The one without limit, and those of the page.
  expect(source.match(/type="checkbox"/g)?.length).toBe(26);
  const [, next = ''] = /href="\/revoke\?([^"]+)">More grants/.exec(source) ?? [];
  expect((await sourceOf(next.replaceAll('&amp;', '&'))).match(/type="checkbox"/g)?.length).toBe(25);
  const longest = (tokenId: number) =>
    grantIdOf(
      delegation('ERC1155', {
        to: address(0xee),
        tokenId: 2n ** 256n - 1n - BigInt(tokenId),
        rights: `0x${'ab'.repeat(32)}`,
      }),
    );
  const text = await textOf(
    `wallet=${COLD}&chain=1${Array.from({ length: 25 }, (_, id) => `&grant=${longest(id)}`).join('')}`,
  );
  expect(text).toContain('Nothing left to revoke.');
});

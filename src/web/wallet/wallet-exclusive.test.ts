// What the page of a wallet says of who acts alone.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, COLD, granted, HOT, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

const LINK = '0xc10dcfe266c1f71ef476efbd3223555750dc271e4115626b';
const GLOBAL = `0x${'0'.repeat(48)}`;
const rights = (id: string, expiry: number) => `${id}000000${expiry.toString(16).padStart(10, '0')}` as `0x${string}`;
const OTHER = address(0x51);

let store: Store;
let chain: Awaited<ReturnType<typeof newChain>>;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('alone.db')}`);
  chain = await newChain(store, 1);
  const grants = [
    granted('ALL', { rights: rights(LINK, 2 ** 40 - 1) }),
    granted('ALL', { from: OTHER, rights: rights(GLOBAL, timeOf(102)) }),
    granted('ALL', { from: OTHER, to: address(0x52), rights: rights(LINK, timeOf(101) - 1) }),
  ];
  await chain.add([block(101, grants), block(102), block(103)]);
});
afterAll(() => store.close());

async function read(path: string): Promise<string> {
  const app = appOf(store, timeOf(103));
  const text = await (await app.fetch(new Request(`http://localhost${path}`))).text();
  return text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('names the wallets, the right and its end, in both directions', async () => {
  expect(await read(`/?wallet=${COLD}`)).toContain('0x0000…0407 (never expires) acts alone for it: AGW_LINK, Ethereum');
  expect(await read(`/?wallet=${HOT}`)).toContain('It acts alone for 0x0000…C01D (never expires): AGW_LINK, Ethereum');
  const before = await read(`/?wallet=${HOT}&asOf=102&chain=1`);
  expect(before).toContain('acts alone for 0x0000…0051 (until 14 November 2023): global, Ethereum');
});

test('says nothing where no delegation decides any more', async () => {
  expect(await read(`/?wallet=${OTHER}`)).not.toContain('acts alone');
  expect(await read(`/?wallet=${HOT}`)).not.toContain('0x0000…0051 (');
});

test('says that it is unknown where the service refuses to say', async () => {
  const dispute = { vault: address(0x52), delegate: OTHER, since: 1, block: 101, statement: null };
  await store.report(1, chain.state.epoch, { disputes: [{ ...dispute, vault: OTHER, delegate: address(0x52) }] });
  expect(await read(`/?wallet=${HOT}`)).toContain('global, Ethereum: who acts alone is unknown.');
  await store.report(1, chain.state.epoch, { disputes: [] });
});

// The offer to prove an answer, without a browser.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { appOf } from '../../../test/support/serving.ts';
import { FRIEND, fillWalletChains, NOW, OWNER } from '../../../test/support/wallet-chains.ts';
import type { ProofReader } from '../../chain/prove/proof-reader.ts';
import { checksummed } from '../../registry/checksum.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('prove-answer.db')}`);
  await fillWalletChains(store);
});
afterAll(() => store.close());

const CHECK = `/?from=${OWNER}&to=${FRIEND}&type=erc721&contract=${OWNER}&tokenId=7&rights=a%20%22b%22&chainId=10`;
const PROOFS = { prove: () => Promise.reject(new Error('not asked')) } as unknown as ProofReader;

async function pageOf(path: string, more: object): Promise<string> {
  const app = appOf(store, NOW, { chainIds: new Set([1, 10]), maxLag: () => 1e9, ...more });
  return (await app.fetch(new Request(`http://localhost${path}`))).text();
}

test('nothing is offered where the operator has not turned proofs on', async () => {
  const text = await pageOf(CHECK, {});
  expect(text).toContain('class="verdict');
  expect(text).not.toMatch(/prove/i);
});

test('nothing is offered where no check is answered', async () => {
  for (const path of ['/', `/?wallet=${OWNER}`]) expect(await pageOf(path, { proofs: PROOFS })).not.toMatch(/prove/i);
  expect(await pageOf('/?from=&to=', { proofs: PROOFS })).not.toContain('Prove this answer');
});

test('the form asks the same question at the block of the answer, and the file has it as the command line writes it', async () => {
  const text = await pageOf(CHECK, { proofs: PROOFS });
  const attribute = (name: string) => new RegExp(`data-${name}="([^"]*)"`).exec(text)?.[1]?.replaceAll('&quot;', '"');
  const block = /As of block (\d+)/.exec(text)?.[1] ?? '';
  expect([attribute('block'), attribute('result')]).toEqual([block, 'false']);
  expect(attribute('hash')).toMatch(/^0x[0-9a-f]{64}$/);
  expect(text).toContain('<form action="/registry/any/check/erc721" method="get"');
  const [to, owner] = [checksummed(FRIEND), checksummed(OWNER)];
  const asked = { to, from: owner, contract: owner, tokenId: '7', rights: 'text:a "b"' };
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
    name,
    value?.replaceAll('&quot;', '"'),
  ]);
  expect(Object.fromEntries(hidden)).toEqual({
    ...asked,
    ...{ chainId: '10', block, proof: 'true', numbers: 'string' },
  });
  expect(JSON.parse(attribute('prove') ?? '')).toEqual({
    ...asked,
    ...{ chainId: 10, version: 'any', check: 'erc721' },
  });
});

test('the block is linked in the block explorer of the chain, and never in the sandbox', async () => {
  expect(await pageOf(CHECK, { proofs: PROOFS })).toMatch(
    /data-explorer="https:\/\/optimistic\.etherscan\.io\/block\/\d+"/,
  );
  expect(await pageOf(CHECK, { proofs: PROOFS, sandbox: true })).toContain('data-explorer=""');
});

import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { HOT } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';

test('while no chain is served, nothing is said about any of them', async () => {
  await using store = await openStore(`sqlite:${temporaryPath('none.db')}`);
  const app = appOf(store, 0, { chainIds: new Set() });
  for (const path of [HOT, `vaults/${HOT}`, `delegates/${HOT}`, `history/${HOT}`, 'changes']) {
    const response = await app.fetch(new Request(`http://localhost/registry/any/${path}?chainId=served`));
    const { detail } = (await response.json()) as { readonly detail: string };
    expect([path, response.status, detail]).toEqual([path, 503, 'No chain is served yet.']);
  }
});

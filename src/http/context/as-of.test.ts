import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, COLD, granted, HOT, hash, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';

test('an answer at the finalized block names its hash, even if a newer block is finalized meanwhile', async () => {
  const store = await openStore(`sqlite:${temporaryPath('finalized.db')}`);
  const { epoch } = await store.claim(1, 100);
  const blocks = [block(100, [granted('ALL')]), ...[101, 102, 103, 104].map((number) => block(number))];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(104), verified: 101 });
  const before = await store.chain(1);
  await store.apply({ chainId: 1, epoch, after: block(104), blocks: [block(105)], head: block(105), verified: 103 });
  // The state is read just before the commit, the answer just after it.
  const states = [before];
  const racing = { ...store, chain: async (chainId: number) => states.pop() ?? store.chain(chainId) };
  const app = appOf(racing, timeOf(105));
  const query = `to=${HOT}&from=${COLD}&block=finalized`;
  const response = await app.fetch(new Request(`http://localhost/registry/v2/check/all?${query}`));
  expect([response.status, await response.text()]).toEqual([200, 'true']);
  expect([response.headers.get('x-block-number'), response.headers.get('x-block-hash')]).toEqual(['103', hash(103)]);
  await store.close();
});

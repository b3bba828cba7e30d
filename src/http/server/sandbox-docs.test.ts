// In a sandbox, the API reference has the answers of its own chain.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, granted, KEY_RECORD, timeOf } from '../../../test/support/fixtures.ts';
import { admissionOf, appOf } from '../../../test/support/serving.ts';
import { EXAMPLE_DELEGATIONS, EXAMPLES } from '../../api/examples.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { createLimiter } from '../limits/limiter.ts';

const HEAD = 107;
let store: Store;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('sandbox-docs.db')}`);
  const { epoch } = await store.claim(1, 100);
  const events = EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const);
  const blocks = [block(100), block(103, events), block(HEAD, [granted('ALL')])];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head: blocks[2] as (typeof blocks)[number] });
});
afterAll(() => store.close());

const MOST = 5;
function sandboxApp() {
  const admission = admissionOf(1000, {
    anonymous: createLimiter({ most: MOST, seconds: 10 }),
    keys: { known: () => KEY_RECORD, found: () => null, isFamiliar: () => true, lookUp: async () => false },
  });
  return appOf(store, timeOf(HEAD), { sandbox: true, admission });
}

describe.each([
  ['/docs/any', '/docs/batches'],
  ['/docs.md', '/docs.md'],
])('%s and %s', (path, ofBatches) => {
  test('have the blocks of the chain in their answers, those of a batch too', async () => {
    const textAt = async (page: string) => {
      const text = await (await sandboxApp().fetch(new Request(`http://localhost${page}`))).text();
      return text.replace(/<[^>]+>/g, '').replaceAll('&quot;', '"');
    };
    const plain = await textAt(path);
    expect(plain).toContain('"block": 103,');
    expect(plain).not.toContain('"block": 100,');
    expect(await textAt(ofBatches)).toMatch(
      /"complete": false,\s+"chains": \[\s+\{\s+"chainId": 1,\s+"block": \{\s+"number": 107,/,
    );
  });

  test('do not count what it asks against the limit of their reader', async () => {
    const app = sandboxApp();
    for (let left = 3; left > 0; left--) await app.fetch(new Request(`http://localhost${path}`));
    const { headers } = await app.fetch(new Request(`http://localhost${EXAMPLES[0]?.request}`));
    expect(headers.get('ratelimit')).toContain(`r=${MOST - 1};`);
  });
});

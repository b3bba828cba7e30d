import { expect, test } from 'bun:test';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, COLD, granted, HOT, timeOf } from '../../test/support/fixtures.ts';
import { appOf } from '../../test/support/serving.ts';
import { parseNetwork } from '../registry/custom-network.ts';
import { addNetworks, NETWORKS, type Network } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { learnNetworks } from './stored-networks.ts';

test('nothing is answered for an index whose registries this process knows otherwise, until it has read which they are', async () => {
  const chainId = 69_000;
  const named = (text: string) => parseNetwork(chainId, text) as Network;
  const store = await openStore(`sqlite:${temporaryPath('named.db')}`);
  const { epoch } = await store.claim(chainId, 100, false, named('Own,2s'));
  const head = block(104);
  await store.apply({ chainId, epoch, after: null, blocks: [block(100, [granted('ALL')]), head], head, verified: 104 });
  const app = appOf(store, timeOf(104), { chainIds: new Set([chainId]) });
  const ask = async (path: string) => {
    const response = await app.fetch(new Request(`http://localhost/registry/${path}&chainId=${chainId}`));
    return [response.status, await response.text()];
  };
  const checks = [`v1/check/all?delegate=${HOT}&vault=${COLD}`, `v2/check/all?to=${HOT}&from=${COLD}`];
  const undo = new DisposableStack();
  undo.defer(addNetworks([named('Own,2s,v1')]));
  // In the index there is nothing of v1, which is no "no".
  for (const path of [...checks, `${checks[0]}&block=102`, `any/vaults/${HOT}?limit=5`, 'any/changes?limit=5'])
    expect(await ask(path)).toEqual([503, expect.stringContaining('not indexed with its registries yet')]);
  learnNetworks(await store.chains(), undo);
  const [first, second] = await Promise.all(checks.map(ask));
  expect(first).toEqual([400, expect.stringContaining('69000 has no v1 registry')]);
  expect(second).toEqual([200, 'true']);
  undo.dispose();
  expect(NETWORKS.has(chainId)).toBe(false);
  await store.close();
});

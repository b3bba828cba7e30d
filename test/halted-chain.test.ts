// Tests that every interface reports why and since when a chain is halted and what to do, and how much of it is confirmed.

import { expect, test } from 'bun:test';
import type { FollowerStatus } from '../src/chain/follow/follower-status.ts';
import { chainStatuses } from '../src/http/answers/status.ts';
import { createApp } from '../src/http/server/app.ts';
import { createMetrics, prometheusText } from '../src/service/metrics.ts';
import type { Halt } from '../src/store/halt.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, FOLLOWER_STATUS, granted, HOT, timeOf } from './support/fixtures.ts';
import { runCommand } from './support/serve-process.ts';
import { serviceOf } from './support/serving.ts';

const SINCE = Date.parse('2026-11-15T09:30:00Z') / 1000;
const THEIRS = `0x${'ab'.repeat(32)}` as const;

const HALTS: readonly (readonly [Halt, cause: string, help: string])[] = [
  [
    { code: 'finality-violation', since: SINCE, block: 102, theirs: THEIRS },
    `Finalized block 102 changed: it is now ${THEIRS}.`,
    'delegations rewind --chain 1 --to 101',
  ],
  [
    { code: 'finality-violation', since: SINCE, block: 102, theirs: null, foreign: true },
    'No provider has any of the indexed blocks: finalized block 102 is not theirs.',
    'Check that RPC_URL_1 names nodes of chain 1.',
  ],
  [
    { code: 'registry-mismatch', since: SINCE, block: 102 },
    'The registry contradicts the index about more than 100 wallets at block 102.',
    'delegations audit --chain 1',
  ],
  [{ code: 'import-unfinished', since: SINCE }, 'An import was interrupted.', 'delegations import'],
];

async function withStore(work: (store: Store, epoch: number, url: string) => Promise<void>) {
  const url = `sqlite:${temporaryPath('halted.db')}`;
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = block(105);
  const blocks = [block(100), block(101, [granted('ALL')]), block(103), head];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head, verified: 103 });
  await work(store, epoch, url);
  await store.close();
}

const textOf = async (store: Store, path: string, more = {}) =>
  (await createApp(serviceOf(store, timeOf(106), more)).fetch(new Request(`http://localhost${path}`))).text();
const metricsOf = async (store: Store) =>
  prometheusText(
    createMetrics().list({
      store: { bytes: 1, chains: await chainStatuses(serviceOf(store, timeOf(106))) },
      followers: [],
    }),
  );
/** The text that a person sees. */
const plain = (page: string) => page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

for (const [halt, cause, help] of HALTS) {
  const name = 'foreign' in halt ? `${halt.code}, foreign` : halt.code;
  test(`${name}: code, cause, since when and what to do`, async () => {
    await withStore(async (store, epoch, url) => {
      await store.report(1, epoch, { halt });
      const [network] = JSON.parse(await textOf(store, '/networks'));
      expect(network).toMatchObject({ ready: false, halt: { code: halt.code, since: SINCE, cause } });
      expect(network.halt.help).toContain(help);
      const page = plain(await textOf(store, '/status'));
      expect(page).toContain(`${halt.code} since 2026-11-15 09:30 UTC. ${cause}`);
      expect(page).toContain(help);
      expect(await metricsOf(store)).toContain(`delegations_chain_halted{chain="1",code="${halt.code}"} 1\n`);
      const refusal = JSON.parse(await textOf(store, `/registry/v2/check/all?to=${HOT}&from=${COLD}`));
      expect(refusal).toMatchObject({ status: 503, code: halt.code, since: SINCE });
      expect(refusal.detail).toContain(cause);
      const { stdout, code } = await runCommand(['networks'], { DATABASE_URL: url });
      expect(code).toBe(1);
      expect(stdout).toContain(`halted: ${halt.code} since 2026-11-15T09:30:00Z. ${cause}`);
      expect(stdout).toContain(help);
      await store.report(1, epoch, { halt: null });
      expect(await metricsOf(store)).not.toContain('delegations_chain_halted{');
      expect(plain(await textOf(store, '/status'))).not.toContain(halt.code);
    });
  });
}

test('reports how much of the final history a second node has confirmed', async () => {
  await withStore(async (store, epoch) => {
    const followerStatus = (nodes: number) => ({
      followerStatus: (): FollowerStatus[] => [
        {
          ...FOLLOWER_STATUS,
          firstBlock: 100,
          block: 105,
          tip: 105,
          logs: 1,
          providers: Array.from({ length: nodes }, (_, at) => ({ name: `1/${at + 1}`, healthy: true, cause: null })),
        },
      ],
    });
    const status = async (nodes: number) => plain(await textOf(store, '/status', followerStatus(nodes)));
    expect(await status(1)).toContain('Confirmed by a second provider No: it is read from one provider only');
    expect(await status(2)).toContain('Confirmed by a second provider Not yet');
    expect(await metricsOf(store)).not.toContain('delegations_chain_confirmed{');
    await store.report(1, epoch, { agreedBlock: 101 });
    expect(await status(2)).toContain('Confirmed by a second provider 50 % of final history, up to block 101');
    expect(JSON.parse(await textOf(store, '/networks'))).toMatchObject([{ confirmedBlock: 101, finalizedBlock: 103 }]);
    expect(await metricsOf(store)).toContain('delegations_chain_confirmed{chain="1"} 101\n');
    await store.report(1, epoch, { agreedBlock: 103 });
    expect(await status(2)).toContain('Confirmed by a second provider All final history, up to block 103');
  });
});

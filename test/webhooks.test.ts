// Delivers webhooks from real processes that are killed, over a database that is restarted, to receivers that fail in every way,
// while reorgs and repairs change history.

import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { openAccounts } from '../src/accounts/accounts.ts';
import type { RegistryEvent } from '../src/registry/event.ts';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, ChainState, Store } from '../src/store/store.ts';
import { createSecret } from '../src/webhooks/sign.ts';
import { startCursor } from '../src/webhooks/source.ts';
import { createWebhooks, type WebhookFilter, type WebhookRecord } from '../src/webhooks/webhooks.ts';
import { ENGINES, temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { address, block, ended, granted, hash } from './support/fixtures.ts';
import { startPostgres } from './support/postgres.ts';
import { createRandom } from './support/random.ts';
import type { ServeProcess } from './support/serve-process.ts';
import { startWebhookProcess } from './support/webhook-process.ts';
import { type Behaviour, type Received, startReceiver } from './support/webhook-receiver.ts';

const CHAIN = 1;
const WALLETS = [1, 2, 3, 4].map(address);
const CONTRACTS = [0xc1, 0xc2].map(address);
const STEPS = 120;

/** How receivers misbehave: about half of all attempts fail. */
const BEHAVIOURS: readonly Behaviour[] = ['ok', 'ok', 'ok', 'ok', 'slow', '500', '500', 'redirect', 'reset', 'hang'];

const [FROM = address(1), TO = address(2)] = WALLETS;
const SUBSCRIPTIONS: readonly { path: string; at: WebhookRecord['at']; filter: WebhookFilter }[] = [
  { path: '/head', at: 'head', filter: { chainIds: 'served' } },
  { path: '/final', at: 'final', filter: { chainIds: [CHAIN] } },
  { path: '/wallet', at: 'head', filter: { chainIds: [CHAIN], wallet: FROM } },
  { path: '/from', at: 'final', filter: { chainIds: 'served', from: FROM } },
  { path: '/to', at: 'head', filter: { chainIds: 'served', to: TO } },
  { path: '/contract', at: 'head', filter: { chainIds: 'served', contract: address(0xc1) } },
  { path: '/nothing', at: 'head', filter: { chainIds: 'served', wallet: address(0xdead) } },
];

interface ChangeJson {
  readonly type: 'began' | 'changed' | 'ended' | 'undo';
  readonly block: { readonly number: number };
  readonly delegation?: Readonly<Record<string, unknown>> & { readonly amount?: string | null };
}

/** What identifies a delegation of version 2. */
const KEY = ['from', 'to', 'contract', 'tokenId', 'rights'] as const;
const textOf = (fields: Readonly<Record<string, unknown>>, amount: unknown) =>
  [
    fields['standard'] ?? fields['type'],
    ...KEY.map((name) => String(fields[name] ?? '').toLowerCase()),
    String(amount ?? ''),
  ].join(' ');

/** Applies deliveries as an integrator would: what holds afterwards. Throws if something is out of order. */
function applyChanges(changes: readonly ChangeJson[]): string[] {
  let kept: ChangeJson[] = [];
  for (const change of changes) {
    if (change.type === 'undo') kept = kept.filter(({ block }) => block.number <= change.block.number);
    else kept.push(change);
  }
  const held = new Map<string, string>();
  for (const { type, delegation = {} } of kept) {
    const key = textOf(delegation, '');
    if (held.has(key) !== (type !== 'began')) throw new Error(`${type} ${key} is out of order`);
    if (type === 'ended') held.delete(key);
    else held.set(key, textOf(delegation, delegation.amount));
  }
  return [...held.values()].sort();
}

/** What the lists of all wallets give as of a block. */
async function listed(store: Store, at: WebhookRecord['at'], filter: WebhookFilter): Promise<string[]> {
  const { chain } = await store.pin(CHAIN);
  const number = (at === 'final' ? chain.verified : chain.head?.number) ?? 0;
  const all = new Set<string>();
  for (const wallet of WALLETS) {
    const query = { chainId: CHAIN, version: 2, wallet, at: { block: number, revision: chain.revision } } as const;
    const page = await store.list({ ...query, limit: 10_000 });
    for (const one of page.delegations) {
      const isWanted =
        (filter.wallet === undefined || one.from === filter.wallet || one.to === filter.wallet) &&
        (filter.from === undefined || one.from === filter.from) &&
        (filter.to === undefined || one.to === filter.to) &&
        (filter.contract === undefined || one.contract === filter.contract);
      if (isWanted) all.add(textOf({ ...one, type: one.kind }, one.amount));
    }
  }
  return [...all].sort();
}

/** Grows a chain at random, with reorgs above its final block and repairs below. */
function createWriter(store: Store, random: () => number) {
  const int = (below: number) => Math.floor(random() * below);
  const pick = <T>(of: readonly T[]): T => of[int(of.length)] as T;
  let state: ChainState;
  let branch = 0;
  const kept = new Map<number, BlockInput>();
  const randomEvents = () =>
    Array.from({ length: int(4) }, (): RegistryEvent => {
      const contract = pick(CONTRACTS);
      const pair = { from: pick(WALLETS), to: pick(WALLETS) };
      const isErc20 = random() < 0.6;
      if (random() < 0.3) return isErc20 ? ended('ERC20', { ...pair, contract }) : ended('ALL', pair);
      return isErc20 ? granted('ERC20', { ...pair, contract, amount: BigInt(1 + int(3)) }) : granted('ALL', pair);
    });

  const grow = async () => {
    const head = state.head?.number ?? 0;
    const verified = state.verified ?? 0;
    const isReorg = random() < 0.35 && head > verified;
    if (isReorg) branch++;
    const from = isReorg ? verified + int(head - verified) : head;
    const blocks = Array.from({ length: 1 + int(3) }, (_, turn) => block(from + 1 + turn, randomEvents(), branch));
    const last = blocks.at(-1) as BlockInput;
    // Sometimes a reorg leaves a lower head.
    const next = Math.max(verified, last.number - 3);
    const batch = { chainId: CHAIN, epoch: state.epoch, after: state.head, blocks, head: last };
    const rest = { ...(isReorg ? { rollbackTo: from } : {}), ...(next > 0 ? { verified: next } : {}) };
    state = await store.apply({ ...batch, ...rest });
    for (const one of blocks) kept.set(one.number, one);
    for (const number of kept.keys()) if (number > last.number) kept.delete(number);
  };
  const repair = async () => {
    const old = kept.get(1 + int(state.head?.number ?? 1));
    if (old === undefined) return;
    const repaired = {
      ...old,
      logs: random() < 0.5 ? old.logs.slice(1) : block(old.number, randomEvents(), branch).logs,
    };
    state = await store.repair({ chainId: CHAIN, epoch: state.epoch, blocks: [repaired] });
    kept.set(old.number, repaired);
  };

  return {
    async begin() {
      state = await store.claim(CHAIN, 1);
      await grow();
    },
    /** Takes the newest blocks back, and what they did. */
    async reorg() {
      const { head, verified } = state;
      const base = verified ?? 0;
      branch++;
      const blocks = [block(base + 1, [granted('ALL', { from: FROM, to: FROM, rights: hash(branch) })], branch)];
      const batch = { chainId: CHAIN, epoch: state.epoch, after: head, blocks, head: blocks[0] as BlockInput };
      state = await store.apply({ ...batch, rollbackTo: base });
    },
    /** One commit. While the database restarts, it may have succeeded although it failed here: then it continues from there. */
    async step() {
      await eventually('written', async () => {
        try {
          await (random() < 0.1 ? repair() : grow());
        } catch (error) {
          state = await store.claim(CHAIN, 1);
          throw error;
        }
        return true;
      });
    },
  };
}

const CASES = [
  ...ENGINES.filter(({ name }) => name === 'SQLite').map(({ name }) => ({ name, processes: 1, seed: 11 })),
  ...ENGINES.filter(({ name }) => name === 'PostgreSQL').map(({ name }) => ({ name, processes: 3, seed: 12 })),
];

describe.each(CASES)('webhooks of $processes processes on $name', ({ name, processes, seed }) => {
  test('every change arrives in order, whatever fails meanwhile', async () => {
    const random = createRandom(seed);
    const postgres = name === 'PostgreSQL' ? await startPostgres() : null;
    const url = (await postgres?.createDatabase()) ?? `sqlite:${temporaryPath('webhooks.db')}`;
    const store = await openStore(url);
    const accounts = await openAccounts(url);
    const webhooks = createWebhooks(accounts.engine);
    let isOver = false;
    const receiver = await startReceiver((path) => {
      if (path === '/dead') return 'hang';
      return isOver ? 'ok' : (BEHAVIOURS[Math.floor(random() * BEHAVIOURS.length)] as Behaviour);
    });
    const running: ServeProcess[] = [];
    try {
      const writer = createWriter(store, createRandom(seed + 1));
      const [secret, nextSecret] = [createSecret(), createSecret()];
      const subscribe = async ({ path, at, filter }: (typeof SUBSCRIPTIONS)[number]) => {
        const cursor = await startCursor({ at, filter }, { store, chainIds: new Set([CHAIN]) });
        const made = await webhooks.create({
          ...{ owner: null, label: null, url: receiver.url + path, filter, at, cursor, secret, now: Date.now() },
          isConfirmed: true,
        });
        return made as WebhookRecord;
      };
      // The chain has no block yet, so they get all of its history.
      const created = await Promise.all(SUBSCRIPTIONS.map(subscribe));
      const dead = await subscribe({ path: '/dead', at: 'head', filter: { chainIds: 'served' } });
      await writer.begin();
      for (let turn = 0; turn < processes; turn++) running.push(await startWebhookProcess(url));

      let kills = 0;
      for (let step = 0; step < STEPS; step++) {
        await writer.step();
        await Bun.sleep(Math.floor(random() * 150));
        if (step % 20 === 10) {
          const victim = Math.floor(random() * running.length);
          await running[victim]?.kill();
          running[victim] = await startWebhookProcess(url);
          kills++;
        }
        if (postgres !== null && step % 50 === 40) await postgres.restart();
        if (step === STEPS / 2)
          for (const { id } of [...created, dead])
            await eventually('rotated', () =>
              webhooks.rotateSecret({ id, secret: nextSecret, now: Date.now(), overlapMs: 3_600_000 }),
            );
      }
      isOver = true;
      expect(kills).toBeGreaterThan(4);

      const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
      const changesOf = (path: string) => distinct(sentTo(path)).flatMap(changesIn);
      // The receiver that never answers delays nobody: all others get everything.
      const expectAll = async () => {
        for (const { path, at, filter } of SUBSCRIPTIONS) {
          const expected = await listed(store, at, filter);
          const isComplete = async () => JSON.stringify(applyChanges(changesOf(path))) === JSON.stringify(expected);
          await eventually(`${path} complete`, isComplete, { seconds: 60 }).catch(() => {});
          expect([path, applyChanges(changesOf(path))]).toEqual([path, expected]);
        }
      };
      await expectAll();
      // After it, everyone has been sent a change above the final block, which the second one takes back.
      await writer.reorg();
      await expectAll();
      const undone = () => changesOf('/head').filter(({ type }) => type === 'undo').length;
      const before = undone();
      // It stays where its first delivery begins. Blocks without changes before that one do not need a delivery.
      const { cursor } = (await webhooks.byId(dead.id)) as NonNullable<typeof dead>;
      await writer.reorg();
      await expectAll();
      expect(undone()).toBeGreaterThan(before);
      for (const { path } of SUBSCRIPTIONS) expectSameBytes(sentTo(path));
      expect(
        sentTo('/nothing')
          .flatMap(changesIn)
          .filter(({ type }) => type !== 'undo'),
      ).toEqual([]);
      expect(sentTo('/dead').length).toBeGreaterThan(1);
      expect(new Set(sentTo('/dead').map(({ id }) => id)).size).toBe(1);
      expect(await webhooks.byId(dead.id)).toMatchObject({
        cursor,
        pending: { id: sentTo('/dead')[0]?.id },
      });
      expect(sentTo('/elsewhere')).toEqual([]);
      const [attempt] = await webhooks.attempts(dead.id);
      expect(attempt).toMatchObject({ failure: 'timeout', status: null });
      expect(isRecent(attempt?.at ?? 0)).toBe(true);
      expectSigned(receiver.received, secret, nextSecret);

      const metrics = await Promise.all(running.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
      // A process that has just started may have delivered nothing yet.
      expect(metrics.join('\n')).toMatch(/^delegations_webhook_deliveries_total\{outcome="delivered"\} [1-9]/m);
      for (const text of metrics) {
        expect(text).toContain(`delegations_webhooks{state="active"} ${SUBSCRIPTIONS.length + 1}`);
        expect(text).toMatch(new RegExp(`^delegations_webhook_lag_seconds\\{webhook="${dead.id}"\\} [1-9]`, 'm'));
      }
      expect(await Promise.all(running.splice(0).map((one) => one.stop()))).toEqual(
        Array.from({ length: processes }, () => 0),
      );
    } finally {
      await Promise.all(running.map((one) => one.kill()));
      receiver.stop();
      await accounts.close();
      await store.close();
      await postgres?.stop();
    }
  });
});

/** Unix milliseconds within the last ten minutes. */
const isRecent = (at: number) => Math.abs(Date.now() - at) < 600_000;

const changesIn = ({ body }: Received) => (JSON.parse(body) as { data: { changes: ChangeJson[] } }).data.changes;

/** The deliveries, each once. */
const distinct = (received: readonly Received[]) => [...new Map(received.map((one) => [one.id, one])).values()];

/** A delivery is sent again only with the same bytes, and only before the next one. */
function expectSameBytes(received: readonly Received[]): void {
  const done = new Set<string>();
  let current: Received | undefined;
  for (const one of received) {
    if (one.id === current?.id) expect(one.body).toBe(current.body);
    else {
      expect(done.has(one.id)).toBe(false);
      if (current !== undefined) done.add(current.id);
    }
    current = one;
  }
}

function expectSigned(received: readonly Received[], secret: string, nextSecret: string): void {
  const isValid = (key: string, { body, headers }: Pick<Received, 'body' | 'headers'>) => {
    try {
      new Webhook(key).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };
  const isBoth = ({ headers }: Received) => (headers['webhook-signature'] ?? '').split(' ').length === 2;
  for (const one of received) expect([isValid(secret, one), isValid(nextSecret, one)]).toEqual([true, isBoth(one)]);
  const last = received.findLast(isBoth) as Received;
  expect(isValid(nextSecret, last)).toBe(true);
  expect(isValid(createSecret(), last)).toBe(false);
  expect(isValid(nextSecret, { ...last, body: last.body.replace('"webhook":', '"webhook":1') })).toBe(false);
  // Sent again later by somebody who has recorded it.
  const at = (seconds: number) => {
    const time = new Date(Date.now() - 1000 * seconds);
    const signature = new Webhook(nextSecret).sign(last.id, time, last.body);
    const timestamp = String(Math.floor(time.getTime() / 1000));
    return { ...last, headers: { ...last.headers, 'webhook-timestamp': timestamp, 'webhook-signature': signature } };
  };
  expect([isValid(nextSecret, at(0)), isValid(nextSecret, at(600))]).toEqual([true, false]);
}

// Attacks a running service with everything that one caller can do, from many addresses and owners at once, beside honest callers
// whose answers are known. The service runs as its own process on a large SQLite store.

import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { percentile } from '../bench/figures.ts';
import { openAccounts } from '../src/accounts/accounts.ts';
import { readProcessStats } from '../src/service/process-stats.ts';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, Store } from '../src/store/store.ts';
import { createSecret } from '../src/webhooks/sign.ts';
import { startCursor } from '../src/webhooks/source.ts';
import { createWebhooks } from '../src/webhooks/webhooks.ts';
import { temporaryPath } from '../test/support/engines.ts';
import { address, block, granted } from '../test/support/fixtures.ts';
import { type Role, startRole } from './role.ts';

export interface AttackOptions {
  readonly seconds: number;
  readonly print: (line: string) => void;
  /** Grants of the store; the largest wallet has a tenth of them. */
  readonly grants?: number;
  /** Only attacks of this kind. */
  readonly only?: string | undefined;
}

export interface AttackReport {
  readonly honest: { right: number; wrong: string[]; unanswered: number; milliseconds: number[]; quiet: number[] };
  /** Requests by kind, and how many of each got which status; 0 for none. */
  readonly hostile: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Of the service's process, in megabytes, every second. */
  readonly megabytes: readonly number[];
  readonly restarts: number;
}

const ADDRESSES = 50;
const OWNERS = 20;
const WEBHOOKS_OF_OWNER = 10;
const HONEST = 4;
/** The wallet that has a tenth of all grants. */
export const LARGE = address(0xb16);
/** The hot wallet that acts for every hundredth cold wallet. */
export const POPULAR = address(0x707);
const A_BLOCK = 5000;
const WAIT_MS = 20_000;

export const coldOf = (turn: number) => address(0x10000 + turn);
export const hotOf = (turn: number) => address(0x900000 + turn);

export async function fill(store: Store, grants: number): Promise<void> {
  let state = await store.claim(1, 1);
  const now = Math.floor(Date.now() / 1000);
  for (let number = 1, turn = 0; turn < grants; number++) {
    const events = Array.from({ length: Math.min(A_BLOCK, grants - turn) }, () => {
      turn++;
      if (turn % 10 === 0) return [granted('ERC721', { from: LARGE, to: hotOf(turn % 1000), tokenId: BigInt(turn) })];
      const from = coldOf(turn);
      const own = granted('ALL', { from, to: hotOf(turn) });
      return turn % 100 === 1 ? [own, granted('ALL', { from, to: POPULAR })] : [own];
    }).flat();
    const one: BlockInput = { ...block(number, events), timestamp: now - 10_000 + number };
    state = await store.apply({
      chainId: 1,
      epoch: state.epoch,
      after: state.head,
      blocks: [one],
      head: one,
      verified: number,
    });
  }
}

/** Starts the service, which takes addresses from X-Forwarded-For. */
export async function startAttacked(databaseUrl: string): Promise<Role> {
  const service = await startRole('api', {
    DATABASE_URL: databaseUrl,
    MAX_LAG_1: '86400',
    METRICS_PORT: '0',
    TRUSTED_PROXIES: '127.0.0.1/32',
    WEBHOOK_NETWORKS: 'loopback',
    LOG_LEVEL: 'error',
  });
  const isUp = () =>
    fetch(`${service.url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let left = 300; left > 0 && !(await isUp()); left--) await Bun.sleep(100);
  return service;
}

export async function attack({ seconds, print, grants = 100_000, only }: AttackOptions): Promise<AttackReport> {
  const path = temporaryPath('attack.db');
  const databaseUrl = `sqlite:${path}`;
  const store = await openStore(databaseUrl);
  await fill(store, grants);
  // It accepts connections, and says nothing.
  const silent = createServer(() => {});
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  const target = `https://127.0.0.1:${(silent.address() as { port: number }).port}/`;

  const accounts = await openAccounts(databaseUrl);
  const now = Math.floor(Date.now() / 1000);
  const owners = await Promise.all(
    Array.from({ length: OWNERS }, async (_, turn) => {
      const owner = address(0xa0000 + turn);
      const key = (await accounts.create({ label: 'x', owner, now }))?.text ?? '';
      const session = await accounts.sessions.open(owner, now);
      const webhooks = [];
      for (let count = 0; count < WEBHOOKS_OF_OWNER; count++) {
        const subscription = { filter: { chainIds: 'served' as const }, at: 'head' as const };
        const cursor = await startCursor(subscription, { store, chainIds: new Set([1]) });
        const made = await createWebhooks(accounts.engine).create({
          ...{ ...subscription, owner, label: null, url: target, cursor, secret: createSecret(), now: 1000 * now },
          isConfirmed: true,
        });
        if (typeof made !== 'string') webhooks.push(made.id);
      }
      return { key, session, webhooks };
    }),
  );
  await accounts.close();
  await store.close();

  const service = await startAttacked(databaseUrl);
  const { pid } = service;

  const report = {
    honest: { right: 0, wrong: [] as string[], unanswered: 0, milliseconds: [] as number[], quiet: [] as number[] },
    hostile: new Map<string, Map<number, number>>(),
    megabytes: [] as number[],
    restarts: 0,
  };
  let isAttacking = false;
  let isOver = false;
  const over = new AbortController();

  async function beHonest(turn: number): Promise<void> {
    for (let count = turn; !isOver; count += HONEST) {
      const grant = (count * 7919) % grants;
      const isGranted = grant % 10 !== 0 && count % 2 === 0 && grant > 0;
      const [from, to] = [coldOf(grant), hotOf(isGranted ? grant : grant + 1)];
      const began = performance.now();
      try {
        const response = await fetch(`${service.url}/registry/v2/check/all?from=${from}&to=${to}`, {
          headers: { 'x-forwarded-for': `203.0.113.${1 + turn}` },
          signal: AbortSignal.timeout(WAIT_MS),
        });
        const text = await response.text();
        if (response.status !== 200) report.honest.unanswered++;
        else if (text !== String(isGranted)) report.honest.wrong.push(`${from} ${to}: ${text}`);
        else {
          report.honest.right++;
          (isAttacking ? report.honest.milliseconds : report.honest.quiet).push(performance.now() - began);
        }
      } catch {
        report.honest.unanswered++;
      }
      // Within the limit of 25 in 10 seconds.
      await Bun.sleep(Math.max(0, 420 - (performance.now() - began)));
    }
  }

  const count = (kind: string, status: number) => {
    const statuses = report.hostile.get(kind) ?? new Map<number, number>();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    report.hostile.set(kind, statuses);
  };
  async function send(
    kind: string,
    path: string,
    headers: Record<string, string>,
    init: RequestInit = {},
    readMs = WAIT_MS,
  ) {
    try {
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(readMs)]);
      const response = await fetch(service.url + path, { ...init, headers, signal });
      count(kind, response.status);
      await response.arrayBuffer();
    } catch {
      count(kind, 0);
    }
  }
  const nested = `{"questions":[{"check":[${'1,'.repeat(4_000_000)}1]}]}`;
  const questions = `{"questions":[${Array.from({ length: 5000 }, () => `{"check":"all","from":"${LARGE}","to":"${hotOf(1)}"}`).join()}]}`;
  const post = (body: string | ReadableStream) => ({ method: 'POST', body });
  const jsonType = { 'content-type': 'application/json' };
  /** A body that begins and does not go on. */
  const idle = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array([123])),
    });
  const stream = { accept: 'text/event-stream' };
  type Attack = readonly [kind: string, run: (headers: Record<string, string>, turn: number) => Promise<void>];
  const asked = (kind: string, path: string): Attack => [kind, (headers) => send(kind, path, headers)];
  const KINDS: readonly Attack[] = [
    asked('changes of nobody', `/registry/any/changes?wallet=${address(0xdead)}`),
    asked('changes', '/registry/any/changes?limit=10000'),
    asked('history', `/registry/any/history/${LARGE}?limit=10000`),
    asked('vaults', `/registry/any/vaults/${POPULAR}?limit=1000`),
    asked('large list', `/registry/v2/${LARGE}?direction=outgoing`),
    asked('large wallet page', `/?wallet=${LARGE}`),
    asked('csv', `/wallet.csv?wallet=${LARGE}`),
    asked('status page', '/status'),
    [
      'nested batch',
      (headers) => send('nested batch', '/registry/any/check', { ...headers, ...jsonType }, post(nested)),
    ],
    [
      'large batch',
      (headers) => send('large batch', '/registry/any/check', { ...headers, ...jsonType }, post(questions)),
    ],
    [
      'idle body',
      (headers) => send('idle body', '/registry/any/check', { ...headers, ...jsonType }, post(idle()), 15_000),
    ],
    ['stream', (headers) => send('stream', '/registry/any/changes?start=first', { ...headers, ...stream }, {}, 5000)],
    [
      'sign-in',
      (headers) =>
        send(
          'sign-in',
          '/developers/session',
          { ...headers, ...jsonType, origin: service.url },
          post('{"message":"x","signature":"0x"}'),
        ),
    ],
    [
      'unknown key',
      (headers, turn) =>
        send('unknown key', '/registry/v2/check/all', { ...headers, 'x-api-key': `dk_${turn}${Math.random()}` }),
    ],
  ];
  const ATTACKS = KINDS.filter(([kind]) => only === undefined || kind === only);
  if (ATTACKS.length === 0) throw new Error(`There is no attack of the kind "${only}".`);
  async function webhookAttack(owner: (typeof owners)[number], turn: number): Promise<void> {
    const id = owner.webhooks[turn % owner.webhooks.length];
    const action = ['test', 'replay', 'resume', 'pause'][turn % 4];
    const headers = { ...jsonType, origin: service.url, cookie: `delegations_session=${owner.session}` };
    await send(
      `webhook ${action}`,
      `/developers/webhooks/${action}`,
      headers,
      post(JSON.stringify({ id, ...(action === 'replay' ? { block: 'start' } : {}) })),
    );
  }
  async function beHostile(caller: number): Promise<void> {
    const owner = caller < OWNERS ? owners[caller] : undefined;
    for (let turn = caller; !isOver; turn++) {
      const [, run] = ATTACKS[(turn * 5 + caller) % ATTACKS.length] as Attack;
      const from = { 'x-forwarded-for': `198.51.100.${1 + (caller % ADDRESSES)}` };
      await run(owner === undefined ? from : { ...from, 'x-api-key': owner.key }, turn);
      if (owner !== undefined && only === undefined) await webhookAttack(owner, turn);
      await Bun.sleep(20);
    }
  }

  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const watch = setInterval(() => {
    const resident = readProcessStats(service.pid)?.residentBytes ?? 0;
    report.megabytes.push(Math.round(resident / 1024 / 1024));
    if (service.pid !== pid || resident === 0) report.restarts++;
    if (report.megabytes.length % 10 !== 0) return;
    print(
      `${elapsed().toFixed(0)} s: ${report.megabytes.at(-1)} MB, honest ${report.honest.right} right, ${report.honest.wrong.length} wrong, ${report.honest.unanswered} unanswered`,
    );
  }, 1000);
  const working = Array.from({ length: HONEST }, (_, turn) => beHonest(turn));
  // What honest callers wait when nobody attacks.
  await Bun.sleep(Math.min(20_000, 250 * seconds));
  isAttacking = true;
  for (let caller = 0; caller < ADDRESSES + OWNERS; caller++) working.push(beHostile(caller));
  await Bun.sleep(1000 * seconds);
  isOver = true;
  clearInterval(watch);
  over.abort();
  await Promise.all(working);
  await service.stop();
  silent.close();
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  return report;
}

export function attackLines({ honest, hostile, megabytes, restarts }: AttackReport): string[] {
  const times = (values: readonly number[]) =>
    `median ${percentile(values, 0.5).toFixed(1)} ms, 99 % within ${percentile(values, 0.99).toFixed(0)} ms, of ${values.length}`;
  const statuses = (counts: ReadonlyMap<number, number>) =>
    [...counts].map(([status, times]) => `${times} × ${status === 0 ? 'nothing' : status}`).join(', ');
  return [
    `honest checks: ${honest.right} right, ${honest.wrong.length} wrong, ${honest.unanswered} unanswered`,
    `quiet: ${times(honest.quiet)}`,
    `attacked: ${times(honest.milliseconds)}`,
    `memory: at most ${Math.max(0, ...megabytes)} MB, at the end ${megabytes.at(-1) ?? 0} MB; restarts: ${restarts}`,
    ...[...hostile].map(([kind, counts]) => `${kind}: ${statuses(counts)}`),
  ];
}

if (import.meta.main) {
  const [seconds = '1800', only] = process.argv.slice(2);
  if (!/^\d+$/.test(seconds)) {
    console.error('Usage: npm run attack -- [seconds, default 1800] [only this kind]');
    process.exit(2);
  }
  const report = await attack({ seconds: Number(seconds), print: console.log, only });
  console.log(attackLines(report).join('\n'));
  process.exit(report.honest.wrong.length === 0 && report.restarts === 0 ? 0 : 1);
}

// Measures what one request of each kind costs the service, and what one caller without a key can make of it within its limits.
// Prints the table of docs/security.md; with a word, only the rows that contain it.

import { rmSync } from 'node:fs';
import { openAccounts } from '../src/accounts/accounts.ts';
import { readProcessStats } from '../src/service/process-stats.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from '../test/support/engines.ts';
import { address } from '../test/support/fixtures.ts';
import { coldOf, fill, hotOf, LARGE, POPULAR, startAttacked } from './attack.ts';

/** For each kind: one request after another with a key, then four at a time without one. */
const KEYED_MS = 2000;
const ANONYMOUS_MS = 20_000;
const AT_ONCE = 4;

const questions = (count: number) =>
  `{"questions":[${Array.from({ length: count }, (_, turn) => `{"check":"all","from":"${coldOf(turn)}","to":"${hotOf(turn)}"}`).join()}]}`;

const KINDS: readonly (readonly [kind: string, path: string, body?: string])[] = [
  ['a check', `/registry/v2/check/all?from=${coldOf(1)}&to=${hotOf(1)}`],
  ['a list of one', `/registry/v2/${coldOf(1)}`],
  ['a list of 10,000', `/registry/v2/${LARGE}`],
  ['`any` list, 1,000', `/registry/any/${LARGE}?limit=1000`],
  ['`any` list, 10,000', `/registry/any/${LARGE}?limit=10000`],
  ['vaults of one', `/registry/any/vaults/${hotOf(11)}`],
  ['vaults, 1,000', `/registry/any/vaults/${POPULAR}?limit=1000`],
  [
    'vaults of 10 wallets at once',
    '/registry/any/vaults',
    JSON.stringify({ wallets: Array.from({ length: 10 }, (_, turn) => hotOf(turn + 1)) }),
  ],
  ['history, 1,000', `/registry/any/history/${LARGE}?limit=1000`],
  ['history, 10,000', `/registry/any/history/${LARGE}?limit=10000`],
  ['changes, 1,000', '/registry/any/changes?limit=1000'],
  ['changes, 10,000', '/registry/any/changes?limit=10000'],
  ['changes of nobody', `/registry/any/changes?wallet=${address(0xdead)}`],
  ['a batch of 10', '/registry/any/check', questions(10)],
  ['a batch of 5,000', '/registry/any/check', questions(5000)],
  ['`/networks`', '/networks'],
  ['`/health`', '/health'],
  ['`/status`', '/status'],
  ['`/docs`', '/docs'],
  ['`/openapi.json`', '/openapi.json'],
  ['the page of a small wallet', `/?wallet=${coldOf(1)}`],
  ['the page of a wallet with 10,000', `/?wallet=${LARGE}`],
  ['its CSV', `/wallet.csv?wallet=${LARGE}`],
];

const path = temporaryPath('costs.db');
const databaseUrl = `sqlite:${path}`;
const store = await openStore(databaseUrl);
await fill(store, 100_000);
await store.close();
const accounts = await openAccounts(databaseUrl);
const now = Math.floor(Date.now() / 1000);
const key = (await accounts.create({ label: 'x', owner: address(1), now }))?.text ?? '';
await accounts.close();
const service = await startAttacked(databaseUrl);
const stats = () => {
  const { cpuSeconds = 0, residentBytes = 0 } = readProcessStats(service.pid) ?? {};
  return { ms: 1000 * cpuSeconds, megabytes: residentBytes / 1024 / 1024 };
};
const line = (...cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`);

line(
  'Request',
  'Bytes',
  'CPU, ms',
  'A second fill a core',
  'One caller without a key: answered a second',
  'of a core',
  'MB',
);
line(...Array.from({ length: 7 }, () => '---'));
const chosen = KINDS.filter(([kind]) => kind.includes(process.argv[2] ?? ''));
for (const [turn, [kind, target, body]] of chosen.entries()) {
  const post = body === undefined ? {} : { method: 'POST', body };
  const ask = async (headers: Record<string, string>) => {
    const response = await fetch(service.url + target, {
      ...post,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    });
    const bytes = (await response.arrayBuffer()).byteLength;
    return { bytes, isAnswered: response.ok, wait: Number(response.headers.get('retry-after') ?? 1) };
  };
  const keyed = { 'x-api-key': key, 'x-forwarded-for': '198.51.100.1' };
  const isApi = target.startsWith('/registry');
  let bytes = 0;
  let times = 0;
  const [before, began] = [stats(), performance.now()];
  while (performance.now() - began < KEYED_MS) {
    // Pages take no key: each is asked for from another address.
    ({ bytes } = await ask(isApi ? keyed : { 'x-forwarded-for': `10.${turn}.${times >> 8}.${times & 255}` }));
    times++;
  }
  const each = (stats().ms - before.ms) / times;

  const anonymous = { 'x-forwarded-for': `203.0.113.${turn}` };
  let answered = 0;
  let most = 0;
  const [from, start] = [stats(), performance.now()];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() - start < ANONYMOUS_MS) {
        const { isAnswered, wait } = await ask(anonymous);
        most = Math.max(most, stats().megabytes);
        if (isAnswered) answered++;
        else await Bun.sleep(1000 * wait);
      }
    }),
  );
  const elapsed = performance.now() - start;
  line(
    kind,
    bytes.toLocaleString('en'),
    each.toPrecision(2),
    (1000 / each).toPrecision(2),
    (answered / (elapsed / 1000)).toPrecision(2),
    `${((100 * (stats().ms - from.ms)) / elapsed).toFixed(1)} %`,
    Math.max(0, most - from.megabytes).toFixed(0),
  );
}
await service.stop();
for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });

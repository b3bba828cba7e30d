// Rights that can be read: as text in parameters and records, on the command line and in the explorer.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { App } from '../src/http/server/app.ts';
import type { Bytes32 } from '../src/registry/delegation.ts';
import { rightsOf } from '../src/registry/rights.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, granted, HOT, timeOf } from './support/fixtures.ts';
import { runCommand } from './support/serve-process.ts';
import { appOf } from './support/serving.ts';

const VOTE = rightsOf('vote') as Bytes32;
const QUOTED = rightsOf('sag "ja" \\ é') as Bytes32;
const EXPIRES = 1_893_456_000;
const EXPIRING: Bytes32 = `0x${'766f7465'.padEnd(48, '0')}${EXPIRES.toString(16).padStart(16, '0')}`;
const OPAQUE: Bytes32 = `0x${'ab'.repeat(32)}`;
const [VOTER, QUOTER, EXPIRER, HASHER] = [1, 2, 3, 4].map(address) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const url = `sqlite:${temporaryPath('rights.db')}`;
let store: Store;
let app: App;

beforeAll(async () => {
  store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = block(101, [
    granted('ALL'),
    granted('ALL', { to: VOTER, rights: VOTE }),
    granted('ALL', { to: QUOTER, rights: QUOTED }),
    granted('ALL', { to: EXPIRER, rights: EXPIRING }),
    granted('ALL', { to: HASHER, rights: OPAQUE }),
    granted('ALL', { version: 1 }),
  ]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: 101 });
  app = appOf(store, timeOf(101));
});
afterAll(() => store.close());

const ask = (path: string) => app.fetch(new Request(`http://localhost${path}`));
const check = async (to: string, rights: string) =>
  (await ask(`/registry/v2/check/all?to=${to}&from=${COLD}&rights=${encodeURIComponent(rights)}`)).text();

describe('the parameter rights', () => {
  test('takes text: in checks, in any script, and equals its bytes32', async () => {
    expect([await check(VOTER, 'text:vote'), await check(VOTER, VOTE)]).toEqual(['true', 'true']);
    expect([await check(QUOTER, 'text:sag "ja" \\ é'), await check(VOTER, 'text:Vote')]).toEqual(['true', 'false']);
    // An unrestricted delegation counts for every right.
    expect(await check(HOT, 'text:anything')).toBe('true');
    // The name alone is another right than the name with an expiry.
    expect([await check(EXPIRER, 'text:vote'), await check(EXPIRER, EXPIRING)]).toEqual(['false', 'true']);
  });

  test('takes text: as a filter of lists', async () => {
    const rows = (await (await ask(`/registry/v2/${COLD}?rights=text:vote`)).json()) as { to: string }[];
    expect(rows.map(({ to }) => to)).toEqual([VOTER]);
    expect(await (await ask(`/registry/v2/${COLD}?rights=text:mint`)).json()).toEqual([]);
  });

  test('rejects a text that is empty, too long or not printable, and other forms', async () => {
    const reasons = {
      'text:': 'rights must have a text after text:, such as text:vote',
      [`text:${'é'.repeat(17)}`]: 'rights must be at most 32 bytes of text',
      'text:vote\n': 'rights must not have control characters',
      'text:\0': 'rights must not have control characters',
      vote: `rights must be a bytes32 (0x and 64 hex digits); "vote" as bytes32 is ${VOTE}, or send text:vote`,
      '0x1234': 'rights must be a bytes32 (0x and 64 hex digits) or a text such as text:vote, not "0x1234"',
    };
    for (const [rights, reason] of Object.entries(reasons)) {
      const query = `rights=${encodeURIComponent(rights)}`;
      for (const path of [`/registry/v2/check/all?to=${HOT}&from=${COLD}&`, `/registry/v2/${COLD}?`]) {
        const response = await ask(path + query);
        const { detail } = (await response.json()) as { detail: string };
        expect([response.status, detail]).toEqual([400, reason]);
      }
    }
  });
});

describe('a record in full detail', () => {
  const NONE = { rightsText: null, rightsName: null, expires: null };
  const idOf = (rights: string) => rights.slice(0, 50);
  const READ = {
    [HOT]: { ...NONE, rightsId: `0x${'0'.repeat(48)}` },
    [VOTER]: { ...NONE, rights: VOTE, rightsText: 'vote', rightsId: idOf(VOTE) },
    [QUOTER]: { ...NONE, rights: QUOTED, rightsText: 'sag "ja" \\ é' },
    [EXPIRER]: { rights: EXPIRING, rightsText: null, rightsName: 'vote', rightsId: idOf(EXPIRING), expires: EXPIRES },
    [HASHER]: { ...NONE, rights: OPAQUE, rightsId: idOf(OPAQUE) },
  };

  test('of a list has rightsText, rightsName, rightsId and expires', async () => {
    const rows = (await (await ask(`/registry/v2/${COLD}?detail=full`)).json()) as { to: string }[];
    expect(rows).toHaveLength(Object.keys(READ).length);
    for (const row of rows) expect(row).toMatchObject(READ[row.to.toLowerCase() as keyof typeof READ] ?? {});
    const [old] = (await (await ask(`/registry/v1/${COLD}?detail=full`)).json()) as object[];
    expect(old).toMatchObject({ ...NONE, rights: null, rightsId: null });
  });

  test('of an explanation has them too', async () => {
    for (const [to, rights] of [
      [VOTER, VOTE],
      [EXPIRER, EXPIRING],
    ] as const) {
      const response = await ask(`/registry/v2/check/all?to=${to}&from=${COLD}&rights=${rights}&explain=true`);
      expect(await response.json()).toMatchObject({ result: true, delegations: [READ[to]] });
    }
  });
});

describe('the command line', () => {
  const run = async (...args: string[]) =>
    (await runCommand([...args, '--block', '101'], { DATABASE_URL: url })).stdout;

  test('list shows them, and --unrestricted leaves them out', async () => {
    const table = await run('list', COLD);
    for (const label of [' vote  ', ' sag "ja" \\ é  ', ' vote (until 1 January 2030)  ', ` ${OPAQUE}  `])
      expect(table).toContain(label);
    expect((await run('list', COLD, '--unrestricted')).trimEnd().split('\n')).toHaveLength(2);
    const rows = JSON.parse(await run('list', COLD, '--json')) as { rightsName: string | null }[];
    expect(rows.flatMap(({ rightsName }) => rightsName ?? [])).toEqual(['vote']);
  });

  test('check takes the bare text, text: and bytes32, and shows what grants', async () => {
    for (const rights of ['vote', 'text:vote', VOTE])
      expect(await run('check', '--from', COLD, '--to', VOTER, '--rights', rights)).toMatch(
        /^yes .*\n {2}ALL for vote, since/,
      );
    expect(await run('check', '--from', COLD, '--to', EXPIRER, '--rights', EXPIRING)).toContain(
      'ALL for vote (until 1 January 2030), since',
    );
  });
});

test('the explorer shows them, and takes a text with and without text:', async () => {
  const page = async (query: string) => (await ask(`/?${query}`)).text();
  const table = await page(`wallet=${COLD}`);
  for (const label of ['only “vote”', 'only “sag &quot;ja&quot; \\ é”', 'until 1 January 2030, not enforced'])
    expect(table).toContain(label);
  for (const rights of ['vote', 'text:vote', VOTE])
    expect(await page(`from=${COLD}&to=${VOTER}&rights=${rights}`)).toContain(
      'with the right <span class="right">“vote”',
    );
  expect(await page(`from=${COLD}&to=${EXPIRER}&rights=${EXPIRING}`)).toContain(
    '<span class="right">“vote (until 1 January 2030)”',
  );
});

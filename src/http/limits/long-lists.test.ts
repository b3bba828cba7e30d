// Long lists: bounded per caller, per key and per process, paced, read in turns, and always whole.

import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, COLD, CONTRACT, ended, granted, HOT, KEY_RECORD, timeOf } from '../../../test/support/fixtures.ts';
import { admissionOf, serviceOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { type App, createApp } from '../server/app.ts';
import type { AdmissionOptions, UnknownKeys } from './admission.ts';
import { readProxies } from './client-address.ts';
import { createLimiter } from './limiter.ts';
import { createLongLists, type LongList } from './long-lists.ts';

const COUNT = 2000;
const LIST = `/registry/v2/${HOT}`;
const KEYS = ['first', 'second', 'of Ada', 'another of Ada'];
/** Two keys have one owner. */
const recordOf = (key: string) => ({ ...KEY_RECORD, id: KEYS.indexOf(key), owner: key.endsWith('Ada') ? COLD : null });

let store: Store;
let epoch: number;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('long-lists.db')}`);
  ({ epoch } = await store.claim(1, 100));
  const grants = Array.from({ length: COUNT }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
  const head = block(102);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [block(100), block(101, grants), head], head });
});
afterAll(() => store.close());

const limiter = (most = 10_000) => createLimiter({ most, seconds: 10 });
const proxiesOf = (trusted: string) => readProxies(trusted) as NonNullable<ReturnType<typeof readProxies>>;
const gateOf = (more: Partial<AdmissionOptions> = {}) =>
  admissionOf(10_000, {
    keys: {
      known: (key) => KEYS.includes(key) && recordOf(key),
      found: (key) => (KEYS.includes(key) ? recordOf(key) : null),
      isFamiliar: () => true,
      lookUp: async () => false,
    },
    ...more,
  });
/** Callers are told apart by address, and some keys are active. */
const appWith = (
  more: Partial<Parameters<typeof createApp>[0]> = {},
  trusted = '',
  unknownKeys: UnknownKeys = 'refuse',
) =>
  createApp(
    serviceOf(store, timeOf(103), {
      admission: gateOf({ unknownKeys, proxies: proxiesOf(trusted) }),
      ...more,
    }),
  );
const send = (app: App, path: string, { from = '198.51.100.1', key = '' } = {}) =>
  app.fetch(new Request(`http://localhost${path}`, key === '' ? {} : { headers: { 'x-api-key': key } }), () => from);
const statusOf = async (...args: Parameters<typeof send>) => {
  const response = await send(...args);
  if (response.status === 200) await response.body?.cancel();
  return response.status;
};
const open = (count: number, ...[app, path, caller]: Parameters<typeof send>) =>
  Promise.all(Array.from({ length: count }, () => send(app, path, caller)));
const lengthOf = async (response: Response) => ((await response.json()) as unknown[]).length;

const post = (app: App, body: ReadableStream<Uint8Array> | string, { from = '198.51.100.1', key = '' } = {}) =>
  app.fetch(
    new Request('http://localhost/registry/any/check', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(key === '' ? {} : { 'x-api-key': key }) },
    }),
    () => from,
  );

describe('long lists in flight', () => {
  test('with made-up keys, if those count as none, are as many as without a key', async () => {
    const app = appWith({}, '', 'anonymous');
    const lists = await Promise.all(['a', 'b', 'c', 'd'].map((key) => send(app, LIST, { key })));
    expect(lists.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await statusOf(app, LIST, { key: 'e' })).toBe(429);
    expect(await statusOf(app, LIST, { key: KEYS[0] ?? '' })).toBe(200);
    for (const list of lists) await list.body?.cancel();
  });

  test('without a key 4 for each address: the fifth is 429 with a time to retry, others and short lists are answered', async () => {
    const app = appWith();
    const lists = await open(4, app, LIST);
    expect(lists.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const refused = await send(app, LIST);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toMatchObject({
      type: '/docs#problem-too-many-requests',
      detail:
        'At most 4 long lists and large batches can be in flight at once without an API key. Wait until one was sent.',
    });
    expect(await statusOf(app, `${LIST}?limit=1000`)).toBe(429);
    expect(await statusOf(app, `${LIST}?limit=100&type=ALL`)).toBe(429);
    expect(await statusOf(app, `${LIST}?limit=100`)).toBe(200);
    expect(await statusOf(app, `/registry/v2/check/all?to=${HOT}&from=${COLD}`)).toBe(200);
    expect(await statusOf(app, LIST, { from: '198.51.100.2' })).toBe(200);
    expect(await statusOf(app, LIST, { key: 'first' })).toBe(200);
    for (const list of lists) expect(await lengthOf(list)).toBe(COUNT);
  });

  test('refuse changes of several chains as a whole, not as a problem of the chains', async () => {
    const app = appWith({ chainIds: new Set([1, 10]) });
    const lists = await open(4, app, LIST);
    const changes = await send(app, `/registry/any/changes?chainId=10,1&limit=${COUNT}`);
    expect([changes.status, changes.headers.get('retry-after')]).toEqual([429, '5']);
    for (const list of lists) await list.body?.cancel();
  });

  test('without a key 4 for a whole /48 of IPv6', async () => {
    const app = appWith();
    for (let turn = 0; turn < 4; turn++) await send(app, LIST, { from: `2001:db8:0:${turn}::1` });
    expect(await statusOf(app, LIST, { from: '2001:db8:0:9::1' })).toBe(429);
    expect(await statusOf(app, LIST, { from: '2001:db8:1::1' })).toBe(200);
  });

  test('16 for each key', async () => {
    const app = appWith();
    await open(16, app, LIST, { key: 'first' });
    const refused = await send(app, LIST, { key: 'first' });
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { detail: expect.stringContaining('At most 16') },
    ]);
    expect(await statusOf(app, LIST, { key: 'second' })).toBe(200);
    expect(await statusOf(app, LIST)).toBe(200);
  });

  test('16 for all keys of one owner', async () => {
    const app = appWith();
    for (const key of ['of Ada', 'another of Ada']) await open(8, app, LIST, { key });
    expect(await statusOf(app, LIST, { key: 'of Ada' })).toBe(429);
    expect(await statusOf(app, LIST, { key: 'another of Ada' })).toBe(429);
    expect(await statusOf(app, LIST, { key: 'first' })).toBe(200);
  });

  test('128 without a key for the whole process, and as many with one', async () => {
    const app = appWith();
    for (let caller = 0; caller < 32; caller++) await open(4, app, LIST, { from: `203.0.113.${caller}` });
    const refused = await send(app, LIST);
    expect([refused.status, await refused.json()]).toMatchObject([429, { detail: expect.stringContaining('service') }]);
    expect(await statusOf(app, LIST, { key: 'first' })).toBe(200);
  });

  test('no longer count when they were sent, cancelled, failed, or asked for with HEAD', async () => {
    const longLists = createLongLists();
    const app = appWith({ longLists });
    const [sent, cancelled, failed] = await open(3, app, LIST);
    expect(longLists.inFlight).toBe(3);
    expect(await lengthOf(sent as Response)).toBe(COUNT);
    expect(longLists.inFlight).toBe(2);
    await cancelled?.body?.cancel();
    expect(longLists.inFlight).toBe(1);
    const { head } = (await store.chain(1)) ?? {};
    const next = block(102, [], 1);
    await store.apply({ chainId: 1, epoch, after: head ?? null, rollbackTo: 100, blocks: [next], head: next });
    expect(await failed?.text().catch(String)).toContain('changed');
    expect(longLists.inFlight).toBe(0);
    const grants = Array.from({ length: COUNT }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
    const again = block(102, [], 2);
    await store.apply({
      chainId: 1,
      epoch,
      after: next,
      rollbackTo: 100,
      blocks: [block(101, grants), again],
      head: again,
    });
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.fetch(request, () => '::1') });
    expect((await fetch(`${server.url.origin}${LIST}`, { method: 'HEAD' })).status).toBe(200);
    await server.stop(true);
    expect(longLists.inFlight).toBe(0);
  });
});

test('a long list on a page counts for the caller of the page, also behind a proxy', async () => {
  const other = await openStore(`sqlite:${temporaryPath('ended-lists.db')}`);
  const { epoch: own } = await other.claim(1, 100);
  const head = block(103);
  const tokens = Array.from({ length: 600 }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
  const ends = Array.from({ length: 600 }, (_, id) => ended('ERC721', { tokenId: BigInt(id) }));
  const blocks = [block(100), block(101, tokens), block(102, ends), head];
  await other.apply({ chainId: 1, epoch: own, after: null, blocks, head });
  const callers: string[] = [];
  const longLists = createLongLists();
  const app = appWith(
    {
      store: other,
      longLists: {
        ...longLists,
        beginWhole(caller) {
          callers.push(caller.id);
          return longLists.beginWhole(caller);
        },
      },
    },
    '192.0.2.1',
  );
  const request = new Request(`http://localhost/?wallet=${HOT}&chain=1&asOf=102`, {
    headers: { 'x-forwarded-for': '198.51.100.7' },
  });
  expect((await app.fetch(request, () => '192.0.2.1')).status).toBe(200);
  expect(new Set(callers)).toEqual(new Set(['198.51.100.7']));
  await other.close();
});

describe('bodies', () => {
  const MIB = 1024 * 1024;
  /** A body of which only a part ever arrives, unless it is closed. */
  function bodyOf(bytes: number) {
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(bytes).fill(0x20));
        end = () => controller.close();
      },
    });
    return { body, end: () => end() };
  }
  test('that do not arrive keep nobody from a long list', async () => {
    const app = appWith();
    const bodies = Array.from({ length: 50 }, () => bodyOf(1));
    const posted = bodies.map(({ body }) => post(app, body, { key: 'first' }));
    expect(await statusOf(app, LIST, { key: 'second' })).toBe(200);
    expect(await statusOf(app, LIST, { key: 'first' })).toBe(200);
    for (const { end } of bodies) end();
    expect(new Set((await Promise.all(posted)).map(({ status }) => status))).toEqual(new Set([400]));
  });

  test('of one caller have 8 MiB at most, and of all callers 16 MiB', async () => {
    const longLists = createLongLists();
    const app = appWith({ longLists });
    const first = bodyOf(5 * MIB);
    const waiting = post(app, first.body, { key: 'of Ada' });
    await Bun.sleep(10);
    const refused = await post(app, bodyOf(5 * MIB).body, { key: 'another of Ada' });
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { detail: 'The bodies of one caller can have 8192 KiB at once. Wait until one was answered.' },
    ]);
    const other = bodyOf(5 * MIB);
    const others = post(app, other.body, { key: 'first' });
    for (const { end } of [first, other]) end();
    expect([(await waiting).status, (await others).status]).toEqual([400, 400]);
    // What was answered no longer counts.
    const again = bodyOf(8 * MIB);
    again.end();
    expect((await post(app, again.body, { key: 'of Ada' })).status).toBe(400);
    const kept = Array.from({ length: 2 }, (_, id) => longLists.receive({ id: String(id), hasKey: true }));
    for (const one of kept) one.add(8 * MIB);
    expect(() => longLists.receive({ id: 'another', hasKey: true }).add(1)).toThrow('as many bodies as it can');
    longLists.receive({ id: 'another', hasKey: false }).add(1);
  });

  test('and answers made in memory are collected after 10 MiB of them', async () => {
    const longLists = createLongLists();
    const collected = spyOn(Bun, 'gc').mockImplementation(() => {});
    const caller = { id: 'one', hasKey: true };
    const arrive = (mebibytes: number) => {
      const body = longLists.receive(caller);
      body.add(mebibytes * 1024 * 1024);
      body.end();
    };
    for (const [mebibytes, times] of [
      [6, 0],
      [3, 0],
      [1, 1],
      [8, 1],
      [2, 2],
    ] as const) {
      arrive(mebibytes);
      expect([mebibytes, collected.mock.calls.length]).toEqual([mebibytes, times]);
    }
    const list = await longLists.beginWhole(caller);
    for (let turn = 0; turn < 4; turn++) await list.read(10_000, async () => {});
    list.end();
    expect(collected.mock.calls.length).toBe(3);
    collected.mockRestore();
  });

  test('count as a question for each KiB, and are not read if the caller may not ask as many', async () => {
    const anonymous = limiter(25);
    const app = appWith({ admission: gateOf({ anonymous }) });
    const question = JSON.stringify({ questions: [{ check: 'all', from: COLD, to: HOT }] });
    const padded = (kib: number) => question + ' '.repeat(kib * 1024 - question.length);
    expect((await post(app, padded(20))).status).toBe(200);
    expect((await post(app, padded(6))).status).toBe(429);
    // The refused one counts as one.
    expect((await post(app, padded(4))).status).toBe(200);
    let isRead = false;
    const unread = new Request('http://localhost/registry/any/check', {
      method: 'POST',
      body: new ReadableStream(
        {
          pull() {
            isRead = true;
          },
        },
        { highWaterMark: 0 },
      ),
      headers: { 'content-type': 'application/json', 'content-length': String(26 * 1024) },
    });
    const refused = await app.fetch(unread, () => '198.51.100.2');
    expect([refused.status, await refused.json()]).toMatchObject([413, { type: '/docs#problem-too-many-questions' }]);
    expect(isRead).toBe(false);
    expect((await post(app, padded(8000), { key: 'first' })).status).toBe(200);
  });
});

describe('reads of long lists', () => {
  test('go round among callers: who waits with many is not before who waits with one', async () => {
    const longLists = createLongLists();
    const order: string[] = [];
    const read = (id: string) => longLists.read({ id, hasKey: true }, 1, async () => void order.push(id));
    await Promise.all([...Array.from({ length: 100 }, () => read('many')), read('one'), read('other')]);
    expect(order).toHaveLength(102);
    expect(Math.max(order.indexOf('one'), order.indexOf('other'))).toBeLessThan(6);
  });

  test('run two at a time, and other requests get a turn between them', async () => {
    let turn = 0;
    let isDone = false;
    const countTurns = () => {
      turn++;
      if (!isDone) setImmediate(countTurns);
    };
    const readsByTurn = new Map<number, number>();
    const counting: Store = {
      ...store,
      listNow(query) {
        if (query.after !== undefined) readsByTurn.set(turn, (readsByTurn.get(turn) ?? 0) + 1);
        return store.listNow(query);
      },
    };
    const app = appWith({ store: counting });
    const lists = await Promise.all(
      ['first', 'second'].flatMap((key) => Array.from({ length: 16 }, () => send(app, LIST, { key }))),
    );
    countTurns();
    const lengths = await Promise.all(lists.map(lengthOf));
    isDone = true;
    expect(new Set(lengths)).toEqual(new Set([COUNT]));
    expect(Math.max(...readsByTurn.values())).toBeOneOf([1, 2]);
  });

  test('keep to the pace of a caller without a key, over all its lists, and no list is cut short', async () => {
    let now = 0;
    const clock = {
      now: () => now,
      async sleep(ms: number) {
        now += ms;
      },
    };
    const paced = (rowsPerSecond: number) => createLongLists(rowsPerSecond, clock);
    // All but the first 250 of each list, at 100 a second, less the first 2 seconds.
    const app = appWith({ longLists: paced(100) });
    expect(await lengthOf(await send(app, LIST))).toBe(COUNT);
    expect(now).toBeCloseTo(10 * (COUNT - 250 + 250) - 2000, 3);
    const before = now;
    const none = await send(app, `${LIST}?contract=${CONTRACT.replace(/.$/, '0')}`);
    expect((await none.text()).replaceAll('\n', '')).toBe('[]');
    expect(now - before).toBeCloseTo(10 * COUNT, 3);
    // Another caller is not slowed down, nor is a key.
    const started = now;
    await send(app, LIST, { from: '198.51.100.9' }).then((one) => one.body?.cancel());
    await lengthOf(await send(app, LIST, { key: 'first' }));
    expect(now).toBe(started);
  });
});

describe('answers that are made in memory', () => {
  test('are two at once, one of each caller, and callers take turns', async () => {
    const longLists = createLongLists();
    const began: string[] = [];
    const lists = new Map<number, LongList>();
    for (const [turn, id] of ['a', 'a', 'a', 'b', 'c', 'd'].entries())
      void longLists.beginWhole({ id, hasKey: true }).then((list) => {
        began.push(id);
        lists.set(turn, list);
      });
    await Bun.sleep(0);
    expect(began).toEqual(['a', 'b']);
    lists.get(3)?.end();
    await Bun.sleep(0);
    expect(began.slice(2)).toEqual(['c']);
    lists.get(0)?.end();
    lists.get(4)?.end();
    await Bun.sleep(0);
    expect(began.slice(3).sort()).toEqual(['a', 'd']);
  });

  test('take no room while their caller waits for its pace', async () => {
    const wakes: (() => void)[] = [];
    const at = { now: 0 };
    const clock = { now: () => at.now, sleep: () => new Promise<void>((wake) => wakes.push(wake)) };
    const longLists = createLongLists(1000, clock);
    const slow = ['198.51.100.1', '198.51.100.2'].map((id) => ({ id, hasKey: false }));
    for (const caller of slow) longLists.charge(caller, 10_000);
    const began: Promise<LongList>[] = slow.flatMap((caller) => [
      longLists.beginWhole(caller),
      longLists.beginWhole(caller),
    ]);
    const honest = await longLists.beginWhole({ id: 'Ada', hasKey: true });
    honest.end();
    // Both of a caller wake up, and the second has to pay for the first.
    at.now = 8000;
    for (const wake of wakes.splice(0)) wake();
    const first = await (began[0] as Promise<LongList>);
    await first.read(5000, async () => {});
    first.end();
    let hasSecond = false;
    void began[1]?.then(() => {
      hasSecond = true;
    });
    await Bun.sleep(0);
    expect([hasSecond, wakes.length]).toEqual([false, 1]);
    at.now = 13_000;
    for (const wake of wakes.splice(0)) wake();
    await began[1];
  });

  const PAGE = `/registry/any/changes?limit=${COUNT}`;
  const MOST_UNREAD = 8 * 1024 * 1024;

  test('are a share of their caller until they were read: who does not read gets no more', async () => {
    const app = appWith({});
    const whole = await (await send(app, PAGE, { key: 'first' })).text();
    expect(whole.length).toBeGreaterThan(256 * 1024);
    const unread: Response[] = [];
    let refused: Response | null = null;
    while (refused === null && unread.length < 1000) {
      const response = await send(app, PAGE, { key: 'of Ada' });
      if (response.status === 200) unread.push(response);
      else refused = response;
    }
    expect(unread).toHaveLength(Math.floor(MOST_UNREAD / whole.length));
    expect([refused?.status, refused?.headers.get('x-request-id'), await refused?.json()]).toMatchObject([
      429,
      expect.any(String),
      { detail: 'You have not read 8 MiB of answers. Read them before you ask for more.' },
    ]);
    // Small answers, and others.
    expect(await statusOf(app, `/registry/v2/check/all?to=${HOT}&from=${COLD}`, { key: 'of Ada' })).toBe(200);
    expect(await statusOf(app, PAGE, { key: 'first' })).toBe(200);
    expect(await unread.pop()?.text()).toBe(whole);
    expect(await statusOf(app, PAGE, { key: 'of Ada' })).toBe(200);
    await unread.pop()?.body?.cancel();
    expect(await statusOf(app, PAGE, { key: 'of Ada' })).toBe(200);
  });

  test('are all that are larger than one read: JSON of batches, changes and wallets', async () => {
    const longLists = createLongLists();
    let begun = 0;
    const counting = {
      ...longLists,
      beginWhole(...args: Parameters<typeof longLists.beginWhole>) {
        begun++;
        return longLists.beginWhole(...args);
      },
    };
    const app = appWith({ longLists: counting });
    for (const path of [PAGE, `/registry/any/history/${HOT}?limit=${COUNT}`, `/registry/any/${HOT}?limit=${COUNT}`]) {
      begun = 0;
      expect(await statusOf(app, path, { key: 'first' })).toBe(200);
      expect([path, begun]).toEqual([path, 1]);
    }
    const question = JSON.stringify({ check: 'all', from: COLD, to: HOT });
    for (const [bytes, wholes] of [
      [16 * 1024, 0],
      [16 * 1024 + 1, 1],
    ] as const) {
      begun = 0;
      const body = `{"questions":[${question}]}`.padEnd(bytes);
      expect((await post(app, body, { key: 'first' })).status).toBe(200);
      expect([bytes, begun]).toEqual([bytes, wholes]);
    }
  });

  test('of all callers that do not read have 64 MiB at most', () => {
    const longLists = createLongLists();
    for (const id of 'abcdefgh') longLists.beginSending({ id, hasKey: true }, MOST_UNREAD);
    expect(() => longLists.beginSending({ id: 'i', hasKey: true }, 1)).toThrow('to read their answers');
    longLists.beginSending({ id: 'i', hasKey: false }, 1);
    for (const hasKey of [false, true])
      expect(() => createLongLists().beginSending({ id: 'j', hasKey }, MOST_UNREAD + 1)).toThrow('8 MiB');
  });

  test('that end twice, as sent and as cancelled, leave no more room than before', () => {
    const longLists = createLongLists();
    const end = longLists.beginFile({ id: '0', hasKey: true });
    end();
    end();
    for (let id = 0; id < 32; id++) longLists.beginFile({ id: String(id), hasKey: true });
    expect(() => longLists.beginFile({ id: '32', hasKey: true })).toThrow('as many files as it can');
  });

  test('must be read within two minutes, or the answer timeout', async () => {
    const app = appWith({ answerTimeout: 0 });
    const response = await send(app, PAGE, { key: 'first' });
    await expect(response.text()).rejects.toThrow('not read within the answer timeout');
    const patient = appWith({ answerTimeout: 600 });
    for (const [seconds, isRead] of [
      [119, true],
      [121, false],
    ] as const) {
      const { body } = await send(patient, PAGE, { key: 'first' });
      const now = performance.now();
      const later = spyOn(performance, 'now').mockReturnValue(now + 1000 * seconds);
      const read = new Response(body).text().then(
        () => true,
        () => false,
      );
      expect([seconds, await read]).toEqual([seconds, isRead]);
      later.mockRestore();
    }
  });
});

describe('work that is counted, not only requests', () => {
  const at = { now: 0 };
  const clock = {
    now: () => at.now,
    async sleep(ms: number) {
      at.now += ms;
    },
  };
  const rowsPerSecond = 10_000;
  const paced = () => appWith({ longLists: createLongLists(rowsPerSecond, clock) });

  test('rows of changes, histories and wallets count as eight of a list, after the first 250', async () => {
    for (const path of [`/registry/any/changes?limit=${COUNT}`, `/registry/any/history/${HOT}?limit=${COUNT}`]) {
      const app = paced();
      at.now = 0;
      expect(await statusOf(app, path)).toBe(200);
      const first = at.now;
      for (let turn = 0; turn < 10; turn++) expect(await statusOf(app, path)).toBe(200);
      // Each page waits until those before it are paid for, but for two seconds.
      const page = (1000 * 8 * (COUNT - 250)) / 10_000;
      expect([path, first, (at.now + 2000) / (10 * page)]).toEqual([path, 0, expect.closeTo(1, 2)]);
    }
  });

  test('pages of a large wallet have a pace, small ones and checks do not wait', async () => {
    const app = paced();
    at.now = 0;
    for (let turn = 0; turn < 20; turn++) expect(await statusOf(app, `/?wallet=${HOT}`)).toBe(200);
    expect(at.now / 20).toBeGreaterThan(1000);
    const after = at.now;
    expect(await statusOf(app, `/registry/v2/check/all?to=${HOT}&from=${COLD}`)).toBe(200);
    expect(await statusOf(app, `/?wallet=${HOT}`, { from: '198.51.100.9' })).toBe(200);
    at.now += 100_000;
    for (let turn = 0; turn < 25; turn++) expect(await statusOf(app, `/?wallet=${CONTRACT}`)).toBe(200);
    expect(at.now).toBe(after + 100_000);
  });

  test('a page of a wallet counts by what it asked for and by its size, and is refused to who is too far ahead', async () => {
    const longLists = createLongLists(rowsPerSecond, clock);
    const charged: number[] = [];
    const counting = {
      ...longLists,
      charge(caller: Parameters<typeof longLists.charge>[0], rows: number) {
        charged.push(rows);
        longLists.charge(caller, rows);
      },
    };
    at.now = 0;
    const app = appWith({ longLists: counting });
    const page = await (await send(app, `/?wallet=${CONTRACT}`)).text();
    expect(charged.length).toBeGreaterThan(1);
    expect(charged.at(-1)).toBeCloseTo(page.length / 64, -1);
    longLists.charge({ id: '198.51.100.1', hasKey: false }, 13 * rowsPerSecond);
    expect(await statusOf(app, `/?wallet=${CONTRACT}`)).toBe(429);
    expect(await statusOf(app, `/?wallet=${CONTRACT}`, { from: '198.51.100.9' })).toBe(200);
  });

  test('files are 32 at once', () => {
    const longLists = createLongLists();
    for (let turn = 0; turn < 32; turn++) longLists.beginFile({ id: String(turn), hasKey: true });
    expect(() => longLists.beginFile({ id: 'another', hasKey: true })).toThrow('as many files as it can');
  });

  test('callers that owe nothing are forgotten', () => {
    at.now = 0;
    const paidAt = new Map<string, number>();
    const longLists = createLongLists(rowsPerSecond, clock, paidAt);
    const charge = (id: number, rows: number) => longLists.charge({ id: `198.51.${id}.1`, hasKey: false }, rows);
    charge(0, 60 * rowsPerSecond);
    for (let id = 1; id < 1000; id++) charge(id, 1);
    at.now += 30_000;
    charge(1000, 1);
    expect([...paidAt.keys()]).toEqual(['198.51.0.1', '198.51.1000.1']);
  });

  test('a caller that is too far ahead of its pace is told when to come back', () => {
    at.now = 0;
    const longLists = createLongLists(rowsPerSecond, clock);
    const caller = { id: '198.51.100.1', hasKey: false };
    longLists.charge(caller, 13 * rowsPerSecond);
    const refusal = () => {
      try {
        return longLists.requirePaid(caller);
      } catch (error) {
        return error;
      }
    };
    expect(refusal()).toMatchObject({ type: 'too-many-requests', retryAfter: 3 });
    longLists.requirePaid({ id: '198.51.100.9', hasKey: false });
    at.now += 3000;
    longLists.requirePaid(caller);
    const keyed = { id: '0xabc', hasKey: true };
    longLists.charge(keyed, 1e9);
    longLists.requirePaid(keyed);
  });
});

describe('long lists beside other requests', () => {
  /** The sizes of the reads of a whole list, after the first. */
  const stepsOf = async (app: App, reads: number[]) => {
    reads.length = 0;
    expect(await lengthOf(await send(app, LIST))).toBe(COUNT);
    return new Set(reads.slice(1));
  };

  test('are read in short steps for a second after another answer', async () => {
    const reads: number[] = [];
    const spied: Store = {
      ...store,
      listNow(query) {
        reads.push(query.limit);
        return store.listNow(query);
      },
    };
    let now = 0;
    const clock = { now: () => now, sleep: async () => {} };
    const app = appWith({ store: spied, longLists: createLongLists(null, clock) });
    expect(await stepsOf(app, reads)).toEqual(new Set([1000]));
    expect(await statusOf(app, `/registry/v2/check/all?to=${HOT}&from=${COLD}`)).toBe(200);
    expect(await stepsOf(app, reads)).toEqual(new Set([125]));
    now = 1000;
    expect(await stepsOf(app, reads)).toEqual(new Set([1000]));
  });

  test('are read one step in each turn of the event loop', async () => {
    const longLists = createLongLists();
    const turns: number[] = [];
    let turn = 0;
    let isCounting = true;
    const countTurns = () => {
      turn++;
      if (isCounting) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const lists = ['a', 'b', 'c'].map((id) => longLists.begin({ id, hasKey: true }));
    await Promise.all(lists.map((list) => list.read(1, async () => void turns.push(turn))));
    isCounting = false;
    expect(new Set(turns).size).toBe(3);
    for (const list of lists) list.end();
  });
});

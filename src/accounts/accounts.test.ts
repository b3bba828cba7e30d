// Keys on both engines: what they look like, what is kept of them, and when they end.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { insertKeys } from '../../test/support/account-rows.ts';
import { ENGINES, temporaryPath } from '../../test/support/engines.ts';
import { openEngine } from '../store/open.ts';
import { type Accounts, type CreatedKey, isActive, OWNER_STATEMENTS, openAccounts } from './accounts.ts';
import { createKey, hashKey, isKey } from './key.ts';
import { createKeyCache } from './key-cache.ts';

const NOW = 1_800_000_000;

describe('a key', () => {
  test('is dk_, thirty random characters, and six that check them', () => {
    const keys = Array.from({ length: 1000 }, () => createKey());
    for (const { text, shown, hash } of keys) {
      expect(text).toMatch(/^dk_[0-9A-Za-z]{36}$/);
      expect([isKey(text), text.startsWith(shown), shown.length]).toEqual([true, true, 8]);
      expect(hash).toEqual(hashKey(text));
    }
    expect(new Set(keys.map(({ text }) => text)).size).toBe(1000);
    // Every digit is about as frequent: 30,000 of 62 are some 484 each.
    const digits = keys.map(({ text }) => text.slice(3, 33)).join('');
    for (const digit of new Set(digits)) expect(digits.split(digit).length - 1).toBeGreaterThan(350);
    expect(new Set(digits).size).toBe(62);
  });

  test('that is mistyped is found out by itself', () => {
    const { text } = createKey();
    const mistyped = Array.from({ length: 33 }, (_, turn) => {
      const at = 3 + turn;
      return text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1);
    });
    for (const bad of [...mistyped, '', 'dk_', `${text}x`, `x${text}`, text.toUpperCase(), `${text}, ${text}`])
      expect([bad, isKey(bad)]).toEqual([bad, false]);
  });
});

test('counting the uses of 20,000 keys lets other work run in between', async () => {
  const accounts = await openAccounts(`sqlite:${temporaryPath('uses.db')}`);
  const { record } = (await accounts.create({ label: 'a site', now: NOW })) as CreatedKey;
  let id = 0;
  const many = Object.create(accounts, { find: { value: async () => ({ ...record, id: ++id }) } }) as Accounts;
  const cache = createKeyCache(many, { now: () => NOW });
  for (let turn = 0; turn < 20_000; turn++) await cache.lookUp(String(turn));
  let turns = 0;
  const timer = setInterval(() => void turns++, 0);
  await cache.stop();
  clearInterval(timer);
  await accounts.close();
  expect(turns).toBeGreaterThan(10);
});

test('at most 10,000 keys are remembered, and one that was deleted is not', async () => {
  const stored = new Set<string>();
  const accounts = {
    find: async (text: string) => (stored.has(text) ? { id: 1, revokedAt: null, expiresAt: null } : null),
    addUses: async () => {},
  } as unknown as Accounts;
  const cache = createKeyCache(accounts, { now: () => NOW });
  const keys = Array.from({ length: 10_001 }, (_, turn) => String(turn)) as [string, ...string[]];
  for (const text of keys) {
    stored.add(text);
    await cache.lookUp(text);
  }
  expect(keys.filter(cache.isFamiliar)).toEqual(['10000']);
  stored.clear();
  expect(await cache.lookUp('10000')).toBe(false);
  expect([cache.isFamiliar('10000'), cache.found('10000')]).toEqual([false, null]);
  await cache.stop();
});

for (const { name, fresh } of ENGINES)
  test(`keys are not made in a database without a service, on ${name}`, async () => {
    const url = await fresh();
    const engine = await openEngine(url, {});
    await engine.transaction(async (tx) => tx.run('CREATE TABLE other (id INTEGER)', []));
    await expect(openAccounts(url, { mustExist: true })).rejects.toThrow('has no tables yet');
    await engine.close();
  });

for (const engine of ENGINES) {
  describe(`accounts on ${engine.name}`, () => {
    let url: string;
    let accounts: Accounts;
    beforeAll(async () => {
      url = await engine.fresh();
      accounts = await openAccounts(url);
    });
    afterAll(() => accounts.close());
    const create = async (more = {}) => (await accounts.create({ label: 'a site', now: NOW, ...more })) as CreatedKey;

    test('a key is found by its text, with all that is known of it', async () => {
      const { text, record } = await create({ expiresAt: NOW + 100 });
      expect(await accounts.find(text)).toEqual(record);
      expect(record).toMatchObject({
        label: 'a site',
        owner: null,
        createdAt: NOW,
        expiresAt: NOW + 100,
        revokedAt: null,
      });
      expect(await accounts.find(createKey().text)).toBeNull();
      expect([isActive(record, NOW + 99), isActive(record, NOW + 100)]).toEqual([true, false]);
    });

    test('a revoked key is no good any more, and is not revoked twice', async () => {
      const { text, record } = await create();
      expect([await accounts.revoke(record.id, NOW + 5), await accounts.revoke(record.id, NOW + 6)]).toEqual([
        true,
        false,
      ]);
      const found = await accounts.find(text);
      expect(found?.revokedAt).toBe(NOW + 5);
      expect(isActive(found as NonNullable<typeof found>, NOW + 5)).toBe(false);
      expect(await accounts.revoke(999_999, NOW)).toBe(false);
      expect(await accounts.rotate({ id: record.id, now: NOW + 7, overlapSeconds: 100 })).toBe('inactive');
    });

    test('a rotated key goes on for a while beside the new one', async () => {
      const { text, record } = await create({ owner: '0xabc', label: 'game', expiresAt: NOW + 9999 });
      const next = (await accounts.rotate({ id: record.id, now: NOW + 10, overlapSeconds: 3600 })) as CreatedKey;
      expect(next.text).not.toBe(text);
      expect(next.record).toMatchObject({
        owner: '0xabc',
        label: 'game',
        createdAt: NOW + 10,
        expiresAt: NOW + 9999,
      });
      const old = (await accounts.find(text)) as typeof record;
      expect([isActive(old, NOW + 10 + 3599), isActive(old, NOW + 10 + 3600)]).toEqual([true, false]);
      // It may still end at once.
      expect(await accounts.revoke(record.id, NOW + 20)).toBe(true);
      expect(isActive((await accounts.find(text)) as typeof record, NOW + 20)).toBe(false);
    });

    test('an owner has at most as many good keys as the quota allows, also where they are asked for at once', async () => {
      const owner = '0xquota';
      const made = await Promise.all(
        Array.from({ length: 8 }, () => accounts.create({ label: 'x', owner, now: NOW, quota: 5 })),
      );
      expect(made.filter((one) => one !== null)).toHaveLength(5);
      const [first] = await accounts.list({ owner });
      await accounts.revoke(first?.id as number, NOW);
      expect(await accounts.create({ label: 'y', owner, now: NOW, quota: 5 })).not.toBeNull();
      expect(await accounts.create({ label: 'z', owner, now: NOW, quota: 5 })).toBeNull();
    });

    test('rotated keys that still work count toward the quota', async () => {
      const owner = '0xrotating';
      const quota = 5;
      const { record } = await create({ owner });
      let newest = record;
      for (let turn = 0; turn < 20; turn++) {
        const rotated = await accounts.rotate({ id: newest.id, now: NOW, overlapSeconds: 3600, quota });
        if (typeof rotated === 'string') expect(rotated).toBe('over-quota');
        else newest = rotated.record;
      }
      const working = async (now = NOW) => (await accounts.list({ owner })).filter((one) => isActive(one, now)).length;
      expect(await working()).toBe(quota);
      expect(await accounts.create({ label: 'x', owner, now: NOW, quota })).toBeNull();
      // Without an overlap, a rotation adds no working key. It is also possible once the overlaps have ended.
      const replaced = (await accounts.rotate({ id: newest.id, now: NOW, overlapSeconds: 0, quota })) as CreatedKey;
      expect(await working()).toBe(quota);
      const later = NOW + 3600;
      expect(await working(later)).toBe(1);
      const next = await accounts.rotate({ id: replaced.record.id, now: later, overlapSeconds: 3600, quota });
      expect(typeof next).toBe('object');
    });

    test('an owner cannot pass the quota with rotations at once', async () => {
      const owner = '0xatonce';
      const made = await Promise.all(Array.from({ length: 4 }, () => create({ owner })));
      await Promise.all(
        made.map(({ record: { id } }) => accounts.rotate({ id, now: NOW, overlapSeconds: 3600, quota: 5 })),
      );
      expect((await accounts.list({ owner })).filter((one) => isActive(one, NOW))).toHaveLength(5);
    });

    test('what is counted while the database is away is not lost', async () => {
      const { text, record } = await create({ owner: '0xaway' });
      let isAway = true;
      const away = Object.create(accounts, {
        addUses: {
          value: (...args: Parameters<Accounts['addUses']>) =>
            isAway ? Promise.reject(new Error('away')) : accounts.addUses(...args),
        },
      }) as Accounts;
      const errors: unknown[] = [];
      const first = createKeyCache(away, { now: () => NOW, onError: (error) => void errors.push(error) });
      await first.lookUp(text);
      await first.flush();
      isAway = false;
      await first.stop();
      expect(errors).toHaveLength(1);
      expect(await accounts.uses([record], 0)).toMatchObject([{ id: record.id, uses: 1 }]);
    });

    test('a rotated key is not rotated again, and what has ended is not kept for ever', async () => {
      const owner = '0xrotates';
      const { record } = await create({ owner });
      const rotated = await Promise.all(
        Array.from({ length: 5 }, () => accounts.rotate({ id: record.id, now: NOW, overlapSeconds: 3600 })),
      );
      expect(rotated.filter((one) => one !== 'inactive')).toHaveLength(1);
      for (let turn = 0; turn < 60; turn++) {
        const made = await create({ owner });
        await accounts.addUses([{ id: made.record.id, day: 1, uses: 1 }], NOW);
        await accounts.revoke(made.record.id, NOW);
      }
      const all = await accounts.list({ owner });
      // 50 that had ended before the newest key was created, the newest, and two that are active.
      expect(all.length).toBe(53);
      expect(all.filter((one) => isActive(one, NOW))).toHaveLength(2);
      const tables = await openEngine(url, { readOnly: true });
      const [row] = await tables.rows('SELECT count(*) FROM key_use WHERE key_id NOT IN (SELECT id FROM api_key)', []);
      await tables.close();
      expect(Number(row?.[0])).toBe(0);
    });

    test('a new key of a wallet with 50,000 ended keys deletes a few, and reads no others', async () => {
      const owner = '0xended';
      await insertKeys(url, owner, 50_000, { createdAt: NOW, revokedAt: NOW });
      const tables = await openEngine(url, {});
      const count = async () => {
        const [row] = await tables.rows('SELECT count(*) FROM api_key WHERE owner = $1', [owner]);
        return Number(row?.[0]);
      };
      try {
        expect(await accounts.create({ label: 'x', owner, now: NOW, quota: 5 })).not.toBeNull();
        expect(await count()).toBe(50_001 - 20);
        const params = {
          list: [owner, 9, 9],
          uses: [owner, 1, 2, 3],
          countActive: [owner, NOW, 5],
          findOldest: [owner, NOW],
        };
        for (const [name, sql] of Object.entries(OWNER_STATEMENTS)) {
          const explain = engine.name === 'SQLite' ? `EXPLAIN QUERY PLAN ${sql}` : `EXPLAIN ${sql}`;
          const rows = await tables.rows(explain, params[name as keyof typeof params]);
          const plan = rows.map((row) => row.join(' ')).join('\n');
          expect([name, plan]).toEqual([name, expect.stringMatching(/(SEARCH|Index).* api_key/)]);
          // The uses of one page are few enough to sort.
          const bad = name === 'uses' ? /SCAN [ku]\b|Seq Scan/ : /SCAN api_key|Seq Scan|TEMP B-TREE|Sort/;
          expect([name, plan]).not.toEqual([name, expect.stringMatching(bad)]);
        }
      } finally {
        await tables.close();
      }
    });

    test('a limit that is set on a key goes on to the key that replaces it, with the same window', async () => {
      const { record } = await create({ owner: '0xlimited' });
      expect([record.rateLimit, record.windowId]).toEqual([null, null]);
      expect([await accounts.setLimit(record.id, '100/10s'), await accounts.setLimit(999_999, 'off')]).toEqual([
        true,
        false,
      ]);
      const rotate = async ({ id }: { id: number }) =>
        (await accounts.rotate({ id, now: NOW, overlapSeconds: 9 })) as CreatedKey;
      const next = await rotate(record);
      const last = await rotate(next.record);
      expect([next.record, last.record]).toMatchObject(
        [1, 2].map(() => ({ rateLimit: '100/10s', windowId: record.id })),
      );
    });

    test('uses are added up by day', async () => {
      const { record } = await create({ owner: '0xuses' });
      const day = Math.floor(NOW / 86_400);
      await accounts.addUses([{ id: record.id, day, uses: 3 }], NOW);
      await accounts.addUses(
        [
          { id: record.id, day, uses: 4 },
          { id: record.id, day: day + 1, uses: 1 },
        ],
        NOW + 9,
      );
      expect(await accounts.uses([record], day)).toEqual([
        { id: record.id, day, uses: 7 },
        { id: record.id, day: day + 1, uses: 1 },
      ]);
      // Another process may store its counts later.
      await accounts.addUses([{ id: record.id, day, uses: 1 }], NOW + 5);
      expect((await accounts.byId(record.id))?.lastUsedAt).toBe(NOW + 9);
    });

    test('a thousand requests at once with one key are one lookup', async () => {
      const { text } = await create();
      let lookups = 0;
      const counting = Object.create(accounts, {
        find: {
          value: (key: string) => {
            lookups++;
            return accounts.find(key);
          },
        },
      }) as Accounts;
      const ring = createKeyCache(counting, { now: () => NOW });
      const answers = await Promise.all(Array.from({ length: 1000 }, () => ring.lookUp(text)));
      expect([new Set(answers).size, lookups, ring.isFamiliar(text)]).toEqual([1, 1, true]);
      expect(ring.isFamiliar(createKey().text)).toBe(false);
      await ring.stop();
    });

    test('a ring knows a key for a second, and counts what it lets through', async () => {
      const { text, record } = await create({ owner: '0xring' });
      let [now, ticks] = [NOW, 0];
      const ring = createKeyCache(accounts, { now: () => now, ticks: () => ticks });
      expect([ring.known(text), await ring.lookUp(text), ring.known(text)]).toEqual([null, record, record]);
      const made = createKey().text;
      expect([ring.known(made), await ring.lookUp(made), ring.known(made)]).toEqual([null, false, false]);
      expect(ring.known('dk_nonsense')).toBe(false);
      await accounts.revoke(record.id, NOW + 1);
      [now, ticks] = [NOW + 1, 999];
      expect(ring.known(text)).toEqual(record);
      ticks = 1000;
      expect([ring.known(text), await ring.lookUp(text)]).toEqual([null, false]);
      await ring.stop();
      expect(await accounts.uses([record], 0)).toEqual([{ id: record.id, day: Math.floor(NOW / 86_400), uses: 3 }]);
    });
  });
}

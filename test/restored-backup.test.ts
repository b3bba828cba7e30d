// Restores a store that lost its newest commits, as after a backup or a failover. Revisions and commits are then numbered again
// from an earlier value, and lost history must never be mistaken for new history with the same number.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, ChainState, Store } from '../src/store/store.ts';
import { asksAll } from './support/chain.ts';
import { ENGINES } from './support/engines.ts';
import { address, block, COLD, ended, granted, timeOf } from './support/fixtures.ts';
import { runSql } from './support/run-sql.ts';
import { appOf } from './support/serving.ts';

for (const engine of ENGINES) {
  describe(`lost commits on ${engine.name}`, () => {
    let url: string;
    let store: Store;
    let state: ChainState;
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
      await claim();
      await add(
        block(
          100,
          [1, 2, 3].map((to) => granted('ALL', { to: address(to) })),
        ),
      );
      await eachTable((table) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
    });
    afterAll(() => store.close());

    async function eachTable(statement: (table: string) => string): Promise<void> {
      const catalog = url.startsWith('sqlite:')
        ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
      const tables = (await runSql(url, catalog)).map(({ name }) => String(name));
      for (const table of tables) if (!table.startsWith('kept_')) await runSql(url, statement(table));
    }
    const restore = async () => {
      await eachTable((table) => `DELETE FROM ${table}`);
      await eachTable((table) => `INSERT INTO ${table} SELECT * FROM kept_${table}`);
      state = (await store.chain(1)) as ChainState;
    };
    const claim = async () => {
      state = await store.claim(1, 100);
    };
    const add = async (...blocks: BlockInput[]) => {
      const { number, hash, timestamp } = blocks.at(-1) as BlockInput;
      const head = { number, hash, timestamp };
      state = await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks, head });
    };
    const ask = (path: string, headers = {}) =>
      appOf(store, timeOf(103)).fetch(new Request(`http://localhost/registry/v2/${path}`, { headers }));
    const statusOf = async (path: string, tag: string | null = null) =>
      (await ask(path, tag === null ? {} : { 'if-none-match': tag })).status;
    const tagOf = async (path: string) => (await ask(path)).headers.get('etag');
    const pageAfter = async (path: string) => {
      const query = /<(.+)>; rel="next"/.exec((await ask(path)).headers.get('link') ?? '')?.[1];
      return path.replace(/\?.*/, '') + query;
    };
    const PAGE = `${COLD}?limit=1`;

    for (const [what, next] of [
      ['a restore', claim],
      ['a failover in which the writer keeps its epoch', async () => {}],
    ] as const) {
      test(`after ${what}, tags and cursors of lost commits are rejected, and earlier ones are still valid`, async () => {
        await restore();
        const kept = { tag: await tagOf(COLD), page: await pageAfter(PAGE) };
        await add(block(101, [granted('ALL', { to: address(4) })]));
        await add(block(102, [granted('ALL', { to: address(5) })]));
        const lost = { tag: await tagOf(COLD), page: await pageAfter(PAGE) };
        const { revision } = state;
        await restore();
        await next();
        expect([await statusOf(COLD, kept.tag), await statusOf(kept.page)]).toEqual([304, 200]);
        expect([await statusOf(COLD, lost.tag), await statusOf(lost.page)]).toEqual([200, 409]);
        await add(block(101, [granted('ALL', { to: address(4) })]), block(102, [granted('ALL', { to: address(5) })]));
        await add(block(103, [ended('ALL', { to: address(2) })]));
        expect(state.revision).toBe(revision);
        expect([await statusOf(COLD, lost.tag), await statusOf(lost.page)]).toEqual([200, 409]);
        expect([await statusOf(COLD, kept.tag), await statusOf(kept.page)]).toEqual([200, 200]);
      });
    }

    test('a list that is being sent does not go on with other history of the same number', async () => {
      const many = (from: number) => Array.from({ length: 300 }, (_, to) => granted('ALL', { to: address(from + to) }));
      await restore();
      await add(block(101, many(1000)));
      const { revision } = state;
      let reads = 0;
      const listNow: Store['listNow'] = async (query) => {
        if (reads++ === 1) {
          await restore();
          await add(block(101, many(2000)));
        }
        return store.listNow(query);
      };
      const app = appOf({ ...store, listNow }, timeOf(103));
      const response = await app.fetch(new Request(`http://localhost/registry/v2/${COLD}`));
      await expect(response.text()).rejects.toThrow('history');
      expect([reads, state.revision]).toEqual([2, revision]);
    });

    interface Page {
      readonly changes: readonly { readonly type: string; readonly block: { readonly number: number } }[];
      readonly cursor: string;
    }
    const read = async (cursor?: string) => {
      const path = `http://localhost/registry/any/changes${cursor === undefined ? '' : `?cursor=${cursor}`}`;
      const { changes, cursor: next } = (await (
        await appOf(store, timeOf(104)).fetch(new Request(path))
      ).json()) as Page;
      return { lines: changes.map(({ type, block: { number } }) => `${type} ${number}`), next };
    };

    test('without final blocks, a reader of changes that had seen lost commits gets an undo of everything, and earlier readers go on', async () => {
      await restore();
      const kept = await read();
      await add(block(101, [granted('ALL', { to: address(4) })]));
      const lost = await read(kept.next);
      expect(lost.lines).toEqual(['began 101']);
      await restore();
      await claim();
      expect((await read(lost.next)).lines).toEqual(['undo 0', ...kept.lines]);
      await add(block(101, [granted('ALL', { to: address(5) })]));
      expect((await read(lost.next)).lines).toEqual(['undo 0', ...kept.lines, 'began 101']);
      expect((await read(kept.next)).lines).toEqual(['began 101']);
    });

    test('and so does a stream that resumes beside one that is at the same place of the new history', async () => {
      await restore();
      await add(block(101, [granted('ALL', { to: address(4) })]));
      const [lost, { revision }] = [await read(), state];
      await restore();
      await claim();
      await add(block(101, [granted('ALL', { to: address(5) })]));
      expect(state.revision).toBe(revision);
      const app = appOf(store, timeOf(104));
      const caughtUp = async (headers: Record<string, string> = {}) => {
        const request = new Request('http://localhost/registry/any/changes', {
          headers: { accept: 'text/event-stream', ...headers },
        });
        const reader = (await app.fetch(request)).body?.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        // The last event before it waits has only an id.
        while (!/\n\nid: \S+\n\n$/.test(text)) text += (await reader?.read())?.value;
        return { text, close: () => reader?.cancel() };
      };
      const beside = await caughtUp();
      const resumed = await caughtUp({ 'last-event-id': lost.next });
      expect(resumed.text).toContain('"undo"');
      for (const one of [beside, resumed]) await one.close();
    });

    test('a reader of changes that had seen lost commits gets an undo of what was not final', async () => {
      await restore();
      const repair = async (number: number, to: number) => {
        const blocks = [block(number, [granted('ALL', { to: address(to) })])];
        state = await store.repair({ chainId: 1, epoch: state.epoch, blocks });
      };
      const finalize = async (verified: number) => {
        const { epoch, head } = state as ChainState & { head: BlockInput };
        state = await store.apply({ chainId: 1, epoch, after: head, blocks: [], head, verified });
      };
      await add(block(101, [granted('ALL', { to: address(4) })]));
      await add(block(102, [granted('ALL', { to: address(5) })]));
      await finalize(101);
      const saved = 'kept_again_';
      await eachTable((table) => `CREATE TABLE ${saved}${table} AS SELECT * FROM ${table}`);
      const back = async () => {
        await eachTable((table) => `DELETE FROM ${table}`);
        await eachTable((table) => `INSERT INTO ${table} SELECT * FROM ${saved}${table}`);
        state = (await store.chain(1)) as ChainState;
      };
      const kept = await read();
      const inside = await read();
      await add(block(103, [granted('ALL', { to: address(6) })]));
      const lost = await read(kept.next);
      expect(lost.lines).toEqual(['began 103']);
      await back();
      // The block that was not final is void too: it may have been another one.
      expect((await read(lost.next)).lines).toEqual(['undo 101', 'began 102']);
      await add(block(103, [granted('ALL', { to: address(7) })], 1));
      expect((await read(lost.next)).lines).toEqual(['undo 101', 'began 102', 'began 103']);
      expect((await read(inside.next)).lines).toEqual(['began 103']);
      // A final block that is repaired after the restore is void for it as well.
      await repair(101, 8);
      expect((await read(lost.next)).lines).toEqual(['undo 100', 'began 101', 'began 102', 'began 103']);
      // And so is one that was repaired before the loss, since the common revision.
      await back();
      await add(block(103));
      await repair(101, 9);
      const repaired = await read(kept.next);
      expect(repaired.lines).toEqual(['undo 100', 'began 101', 'began 102']);
      await back();
      expect((await read(repaired.next)).lines).toEqual(['undo 100', 'began 101', 'began 102']);
    });

    test('a new writer alone changes no tag and invalidates no cursor', async () => {
      const before = { tag: await tagOf(COLD), page: await pageAfter(PAGE) };
      await claim();
      expect([await statusOf(COLD, before.tag), await statusOf(before.page)]).toEqual([304, 200]);
    });

    test('a commit with the number of a lost one is not mistaken for it', async () => {
      await restore();
      await add(block(101));
      expect((await store.check(1, asksAll)).block.number).toBe(101);
      const { commits } = state;
      await restore();
      await add(block(102));
      expect(state.commits).toBe(commits);
      expect((await store.check(1, asksAll)).block.number).toBe(102);
    });
  });
}

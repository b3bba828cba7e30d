// Reorgs a chain during a request: no response may mix the old branch with the new one.

import { describe, expect, test } from 'bun:test';
import { onBodySent } from '../src/api/sized-response.ts';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, ended, granted, HOT, timeOf } from './support/fixtures.ts';
import { appOf, serving } from './support/serving.ts';

/** A store whose block 102 has a grant, and a function that replaces it with a block without the grant. */
async function reorganising(tokens = 0) {
  const store = await openStore(`sqlite:${temporaryPath('reorg.db')}`);
  const { epoch } = await store.claim(1, 100);
  const from = address(5);
  const spam = Array.from({ length: tokens }, (_, id) => BigInt(id)).flatMap((tokenId) => [
    granted('ERC721', { from, tokenId }),
    granted('TOKEN', { version: 1, from, tokenId }),
  ]);
  const blocks = [block(100), block(102, [granted('ALL'), ...spam]), block(104)];
  const state = await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(104) });
  let branch = 0;
  let head = state.head;
  const reorg = async () => {
    branch++;
    const replaced = [block(102, [], branch), block(104, [], branch)];
    const done = await store.apply({
      chainId: 1,
      epoch,
      after: head,
      rollbackTo: 100,
      blocks: replaced,
      head: block(104, [], branch),
    });
    head = done.head;
  };
  const add = async (next: BlockInput) => {
    head = (await store.apply({ chainId: 1, epoch, after: head, blocks: [next], head: next })).head;
  };
  return { store, reorg, add };
}

const send = (store: Store, path: string) =>
  appOf(store, timeOf(104)).fetch(new Request(`http://localhost/registry/v2/${path}`));
const CHECK = `check/all?to=${HOT}&from=${COLD}`;

describe('a reorg between the lookup of a time and the read of its block', () => {
  test('is answered from the new branch only', async () => {
    const { store, reorg } = await reorganising();
    const before = await send(store, `${CHECK}&timestamp=${timeOf(103)}`);
    expect([await before.text(), before.headers.get('x-block-hash')]).toEqual(['true', block(102).hash]);
    let turned = false;
    const racing: Store = {
      ...store,
      async blockAt(chainId, timestamp) {
        const found = await store.blockAt(chainId, timestamp);
        if (!turned) await reorg();
        turned = true;
        return found;
      },
    };
    const after = await send(racing, `${CHECK}&timestamp=${timeOf(103)}`);
    expect([await after.text(), after.headers.get('x-block-hash')]).toEqual(['false', block(102, [], 1).hash]);
    await store.close();
  });

  test('is answered from the new branch only, also if the read comes from a replica that has the old one', async () => {
    const { store, reorg } = await reorganising();
    await reorg();
    const { store: replica } = await reorganising();
    let reads = 0;
    const racing: Store = { ...store, check: (...args) => (reads++ === 0 ? replica : store).check(...args) };
    const response = await send(racing, `${CHECK}&timestamp=${timeOf(103)}`);
    expect([await response.text(), response.headers.get('x-block-hash')]).toEqual(['false', block(102, [], 1).hash]);
    expect(reads).toBe(2);
    await replica.close();
    await store.close();
  });

  test('that puts a later block before the time is answered at that block', async () => {
    const { store } = await reorganising();
    const state = await store.chain(1);
    let turned = false;
    const racing: Store = {
      ...store,
      async blockAt(chainId, timestamp) {
        const found = await store.blockAt(chainId, timestamp);
        if (!turned && state?.head) {
          const blocks = [block(103, [granted('ALL', { to: address(8) })], 1), block(105, [], 1)];
          const head = block(105, [], 1);
          await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, rollbackTo: 102, blocks, head });
        }
        turned = true;
        return found;
      },
    };
    const response = await send(racing, `check/all?to=${address(8)}&from=${COLD}&timestamp=${timeOf(103)}`);
    expect([await response.text(), response.headers.get('x-block-number')]).toEqual(['true', '103']);
    await store.close();
  });

  test('that repeats without end is a 503', async () => {
    const { store, reorg } = await reorganising();
    const racing: Store = {
      ...store,
      async blockAt(chainId, timestamp) {
        const found = await store.blockAt(chainId, timestamp);
        await reorg();
        return found;
      },
    };
    for (const path of [`${CHECK}&timestamp=${timeOf(103)}`, `${HOT}?timestamp=${timeOf(103)}`]) {
      const response = await send(racing, path);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await response.json()).toMatchObject({ type: '/docs#problem-not-yet-indexed' });
    }
    await store.close();
  });
});

type Turn = PromiseWithResolvers<void>;

describe('a caller', () => {
  test('who disconnects stops the reads for the response, and is not an error', async () => {
    const { store } = await reorganising(4000);
    const failures: unknown[] = [];
    for (const path of ['?type=ALL&direction=outgoing', '?type=CONTRACT', '?type=CONTRACT&limit=10']) {
      const [began, noticed, ended] = [0, 0, 0].map(() => Promise.withResolvers<void>()) as [Turn, Turn, Turn];
      let reads = 0;
      const slow: Store = {
        ...store,
        async list(query) {
          reads++;
          began.resolve();
          await noticed.promise;
          return store.list(query);
        },
      };
      const app = appOf(slow, timeOf(104), {
        onError: (error) => failures.push(error),
        onAnswer: (_, { method }, response) => onBodySent(method, response, () => ended.resolve()),
      });
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch(request) {
          request.signal.addEventListener('abort', () => noticed.resolve());
          return app.fetch(request);
        },
      });
      const leaving = new AbortController();
      const asked = fetch(`${server.url}registry/v2/${HOT}${path}`, { signal: leaving.signal }).catch(() => null);
      await began.promise;
      leaving.abort();
      expect(await asked).toBeNull();
      await ended.promise;
      expect([path, reads]).toEqual([path, 1]);
      await server.stop(true);
    }
    expect(failures).toEqual([]);
    await store.close();
  });

  test('who waits for a list that a filter leaves empty is not disconnected as idle', async () => {
    const { store } = await reorganising(4000);
    const server = serving(store, timeOf(104), {
      idleTimeout: 8,
      store: {
        ...store,
        async list(query) {
          await Bun.sleep(800);
          return store.list(query);
        },
      },
    });
    const response = await fetch(`${server.url}/registry/v2/${HOT}?type=CONTRACT`);
    expect(await response.json()).toEqual([]);
    await server.stop();
    await store.close();
  });
});

describe('a reorg while a list is read', () => {
  test('before the first delegations are sent restarts the list', async () => {
    const { store, reorg } = await reorganising();
    let turned = false;
    const racing: Store = {
      ...store,
      async listPacked(query) {
        if (!turned) await reorg();
        turned = true;
        return store.listPacked(query);
      },
    };
    const response = await send(racing, `${HOT}?limit=10`);
    expect([response.status, await response.text()]).toEqual([200, '[]']);
    expect(response.headers.get('x-block-hash')).toBe(block(104, [], 1).hash);
    await store.close();
  });

  test('that repeats is a 503, not an error about a cursor that the caller did not send', async () => {
    const { store, reorg } = await reorganising();
    const racing: Store = {
      ...store,
      async listPacked(query) {
        await reorg();
        return store.listPacked(query);
      },
    };
    const response = await send(racing, `${HOT}?limit=10`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    await store.close();
  });

  test('turns a cursor into a 409', async () => {
    const { store, reorg } = await reorganising(5);
    const first = await send(store, `${HOT}?limit=2`);
    const [, next] = /<(.+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    expect((await send(store, HOT + next)).status).toBe(200);
    await reorg();
    const gone = await send(store, HOT + next);
    expect(gone.status).toBe(409);
    expect(await gone.json()).toMatchObject({ type: '/docs#problem-cursor-gone' });
    await store.close();
  });

  test('is not a change in a later block: the rest is listed as of the block of the first delegations', async () => {
    const token = { from: address(5), tokenId: 1999n };
    const changes = {
      v2: [ended('ERC721', token), granted('ERC721', { ...token, tokenId: 2000n })],
      // Whose delegate is not known yet, so that the list as of the head is refused.
      v1: [{ type: 'unknownRevoked', from: address(5) }],
    } as const;
    for (const [version, logs] of Object.entries(changes)) {
      const { store, add } = await reorganising(2000);
      let reads = 0;
      const server = serving(store, timeOf(104), {
        store: {
          ...store,
          async listNow(query) {
            if (query.after !== undefined && reads++ === 0) await add(block(105, logs));
            return store.listNow(query);
          },
        },
      });
      const response = await fetch(`${server.url}/registry/${version}/${HOT}`);
      const list = (await response.json()) as { tokenId: number | null }[];
      expect(reads).toBe(1);
      expect(response.headers.get('x-block-number')).toBe('104');
      const tokens = Array.from({ length: 2000 }, (_, id) => id);
      expect(list.map(({ tokenId }) => tokenId)).toEqual(version === 'v2' ? [null, ...tokens] : tokens);
      await server.stop();
      await store.close();
    }
  });

  test('aborts the stream, so that a partial list never looks complete', async () => {
    const { store, reorg } = await reorganising(2000);
    const server = serving(store, timeOf(104), {
      store: {
        ...store,
        async listNow(query) {
          if (query.after !== undefined && query.after.first.logIndex > 800) await reorg();
          return store.listNow(query);
        },
      },
    });
    const response = await fetch(`${server.url}/registry/v2/${HOT}`);
    expect(response.status).toBe(200);
    const read = response.text().then(
      (text) => JSON.parse(text) as unknown,
      () => 'broken off',
    );
    expect(await read.catch(() => 'no JSON')).toBeOneOf(['broken off', 'no JSON']);
    // The server still answers.
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await server.stop();
    await store.close();
  });

  test('that takes longer than the timeout aborts the stream too', async () => {
    const { store } = await reorganising(2000);
    const server = serving(store, timeOf(104), { answerTimeout: -1 });
    const read = fetch(`${server.url}/registry/v2/${HOT}`).then((response) => response.json());
    expect(await read.catch(() => 'broken off')).toBe('broken off');
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await server.stop();
    await store.close();
  });
});

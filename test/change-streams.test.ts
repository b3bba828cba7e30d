// Tests the stream of changes over HTTP: what it sends, how a reader resumes, and what a reader or a chain cannot do to others.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { createChangeStreams } from '../src/http/answers/change-streams.ts';
import type { ServerOptions } from '../src/http/server/server.ts';
import { MAX_WAITING } from '../src/http/wire/event-stream.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { newChain } from './support/chain.ts';
import { ENGINES, temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { applyEntries, type FeedEntryJson } from './support/feed-reader.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT, timeOf } from './support/fixtures.ts';
import { createRandom } from './support/random.ts';
import { serviceOf, serving } from './support/serving.ts';

interface ReceivedEvent {
  readonly type: string;
  readonly data: unknown;
  /** The last id that was received, with this event or before it. */
  readonly id: string;
}

type EventReader = Awaited<ReturnType<typeof openEvents>>;

/** Reads a stream of server-sent events as a browser's EventSource does, without connecting again by itself. */
async function openEvents(url: string, headers: Record<string, string> = {}) {
  const aborted = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: aborted.signal });
  const events: ReceivedEvent[] = [];
  let lastId = headers['last-event-id'] ?? '';
  let hasEnded = false;
  let wake = Promise.withResolvers<void>();
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const dispatch = (text: string) => {
    const fields = new Map(text.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    lastId = fields.get('id') ?? lastId;
    const data = fields.get('data');
    if (data !== undefined) events.push({ type: fields.get('event') ?? 'message', data: JSON.parse(data), id: lastId });
    notify();
  };
  const read = async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) dispatch(part);
    }
  };
  const ended = read()
    .catch(() => {})
    .then(() => {
      hasEnded = true;
      notify();
    });
  return {
    status: response.status,
    headers: response.headers,
    events: events as readonly ReceivedEvent[],
    /** What the next connection sends as Last-Event-ID. */
    get lastId() {
      return lastId;
    },
    /** Resolves when so many events were received, or the stream has ended. */
    async received(count: number): Promise<readonly ReceivedEvent[]> {
      while (events.length < count && !hasEnded) await wake.promise;
      return events;
    },
    /** Resolves when the server ends the stream, or it was closed. */
    ended,
    close: () => aborted.abort(),
  };
}

const TIMES = { pollMs: 20, heartbeatMs: 300, slowMs: 1000, maxAgeMs: 3_600_000 };
const NOW = timeOf(120);
/** For longer runs: STREAM_RUNS=50. */
const SEEDS = Array.from({ length: Number(process.env['STREAM_RUNS'] ?? 2) }, (_, index) => index + 1);
const IDS = [...NETWORKS.keys()];
let chains = 0;
const newServed = (store: Store) => newChain(store, IDS[chains++ % IDS.length]);
/** Waits until the reader has got an id other than this one. */
const idAfter = (reader: EventReader, before: string) =>
  eventually('another id', async () => reader.lastId !== before && reader.lastId);
/** Waits until the reader has caught up: the id names a place on the chain. */
const caughtUp = (reader: EventReader) =>
  eventually('caught up', async () => atob(reader.lastId).includes('-') && reader.lastId);
const typesOf = (events: readonly ReceivedEvent[]) =>
  events.map(({ type, data }) => (type === 'message' ? (data as { type: string }).type : type));

/** Applies what it is sent, over as many connections as it takes. */
function createResumingReader(query: string) {
  let connection: EventReader | null = null;
  let before: readonly FeedEntryJson[] = [];
  const received = () => {
    const events = connection?.events.filter(({ type }) => type === 'message') ?? [];
    return [...before, ...events.map(({ data }) => data as FeedEntryJson)];
  };
  return {
    async connect(url: string): Promise<void> {
      connection?.close();
      await connection?.ended;
      before = received();
      const lastId: string = connection?.lastId ?? '';
      connection = await openEvents(`${url}/registry/any/changes?${query}`, { 'last-event-id': lastId });
    },
    held: () => applyEntries(received()),
    async fromNothing(url: string) {
      const response = await fetch(`${url}/registry/any/changes?${query}&limit=1000`);
      return applyEntries(((await response.json()) as { changes: FeedEntryJson[] }).changes);
    },
    get undone() {
      return received().filter(({ type }) => type === 'undo').length;
    },
    close: () => connection?.close(),
  };
}

for (const engine of ENGINES) {
  describe(`streams of changes on ${engine.name}`, () => {
    let store: Store;
    const opened: (() => unknown)[] = [];
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterEach(async () => {
      for (const close of opened.splice(0).reverse()) await close();
    });
    afterAll(() => store.close());

    const serve = (chainIds: readonly number[], more: Partial<ServerOptions> = {}) => {
      const server = serving(store, NOW, {
        chainIds: new Set(chainIds),
        streams: createChangeStreams({ perAddress: 20, perKey: 30 }, TIMES),
        ...more,
      });
      opened.push(server.stop);
      return server;
    };
    const open = async (url: string, query: string, headers: Record<string, string> = {}): Promise<EventReader> => {
      const reader = await openEvents(`${url}/registry/any/changes?${query}`, headers);
      opened.push(reader.close);
      return reader;
    };
    /** A chain with a grant in block 105 that ended in block 110. */
    const chainWithPast = async () => {
      const chain = await newServed(store);
      await chain.add([block(105, [granted('ALL')]), block(110, [ended('ALL')]), block(118)]);
      return chain;
    };

    test('sends the past, then each block as it comes, then what a reorg took back', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const reader = await open(url, `chainId=${chain.chainId}`);
      expect(reader.headers.get('content-type')).toBe('text/event-stream');
      expect(reader.headers.get('access-control-allow-origin')).toBe('*');
      expect(typesOf(await reader.received(2))).toEqual(['began', 'ended']);
      await chain.add([block(119, [granted('CONTRACT')])]);
      expect(typesOf(await reader.received(3)).slice(2)).toEqual(['began']);
      await chain.add([block(119, [granted('ERC20')], 1)], { rollbackTo: 118 });
      const events = await reader.received(5);
      expect(typesOf(events).slice(3)).toEqual(['undo', 'began']);
      expect(events[3]?.data).toMatchObject({ chainId: chain.chainId, block: { number: 118 } });
    });

    test('of several filters all must match, also for what is sent as it comes', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const reader = await open(url, `chainId=${chain.chainId}&from=${COLD}&contract=${CONTRACT}&start=head`);
      await caughtUp(reader);
      await chain.add([block(119, [granted('CONTRACT', { contract: address(8) }), granted('CONTRACT')])]);
      const [event] = await reader.received(1);
      expect(event?.data).toMatchObject({ delegation: { contract: checksummed(CONTRACT) } });
    });

    test('resumes after any event: nothing is sent twice, nothing is missed', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      await chain.add([block(119, [granted('CONTRACT'), granted('ERC20'), granted('ERC721')])]);
      const query = `chainId=${chain.chainId}`;
      const whole = await (await open(url, query)).received(5);
      expect(whole).toHaveLength(5);
      for (const [index, { id }] of whole.entries()) {
        const rest = await open(url, query, { 'last-event-id': id });
        expect((await rest.received(4 - index)).map(({ data }) => data)).toEqual(
          whole.slice(index + 1).map(({ data }) => data),
        );
        const page = await fetch(`${url}/registry/any/changes?${query}&cursor=${id}`);
        expect(((await page.json()) as { changes: unknown[] }).changes).toEqual(
          whole.slice(index + 1).map(({ data }) => data),
        );
      }
    });

    test('a reader that connects again after a reorg gets the undo first', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      await chain.add([block(119, [granted('CONTRACT')])]);
      const query = `chainId=${chain.chainId}`;
      const first = await open(url, query);
      await first.received(3);
      first.close();
      await chain.add([block(119, [], 1)], { rollbackTo: 118 });
      const again = await open(url, query, { 'last-event-id': first.lastId });
      expect(typesOf(await again.received(1))).toEqual(['undo']);
    });

    test('a stream that starts at the head resumes from there even if nothing was sent', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const query = `chainId=${chain.chainId}&start=head`;
      const reader = await open(url, query);
      await caughtUp(reader);
      reader.close();
      await chain.add([block(119, [granted('CONTRACT')])]);
      // The heartbeat had the cursor of the head.
      const again = await open(url, query, { 'last-event-id': reader.lastId });
      expect(typesOf(await again.received(1))).toEqual(['began']);
      expect(again.events[0]?.data).toMatchObject({ block: { number: 119 } });
    });

    test('sends each reader only what its filter lets pass, and everyone an undo', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const wallets = Array.from({ length: 8 }, (_, index) => address(0x5000 + index));
      const readers = await Promise.all(
        wallets.map((wallet) => open(url, `chainId=${chain.chainId}&start=head&wallet=${wallet}`)),
      );
      const all = await open(url, `chainId=${chain.chainId}&start=head`);
      await Promise.all([...readers, all].map(caughtUp));
      await chain.add([
        block(
          119,
          wallets.map((to) => granted('ALL', { to })),
        ),
      ]);
      expect(await all.received(wallets.length)).toHaveLength(wallets.length);
      for (const [index, reader] of readers.entries()) {
        await reader.received(1);
        expect(
          reader.events.map(({ data }) => (data as { delegation: { to: string } }).delegation.to.toLowerCase()),
        ).toEqual([wallets[index] as string]);
      }
      await chain.add([block(119, [], 1)], { rollbackTo: 118 });
      for (const reader of readers) expect(typesOf(await reader.received(2))).toEqual(['began', 'undo']);
    });

    test('a heartbeat moves the cursor of a reader whose filter lets nothing pass', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const query = `chainId=${chain.chainId}&wallet=${address(0xdead)}`;
      const reader = await open(url, query);
      await caughtUp(reader);
      const before = reader.lastId;
      await chain.add([block(119, [granted('ALL')])]);
      await idAfter(reader, before);
      expect(reader.events).toEqual([]);
    });

    test('only final changes with final=true, when they become final', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      await chain.add([block(119, [granted('CONTRACT')])], { verified: 112 });
      const reader = await open(url, `chainId=${chain.chainId}&final=true`);
      expect(typesOf(await reader.received(2))).toEqual(['began', 'ended']);
      await chain.add([block(120)], { verified: 119 });
      const events = await reader.received(3);
      expect(typesOf(events)).toEqual(['began', 'ended', 'began']);
      expect(events[2]?.data).toMatchObject({ final: true, block: { number: 119 } });
    });

    test('several chains in one stream: one that does not answer is reported, and the others go on', async () => {
      const [one, other] = [await chainWithPast(), await newServed(store)];
      const { url } = serve([one.chainId, other.chainId]);
      const reader = await open(url, `chainId=${one.chainId},${other.chainId}`);
      const events = await reader.received(3);
      expect(typesOf(events).toSorted()).toEqual(['began', 'ended', 'problem']);
      expect(events.find(({ type }) => type === 'problem')?.data).toMatchObject({
        chainId: other.chainId,
        problem: { status: 503 },
      });
      await other.add([block(119, [granted('ALL')])]);
      expect(typesOf(await reader.received(5)).slice(3)).toEqual(['recovered', 'began']);
      await one.add([block(119, [granted('ERC20')])]);
      expect(typesOf(await reader.received(6)).slice(5)).toEqual(['began']);
      // The id names the place on both chains.
      const again = await open(url, `chainId=${one.chainId},${other.chainId}`, { 'last-event-id': reader.lastId });
      await other.add([block(120, [ended('ALL')])]);
      expect(typesOf(await again.received(1))).toEqual(['ended']);
    });

    test('a chain that does not answer is asked again at the next poll, not before', async () => {
      const { chainId } = await newServed(store);
      let reads = 0;
      const changes: Store['changes'] = (query) => {
        reads++;
        return store.changes(query);
      };
      const streams = createChangeStreams({ perAddress: 1, perKey: 1 }, { ...TIMES, pollMs: 600_000 });
      const { url } = serve([chainId], { store: { ...store, changes }, streams });
      const reader = await open(url, `chainId=${chainId}`);
      expect(typesOf(await reader.received(1))).toEqual(['problem']);
      for (let turn = 0; turn < 20; turn++) await fetch(`${url}/ready`);
      expect(reads).toBe(1);
    });

    test('a chain that becomes stale is reported once, and again when it answers', async () => {
      const chain = await chainWithPast();
      let now = NOW;
      const { url } = serve([chain.chainId], { now: () => now });
      const reader = await open(url, `chainId=${chain.chainId}&start=head`);
      await caughtUp(reader);
      now = NOW + 1000;
      const [problem] = await reader.received(1);
      expect(problem).toMatchObject({
        type: 'problem',
        data: { problem: { type: expect.stringContaining('chain-stale') } },
      });
      now = NOW;
      expect(typesOf(await reader.received(2))).toEqual(['problem', 'recovered']);
    });

    test('a slow reader is cut off without delaying others, and resumes from its last id', async () => {
      const chain = await newServed(store);
      await chain.add([block(101)]);
      const { url } = serve([chain.chainId], { maxLag: () => 10_000 });
      const { port } = new URL(url);
      const fast = await open(url, `chainId=${chain.chainId}`);
      const socket = connect(Number(port), '127.0.0.1');
      opened.push(() => socket.destroy());
      socket.write(
        `GET /registry/any/changes?chainId=${chain.chainId} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.pause();
      // More than the sockets of both sides hold.
      const perBlock = 700;
      for (let number = 102; number < 118; number++) {
        const events = Array.from({ length: perBlock }, (_, index) =>
          granted('ALL', { to: address(number * 10_000 + index) }),
        );
        await chain.add([block(number, events)]);
      }
      await fast.received(16 * perBlock);
      expect(fast.events).toHaveLength(16 * perBlock);
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += chunk;
      });
      await Bun.sleep(2 * TIMES.slowMs);
      socket.resume();
      await eventually('the end of the stream', async () => socket.closed || text.endsWith('0\r\n\r\n'));
      const got = [...text.matchAll(/^id: (\S+)\ndata: .*\n\n/gm)];
      expect(got.length).toBeLessThan(16 * perBlock);
      const rest = await open(url, `chainId=${chain.chainId}`, { 'last-event-id': got.at(-1)?.[1] as string });
      await rest.received(16 * perBlock - got.length);
      const places = ({ data }: ReceivedEvent) => {
        const { block, logIndex } = data as { block: { number: number }; logIndex: number };
        return 1000 * block.number + logIndex;
      };
      expect(rest.events.map(places)).toEqual(fast.events.slice(got.length).map(places));
    });

    test.each(SEEDS)(
      'readers that disconnect and resume on any server hold what the feed gives from nothing, seed %d',
      async (seed) => {
        const next = createRandom(seed);
        const below = (most: number) => Math.floor(next() * most);
        const chain = await newServed(store);
        await chain.add([block(101)]);
        const options = { now: () => timeOf(400), maxLag: () => 100_000 };
        const servers = [serve([chain.chainId], options), serve([chain.chainId], options)];
        const query = `chainId=${chain.chainId}`;
        const readers = ['', `&wallet=${HOT}`, `&from=${COLD}`, '&final=true'].map((filter) =>
          createResumingReader(query + filter),
        );
        opened.push(() => readers.map(({ close }) => close()));
        const urlOf = () => (servers[below(2)] as { url: string }).url;
        let [head, verified, branch, reorgs] = [101, 100, 0, 0];
        for (let step = 0; step < 150; step++) {
          for (const reader of readers) if (below(4) === 0) await reader.connect(urlOf());
          if (step % 50 === 49) {
            await servers[1]?.stop();
            servers[1] = serve([chain.chainId], options);
          }
          const depth = below(5) === 0 ? below(head - verified + 1) : 0;
          const events = Array.from({ length: below(4) }, () => {
            const to = below(2) === 0 ? HOT : address(1 + below(3));
            const from = below(2) === 0 ? COLD : address(9);
            return below(3) === 0 ? ended('ALL', { to, from }) : granted('ALL', { to, from });
          });
          const rollback = depth === 0 ? {} : { rollbackTo: head - depth };
          if (depth > 0) [branch, reorgs] = [branch + 1, reorgs + 1];
          head += 1 - depth;
          verified = Math.max(verified, head - 4);
          await chain.add([block(head, events, branch)], { ...rollback, verified });
          if (below(3) === 0) await Bun.sleep(below(60));
        }
        expect(reorgs).toBeGreaterThan(10);
        await chain.add([block(head + 1, [granted('CONTRACT', { from: COLD, to: HOT })], branch)], {
          verified: head + 1,
        });
        for (const reader of readers) {
          await reader.connect(urlOf());
          await eventually('the last change', async () => (reader.held().at(-1) ?? '').startsWith(`${head + 1} `));
          expect(reader.held()).toEqual(await reader.fromNothing(urlOf()));
        }
        expect(readers.map(({ undone }) => undone > 0)).toEqual([true, true, true, false]);
      },
    );

    test('those who stay are sent what comes after another has left', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const readers = [];
      for (let turn = 0; turn < 3; turn++) readers.push(await open(url, `chainId=${chain.chainId}`));
      const [first, ...others] = readers as [EventReader, ...EventReader[]];
      await Promise.all(readers.map(caughtUp));
      await chain.add([block(119, [granted('CONTRACT')])]);
      await Promise.all(readers.map((reader) => reader.received(3)));
      first.close();
      await first.ended;
      // One more that joins and leaves: by then the first has left too.
      const passing = await open(url, `chainId=${chain.chainId}`);
      await caughtUp(passing);
      passing.close();
      await passing.ended;
      await chain.add([block(120, [granted('ERC20')])]);
      for (const reader of others) expect(typesOf(await reader.received(4))).toHaveLength(4);
    });

    test('a caller can have so many streams, and more once it closes one', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId], { streams: createChangeStreams({ perAddress: 2, perKey: 2 }, TIMES) });
      const query = `chainId=${chain.chainId}`;
      const [first] = [await open(url, query), await open(url, query)];
      const third = await fetch(`${url}/registry/any/changes?${query}`, { headers: { accept: 'text/event-stream' } });
      expect(third.status).toBe(429);
      expect(await third.json()).toMatchObject({ detail: 'At most 2 streams can be open at once without an API key.' });
      first.close();
      await eventually('another stream', async () => {
        const again = await openEvents(`${url}/registry/any/changes?${query}`);
        again.close();
        return again.status === 200;
      });
    });

    test('ends all streams when the server stops, at once', async () => {
      const chain = await chainWithPast();
      const server = serve([chain.chainId], { drainTimeout: 60 });
      const reader = await open(server.url, `chainId=${chain.chainId}`);
      await reader.received(2);
      await server.stop();
      await reader.ended;
      expect(typesOf(reader.events)).toEqual(['began', 'ended', 'end']);
    });

    test('ends a stream at once that is opened after that', async () => {
      const chain = await chainWithPast();
      const streams = createChangeStreams();
      streams.stop();
      const reader = await open(serve([chain.chainId], { streams }).url, `chainId=${chain.chainId}`);
      expect(typesOf(await reader.received(1))[0]).toBe('end');
      await reader.ended;
    });

    test('ends a stream that has been open for long, and the reader resumes', async () => {
      const chain = await chainWithPast();
      const streams = createChangeStreams({ perAddress: 1, perKey: 1 }, { ...TIMES, maxAgeMs: 500 });
      const { url } = serve([chain.chainId], { streams });
      const reader = await open(url, `chainId=${chain.chainId}`);
      await reader.ended;
      expect(typesOf(reader.events)).toEqual(['began', 'ended', 'end']);
      // Its place was given back.
      const again = await open(url, `chainId=${chain.chainId}`, { 'last-event-id': reader.lastId });
      await again.ended;
      expect(typesOf(again.events)).toEqual(['end']);
    });

    test('a cursor of another feed is refused, and a HEAD has no stream', async () => {
      const chain = await chainWithPast();
      const { url } = serve([chain.chainId]);
      const reader = await open(url, `chainId=${chain.chainId}`);
      await reader.received(1);
      const other = await open(url, `chainId=${chain.chainId}&wallet=${HOT}`, { 'last-event-id': reader.lastId });
      expect(other.status).toBe(400);
      const forged = await open(url, `chainId=${chain.chainId}`, { 'last-event-id': 'x' });
      expect(forged.status).toBe(400);
      const head = await fetch(`${url}/registry/any/changes?chainId=${chain.chainId}&from=${COLD}`, {
        method: 'HEAD',
        headers: { accept: 'text/event-stream' },
      });
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    });
  });
}

describe('many streams that catch up at once', () => {
  let store: Store;
  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('many-streams.db')}`);
  });
  afterAll(() => store.close());

  test('read two at a time, callers in turn, and hold little for readers that do not read', async () => {
    const chain = await newServed(store);
    const grantsOf = (number: number) =>
      Array.from({ length: 200 }, (_, to) => granted('ALL', { to: address(number * 1000 + to) }));
    for (let number = 101; number < 118; number++) await chain.add([block(number, grantsOf(number))]);
    let [running, most, reads, readsBefore] = [0, 0, 0, 0];
    const counting: Store = {
      ...store,
      async changes(query) {
        most = Math.max(most, ++running);
        reads++;
        if (!own.isFull) readsBefore = reads;
        try {
          return await store.changes(query);
        } finally {
          running--;
        }
      },
    };
    let own = { isFull: false };
    const streams = createChangeStreams({ perAddress: 10, perKey: 100 }, { ...TIMES, slowMs: 60_000 });
    const service = serviceOf(counting, NOW, { chainIds: new Set([chain.chainId]), streams });
    const openOne = (id: string) =>
      streams.open(
        {
          feed: { chainIds: [chain.chainId], isFinal: false, filter: {}, mode: 'number' },
          identity: '',
          cursor: new Map(),
          start: 'first',
        },
        { service, caller: { id, hasKey: true }, failed: { id: '', route: '' }, setIdleTimeout() {} },
      );
    const opened = Array.from({ length: 100 }, () => openOne('many'));
    own = openOne('one');
    expect(() => openOne('many')).toThrow('At most 100 streams');
    await eventually('the stream of another caller', async () => own.isFull);
    // Those of the first caller that were in front of it, and as many as it needed itself.
    expect(readsBefore).toBeLessThan(12);
    await eventually('all streams', async () => opened.every(({ isFull }) => isFull));
    expect(most).toBeLessThanOrEqual(2);
    expect(Math.max(...opened.map(({ sent }) => sent.bytes))).toBeLessThan(MAX_WAITING + 2000);
    streams.stop();
  });

  test('ask a store that does not answer once, however long it takes', async () => {
    let asked = 0;
    const answering = Promise.withResolvers<never[]>();
    const silent: Store = {
      ...store,
      chains() {
        asked++;
        return answering.promise;
      },
    };
    const streams = createChangeStreams({ perAddress: 10, perKey: 10 }, TIMES);
    const service = serviceOf(silent, NOW, { streams });
    const feed = { chainIds: [], isFinal: false, filter: {}, mode: 'number' } as const;
    streams.open(
      { feed, identity: '', cursor: new Map(), start: 'head' },
      { service, caller: { id: 'one', hasKey: true }, failed: { id: '', route: '' }, setIdleTimeout() {} },
    );
    // As many turns of a timer of the same length: the same process runs both.
    await new Promise<void>((resolve) => {
      let turns = 0;
      const timer = setInterval(() => {
        if (++turns < 10) return;
        clearInterval(timer);
        resolve();
      }, TIMES.pollMs);
    });
    expect(asked).toBe(1);
    answering.resolve([]);
    await eventually('the next poll', async () => asked > 1);
    streams.stop();
  });

  test('are 10,000 at most without a key, and as many with one', () => {
    const streams = createChangeStreams({ perAddress: 20_000, perKey: 20_000 }, TIMES);
    const service = serviceOf(store, NOW, { streams });
    for (const hasKey of [false, true]) {
      const feed = { chainIds: [], isFinal: false, filter: {}, mode: 'number' } as const;
      const openOne = () =>
        streams.open(
          { feed, identity: '', cursor: new Map(), start: 'head' },
          { service, caller: { id: 'one', hasKey }, failed: { id: '', route: '' }, setIdleTimeout() {} },
        );
      for (let turn = 0; turn < 10_000; turn++) openOne();
      expect(openOne).toThrow('as many open streams as it can');
    }
    streams.stop();
  });
});

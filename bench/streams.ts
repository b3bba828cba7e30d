// Measures many open streams of changes: their memory, and what it takes until a new block has reached all of them.

import type { Socket } from 'bun';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { address, block, granted } from '../test/support/fixtures.ts';
import { type BenchEngine, ENGINE_NAMES, startEngine } from './engines.ts';
import { count, median, megabytes, short } from './figures.ts';
import type { Server } from './load.ts';
import type { Bench } from './part.ts';
import { memoryOf, treeCpu } from './processes.ts';
import type { Section } from './section.ts';
import { startOurs } from './servers.ts';

const CHAIN = 1;
const FIRST = 100;
/** Opened at once, so that the server's queue of connections does not overflow. */
const BURST = 100;
/** Longer than the interval of heartbeats, so that each stream had one. */
const IDLE_MS = 20_000;

interface Measured {
  readonly bytesBefore: number;
  readonly bytesOpen: number;
  /** CPU of the service and its database, and the time until the last stream had the block, in milliseconds. */
  readonly cpuMs: number;
  readonly lastMs: number;
}

/** What the streams ask for: every change of the chain, or the changes of one wallet each. */
const FEEDS = [
  ['all changes', () => ''],
  ['its own wallet', (index: number) => `&wallet=${address(0x1000 + index)}`],
] as const;

export async function benchStreams(bench: Bench): Promise<Section[]> {
  const measured: (readonly [string, Measured])[] = [];
  for (const name of ENGINE_NAMES) {
    for (const [feed, filterOf] of FEEDS) {
      await using engine = await startEngine(name, bench, `streams-${feed.replaceAll(' ', '-')}.db`);
      measured.push([`${name}, ${feed}`, await measure(engine, filterOf, bench)]);
    }
  }
  return [sectionOf(measured, bench.sizes.streams)];
}

/** A chain that the bench extends by one block at a time. */
async function openChain(store: Store) {
  const { epoch } = await store.claim(CHAIN, FIRST);
  let number = FIRST;
  let head: { number: number; hash: `0x${string}`; timestamp: number } | null = null;
  return async (events: Parameters<typeof block>[1] = []) => {
    const next = { ...block(++number, events), timestamp: Math.floor(Date.now() / 1000) };
    await store.apply({ chainId: CHAIN, epoch, after: head, blocks: [next], head: next });
    head = next;
  };
}

async function measure(engine: BenchEngine, filterOf: (index: number) => string, bench: Bench): Promise<Measured> {
  const { streams, rounds } = bench.sizes;
  const store = await openStore(engine.databaseUrl);
  const addBlock = await openChain(store);
  await addBlock();
  // Each stream is of another caller: one can have ten.
  const environment = { ANONYMOUS_LIMIT: 'off', TRUSTED_PROXIES: '127.0.0.0/8' };
  await using own = await startOurs({ ...bench, databaseUrl: engine.databaseUrl, environment });
  const server = { ...own, ...engine.database };
  const readers = createReaders(server);
  try {
    const bytesBefore = memoryOf(server.pid).own;
    await readers.open(streams, filterOf);
    await Bun.sleep(IDLE_MS);
    const bytesOpen = memoryOf(server.pid).own;
    const costs: { readonly cpu: number; readonly ms: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      // One change for each wallet, or one change that everyone gets.
      const wallets = filterOf(0) === '' ? 1 : streams;
      const events = Array.from({ length: wallets }, (_, index) =>
        granted('ALL', { from: address(0x1000 + index), to: address(1 + round) }),
      );
      const [cpu, got] = [cpuOf(server), readers.expectOne()];
      await addBlock(events);
      const began = performance.now();
      await got;
      const ms = performance.now() - began;
      // Also what it does after the last one has it.
      await Bun.sleep(1000);
      costs.push({ cpu: (cpuOf(server) - cpu) / 1000, ms });
    }
    const middle = (of: (cost: (typeof costs)[number]) => number) => median(costs.map(of));
    return { bytesBefore, bytesOpen, cpuMs: middle(({ cpu }) => cpu), lastMs: middle(({ ms }) => ms) };
  } finally {
    readers.close();
    await store.close();
  }
}

const cpuOf = ({ pid, databasePid }: Server) => treeCpu(pid) + treeCpu(databasePid);

const DATA = Buffer.from('data: ');

/** Plain sockets: ten thousand HTTP clients would need more memory than the server. */
function createReaders({ url }: Server) {
  const { port } = new URL(url);
  const sockets: Socket<{ got: number }>[] = [];
  let left = 0;
  let onAll = () => {};
  const open = async (query: string, index: number) => {
    const caller = `10.0.${index >> 8}.${index & 255}`;
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(port),
      data: { got: 0 },
      socket: {
        data({ data }, chunk) {
          if (data.got > 0 || !chunk.includes(DATA)) return;
          data.got++;
          if (--left === 0) onAll();
        },
        close: () => {},
      },
    });
    socket.write(
      `GET /registry/any/changes?chainId=${CHAIN}&start=head${query} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${caller}\r\naccept: text/event-stream\r\n\r\n`,
    );
    sockets.push(socket);
  };
  return {
    async open(streams: number, filterOf: (index: number) => string) {
      for (let index = 0; index < streams; index += BURST) {
        const burst = Array.from({ length: Math.min(BURST, streams - index) }, (_, more) => index + more);
        await Promise.all(burst.map((one) => open(filterOf(one), one)));
      }
    },
    /** Resolves when each stream has received an event. */
    expectOne(): Promise<void> {
      for (const { data } of sockets) data.got = 0;
      left = sockets.length;
      return new Promise((resolve) => {
        onAll = resolve;
      });
    },
    close() {
      for (const socket of sockets) socket.end();
    },
  };
}

function sectionOf(measured: readonly (readonly [string, Measured])[], streams: number): Section {
  return {
    title: `${count(streams)} open streams of changes`,
    about: `One API process with ${count(streams)} streams of one chain, opened by this machine, each idle for longer than a heartbeat before the memory is read. Then a block is committed by another process: with one change that every stream gets, or with one change for the wallet of each stream. Time is from the commit until the last stream has its change, up to half a second of polling included; CPU is of the service and its database for the whole block. Memory is without mapped files.`,
    columns: [
      'Each stream gets',
      'memory before',
      'with the streams',
      'per stream',
      'until the last has a block',
      'CPU of the block',
    ],
    rows: measured.map(([name, { bytesBefore, bytesOpen, cpuMs, lastMs }]) => [
      name,
      megabytes(bytesBefore),
      megabytes(bytesOpen),
      `${short((bytesOpen - bytesBefore) / streams / 1000)} kB`,
      `${count(lastMs)} ms`,
      `${count(cpuMs)} ms`,
    ]),
  };
}

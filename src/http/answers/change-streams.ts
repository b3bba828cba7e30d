// Streams what changes as server-sent events. A stream reads its chains by itself until it has caught up; then it shares one reader
// of each chain, the tail, with all other streams.

import { problemBody } from '../../api/problems.ts';
import { feedCursorText } from '../../feed/cursor.ts';
import { type Feed, type FeedEntry, headOf, isWanted, type Place, passEntries } from '../../feed/feed.ts';
import { createFeedMembers, type FeedMembers } from '../../feed/feed-members.ts';
import { comparePositions } from '../../store/change-position.ts';
import type { ChainState, ChangesCursor, ChangesPage } from '../../store/store.ts';
import { requireCurrent } from '../context/as-of.ts';
import { problemOf } from '../context/problem-of.ts';
import type { ChangeStreams, Service, StreamCall, StreamRequest } from '../context/service.ts';
import { ROW_WEIGHT } from '../limits/long-lists.ts';
import { createShares, type PerCaller } from '../limits/shares.ts';
import { EventStream, encodeEvent } from '../wire/event-stream.ts';

/** Tests use shorter ones. */
const TIMES = {
  /** How often the tails look for new commits. */
  pollMs: 500,
  /** Heartbeats keep proxies from closing the connection, and move the cursor of a reader whose filter lets nothing pass. */
  heartbeatMs: 15_000,
  /** A reader that takes nothing for this long is cut off. It resumes from the last id that it got. */
  slowMs: 20_000,
  /** A stream ends after about this long. Its reader connects again, with a key that is still active. */
  maxAgeMs: 3_600_000,
};
/** Heartbeats are spread over their interval. */
const HEARTBEAT_GROUPS = 15;
/** How long a client waits before it connects again. */
const RETRY_MS = 2000;
/** How many changes a tail reads at once, and a stream by itself: not many more than may wait for its reader. */
const PAGE = 250;
const OWN_PAGE = 32;
/** In each process, half of them with a key. Each needs a few kilobytes and a file descriptor, and as much as waits for its reader. */
const MAX_STREAMS = 20_000;
/** How long Bun keeps the connection of a reader that was cut off. */
const CUT_OFF_SECONDS = 8;

interface Member extends Omit<StreamRequest, 'cursor'>, StreamCall {
  readonly stream: EventStream;
  /** By chain: of its own, or a tail. */
  readonly places: Map<number, Place | Tail>;
  /** The chains whose problem was reported. */
  readonly troubled: Set<number>;
  isCatchingUp: boolean;
  /** When the stream ends, in milliseconds of `performance.now`. */
  readonly endsAt: number;
  /** The same for streams that get the same bytes while none of them is catching up. */
  readonly shared: string;
}

/** Reads a chain for all streams that have caught up with it. All members were sent everything up to its cursor. */
interface Tail extends Place {
  readonly chainId: number;
  readonly isFinal: boolean;
  readonly service: Service;
  readonly members: FeedMembers<Member>;
  /** Of the chain when it was last read to its end. */
  commits: number;
  /** Whether the last read failed. */
  isTroubled: boolean;
  reading: Promise<void> | null;
}

export function createChangeStreams(
  limits: PerCaller = { perAddress: 10, perKey: 100 },
  { pollMs, heartbeatMs, slowMs, maxAgeMs } = TIMES,
): ChangeStreams {
  const members = new Set<Member>();
  const tails = new Map<string, Tail>();
  const shares = createShares(MAX_STREAMS / 2, limits, {
    own: (most, whose) => `At most ${most} streams can be open at once ${whose}.`,
    all: 'The service has as many open streams as it can. Retry later.',
  });
  const groups = Array.from({ length: HEARTBEAT_GROUPS }, () => new Set<Member>());
  let [opened, beats, hasStopped] = [0, 0, false];
  let timers: readonly NodeJS.Timeout[] = [];

  const tailOf = (chainId: number, feed: Pick<Feed, 'isFinal'>) => tails.get(tailName(chainId, feed));

  function join(member: Member, tail: Tail): true {
    member.places.set(tail.chainId, tail);
    tail.members.add(member);
    return true;
  }

  function leave(member: Member, tail: Tail): void {
    member.places.set(tail.chainId, { cursor: tail.cursor });
    tail.members.delete(member);
    if (tail.members.all.size === 0) tails.delete(tailName(tail.chainId, tail));
  }

  /** Sends one change after the other to all members, so that the cursor is always true for all of them. */
  function broadcast(tail: Tail, page: ChangesPage): void {
    passEntries(page, tail.chainId, tail, (entry) => {
      const events = new Map<string, Uint8Array>();
      for (const member of entry.change === null ? tail.members.all : tail.members.near(entry.change.delegation)) {
        const { feed, shared, isCatchingUp, stream } = member;
        if (!isWanted(entry, feed)) continue;
        const event = (isCatchingUp ? undefined : events.get(shared)) ?? entryEvent(member, entry);
        if (!isCatchingUp) events.set(shared, event);
        stream.send(event);
      }
      return true;
    });
    for (const member of tail.members.all) {
      if (!member.stream.isFull) continue;
      // It continues by itself, as fast as its reader reads.
      leave(member, tail);
      void catchUp(member);
    }
  }

  async function readTail(tail: Tail): Promise<void> {
    const { chainId, isFinal, service } = tail;
    try {
      for (let isEnd = false; !isEnd && tail.members.all.size > 0; ) {
        const page = await service.store.changes({ chainId, after: tail.cursor, isFinal, limit: PAGE });
        requireCurrent(page.chain, tail, service);
        for (const member of tail.members.all) reportRecovery(member, chainId);
        tail.isTroubled = false;
        broadcast(tail, page);
        isEnd = page.isEnd;
        if (isEnd) tail.commits = page.chain.commits;
      }
    } catch (error) {
      reportTrouble(tail, error);
    }
  }

  function reportTrouble(tail: Tail, error: unknown): void {
    tail.isTroubled = true;
    const [first] = tail.members.all;
    const event = first && problemEvent(first, tail.chainId, error);
    for (const member of tail.members.all) if (event !== undefined) reportProblem(member, tail.chainId, event);
  }

  /** Sends what is new on the chain to all members. */
  const update = (tail: Tail): Promise<void> => {
    tail.reading ??= readTail(tail).finally(() => {
      tail.reading = null;
    });
    return tail.reading;
  };

  async function pollTails(service: Service): Promise<void> {
    // Without an answer of the store, the tails report why.
    const states = await Promise.try(() => service.store.chains()).catch(() => []);
    for (const tail of [...tails.values()]) {
      const state = states.find(({ chainId }) => chainId === tail.chainId);
      if (tail.isTroubled || state?.commits !== tail.commits) {
        await update(tail);
        continue;
      }
      try {
        requireCurrent(state, tail, service);
      } catch {
        // The state may be old by now.
        await update(tail);
      }
    }
  }

  /** Reads a page of a chain for one stream, and sends as much as there is room for; null if the chain has a problem. */
  async function readOwn(member: Member, chainId: number): Promise<ChangesPage | null> {
    const { feed, start, stream, service, caller } = member;
    const place = member.places.get(chainId) as Place;
    try {
      const page = await service.longLists.read(caller, ROW_WEIGHT * OWN_PAGE, async () => {
        if (stream.hasEnded) return null;
        place.cursor ??= start === 'head' ? await headOf(chainId, feed, service) : null;
        const { isFinal, filter } = feed;
        return service.store.changes({ chainId, after: place.cursor, isFinal, filter, limit: OWN_PAGE });
      });
      if (page === null) return null;
      requireCurrent(page.chain, feed, service);
      reportRecovery(member, chainId);
      const isPast = passEntries(page, chainId, place, (entry) => {
        // What does not fit is read again when there is room.
        if (stream.isFull) return false;
        stream.send(entryEvent(member, entry));
        return true;
      });
      return isPast ? page : { ...page, isEnd: false };
    } catch (error) {
      if (!member.troubled.has(chainId)) reportProblem(member, chainId, problemEvent(member, chainId, error));
      return null;
    }
  }

  /** Joins the tail if both are at the same place; with a state that was just read, becomes the tail if there is none. */
  function tryJoin(member: Member, chainId: number, state?: ChainState): boolean {
    const { places, feed, stream, service } = member;
    const { cursor } = places.get(chainId) as Place;
    if (cursor === null || stream.hasEnded) return false;
    const known = tailOf(chainId, feed);
    if (known !== undefined) return !known.isTroubled && isSamePlace(known.cursor, cursor) && join(member, known);
    if (state === undefined) return false;
    const { isFinal } = feed;
    const begun = { isTroubled: false, reading: null, members: createFeedMembers<Member>() };
    const tail: Tail = { chainId, isFinal, service, cursor, commits: state.commits, ...begun };
    tails.set(tailName(chainId, tail), tail);
    return join(member, tail);
  }

  /** Reads the chains that the stream does not share yet, until it shares all of them. */
  async function catchUp(member: Member): Promise<void> {
    if (member.isCatchingUp) return;
    member.isCatchingUp = true;
    const { stream, places, feed } = member;
    try {
      for (;;) {
        const own = [...places].filter(([, place]) => !('members' in place));
        if (stream.hasEnded) return;
        // The id at once: a reader whose connection breaks before the first change resumes from here.
        if (own.length === 0) return stream.send(encodeEvent({ id: idOf(member) }));
        let isWaiting = true;
        for (const [chainId] of own) {
          if (!(await stream.drained(slowMs))) return cutOff(member);
          if (tryJoin(member, chainId)) continue;
          const page = await readOwn(member, chainId);
          if (page === null || (page.isEnd && tryJoin(member, chainId, page.chain))) continue;
          // Brings the tail to where the stream is.
          const tail = page.isEnd ? tailOf(chainId, feed) : undefined;
          if (tail !== undefined) await update(tail);
          isWaiting &&= page.isEnd && !tryJoin(member, chainId);
        }
        if (isWaiting) await Bun.sleep(pollMs);
      }
    } finally {
      member.isCatchingUp = false;
    }
  }

  function beat(): void {
    const now = performance.now();
    for (const member of groups[beats++ % groups.length] ?? []) {
      if (now > member.endsAt) end(member, 'The stream has been open for long.');
      else if (!member.stream.isFull) member.stream.send(encodeEvent({ id: idOf(member) }));
    }
  }

  /** The timers run only while there are streams. */
  function watch(service: Service): void {
    if (timers.length > 0) return;
    let isPolling = false;
    const poll = async () => {
      if (isPolling) return;
      isPolling = true;
      try {
        await pollTails(service);
      } finally {
        isPolling = false;
      }
    };
    timers = [setInterval(poll, pollMs), setInterval(beat, heartbeatMs / HEARTBEAT_GROUPS)];
  }
  function unwatch(): void {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  return {
    open(request, call) {
      const release = shares.take(call.caller);
      const group = groups[opened++ % groups.length];
      const stream = new EventStream(() => {
        release();
        members.delete(member);
        group?.delete(member);
        for (const place of [...member.places.values()]) if ('members' in place) leave(member, place);
        if (members.size === 0) unwatch();
      });
      const { cursor, ...rest } = request;
      const { feed, identity } = rest;
      const places = feed.chainIds.map((chainId) => [chainId, { cursor: cursor.get(chainId) ?? null }] as const);
      const member: Member = {
        ...rest,
        ...call,
        stream,
        places: new Map(places),
        troubled: new Set(),
        isCatchingUp: false,
        // Streams that were opened together end at different times.
        endsAt: performance.now() + maxAgeMs * (0.75 + Math.random() / 2),
        shared: [feed.mode, feed.chainIds.join('+'), identity].join(' '),
      };
      members.add(member);
      group?.add(member);
      call.setIdleTimeout(0);
      stream.send(encodeEvent({ retry: RETRY_MS }));
      if (hasStopped) end(member, STOPPING);
      else {
        watch(call.service);
        void catchUp(member);
      }
      return stream;
    },
    stop() {
      hasStopped = true;
      for (const member of [...members]) end(member, STOPPING);
    },
    get count() {
      return members.size;
    },
  };
}

const tailName = (chainId: number, { isFinal }: Pick<Feed, 'isFinal'>) => `${chainId} ${isFinal}`;

const STOPPING = 'The server is stopping.';

function end(member: Member, reason: string): void {
  const data = JSON.stringify({ reason: `${reason} Connect again and resume.` });
  member.stream.send(encodeEvent({ event: 'end', data }));
  cutOff(member);
}

/** Ends the stream of a reader that is too slow, or that disconnected. */
function cutOff({ stream, setIdleTimeout }: Member): void {
  if (stream.hasEnded) return;
  stream.end();
  setIdleTimeout(CUT_OFF_SECONDS);
}

function idOf({ places, identity }: Member): string {
  const cursor = new Map<number, ChangesCursor>();
  for (const [chainId, place] of places) if (place.cursor !== null) cursor.set(chainId, place.cursor);
  return feedCursorText(cursor, identity);
}

const entryEvent = (member: Member, entry: FeedEntry) =>
  encodeEvent({ id: idOf(member), data: entry.text(member.feed.mode) });

function problemEvent({ service, failed }: Member, chainId: number, error: unknown): Uint8Array {
  const problem = problemBody(problemOf(error, service, failed));
  return encodeEvent({ event: 'problem', data: JSON.stringify({ chainId, problem }) });
}

/** A problem of a chain is reported once, and its end too. */
function reportProblem({ troubled, stream }: Member, chainId: number, event: Uint8Array): void {
  if (troubled.has(chainId)) return;
  troubled.add(chainId);
  stream.send(event);
}

function reportRecovery({ troubled, stream }: Member, chainId: number): void {
  if (troubled.delete(chainId)) stream.send(encodeEvent({ event: 'recovered', data: JSON.stringify({ chainId }) }));
}

const isSamePlace = (one: ChangesCursor | null, other: ChangesCursor) =>
  one?.revision === other.revision && one.stamp === other.stamp && comparePositions(one.position, other.position) === 0;

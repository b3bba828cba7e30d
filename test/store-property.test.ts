// Compares the store with a model after every step of a random chain, at the head and as of every earlier block.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { feedCursorText, readFeedCursor } from '../src/feed/cursor.ts';
import { type AnyQuestion, answer, type Question, type Target } from '../src/registry/check.ts';
import type { Address, Bytes32, Delegation } from '../src/registry/delegation.ts';
import { StoreError } from '../src/store/errors.ts';
import { openStore } from '../src/store/open.ts';
import { pack, unpack } from '../src/store/rows/packed.ts';
import type {
  BlockInput,
  BlockRef,
  ChangesFilter,
  Counterpart,
  CounterpartPage,
  HistoryEntry,
  HistoryPage,
  ListPosition,
  ListQuery,
  LogInput,
  LogPosition,
  Pinned,
  Settlement,
  Store,
} from '../src/store/store.ts';
import { documentedCopy } from './support/code-blocks.ts';
import { ENGINES } from './support/engines.ts';
import { createFeedReader } from './support/feed-reader.ts';
import {
  anyStep,
  eventOfCall,
  type HistoryBlock,
  type HistoryCall,
  ONCE_WRONG,
  questionsFor,
  type Step,
  truthOf,
} from './support/histories.ts';
import { createModel, type Model } from './support/model.ts';
import { appOf } from './support/serving.ts';
import { CONTRACTS, WALLETS } from './support/wallets.ts';

const RUNS = { SQLite: 80, PostgreSQL: 20 };
/** For longer runs: see CONTRIBUTING.md. */
const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_QUESTIONS } = process.env;
/** How many questions are asked at each block about the vaults and delegates of every wallet. */
const QUESTIONS = Number(PROPERTY_QUESTIONS ?? 1);

interface TrueBlock extends BlockRef {
  readonly calls: readonly HistoryCall[];
}
/** A wallet's revocations in a block that do not name the delegate. */
interface Gap {
  readonly vault: Address;
  readonly block: Pick<BlockRef, 'number' | 'hash'>;
  /** The delegates that they really revoked, by log. */
  readonly pairs: { delegate: Address; endedBy: number }[];
  /** The block from which the store must know the delegates; null if unsettled. */
  readAt: number | null;
}

const FIRST = 10;
const NOBODY: Address = `0x${'ee'.repeat(20)}`;
const DIRECTIONS = [undefined, undefined, 'incoming', 'outgoing'] as const;
let hashes = 0;
let chains = 0;
/** Comparisons of a vault or delegate that is listed, or not, with the check of the pair. */
let memberships = 0;
/** Grants in histories of wallets that were compared. */
let grants = 0;
/** Lists over HTTP that were compared with a copy that followed the changes over HTTP. */
let copied = 0;
/** Entries of change feeds that were compared, those of filtered ones too, and how often a reader had to undo some. */
let [entries, filtered, undone] = [0, 0, 0];
/** Every combination of filters, by every wallet and by none. */
const FILTERS = [undefined, ...WALLETS, NOBODY].flatMap((wallet) =>
  [undefined, ...WALLETS].flatMap((from) =>
    [undefined, ...WALLETS].flatMap((to) =>
      [undefined, ...CONTRACTS].map((contract): ChangesFilter => ({ wallet, from, to, contract })),
    ),
  ),
);
/** How many of them are compared after every step. */
const FILTERS_PER_STEP = 6;

/** A true chain, and the steps that a follower applies to the store. */
async function createHistory(store: Store, replica: Store) {
  const chainId = ++chains;
  let { epoch } = await store.claim(chainId, FIRST);
  let head: BlockRef | null = null;
  let history: TrueBlock[] = [];
  let gaps: Gap[] = [];
  /** Blocks with logs that the store did not get. Until they are repaired, it cannot be right about them. */
  let owed: BlockInput[] = [];

  const createReader = (isFinal: boolean, filter: ChangesFilter = {}) => {
    let pages = 0;
    return createFeedReader(async (after, limit) => {
      // Every page comes from another store, and the reader restarts before each: it keeps its cursor as text.
      const from = pages++ % 2 === 0 ? store : replica;
      const page = await from.changes({ chainId, after, isFinal, filter, limit });
      const text = feedCursorText(new Map([[chainId, page.next]]), '');
      return { ...page, next: readFeedCursor(text, '')?.get(chainId) ?? page.next };
    });
  };
  /** One reads after every step, in short pages; another one now and then; the last one only what is final. */
  const [reader, lateReader, finalReader] = [createReader(false), createReader(false), createReader(true)];
  /** One reads what a filter leaves after every step. */
  const ownFilter = FILTERS[(chainId * 31) % FILTERS.length] as ChangesFilter;
  const filteredReader = createReader(false, ownFilter);
  let steps = 0;
  const readChanges = async () => {
    if (head === null) return;
    await reader.follow(1 + (steps % 3));
    if (steps % 3 === 0) await lateReader.follow(100);
    await finalReader.follow(1 + (steps % 2));
    const fromNothing = createReader(false);
    await fromNothing.follow(2 + (steps % 50));
    expect(reader.lines()).toEqual(fromNothing.lines());
    const verified = (await store.chain(chainId))?.verified ?? -1;
    expect(finalReader.lines()).toEqual(fromNothing.lines().slice(0, fromNothing.countUpTo(verified)));
    entries += fromNothing.lines().length;
    await filteredReader.follow(1 + (steps % 4));
    expect(filteredReader.lines()).toEqual(fromNothing.linesOf(ownFilter));
    await compareFiltered({ head: fromNothing, final: finalReader });
  };
  /** What filtered pages give is what is left of all changes, and they end at the same place. */
  const compareFiltered = async (all: Readonly<Record<'head' | 'final', ReturnType<typeof createReader>>>) => {
    for (let turn = 0; turn < FILTERS_PER_STEP; turn++) {
      const filter = FILTERS[(chainId * 97 + steps * 41 + turn * 53) % FILTERS.length] as ChangesFilter;
      const isFinal = turn % 3 === 2;
      const found = createReader(isFinal, filter);
      await found.follow(1 + ((steps + turn) % 3));
      expect([filter, found.lines()]).toEqual([filter, all[isFinal ? 'final' : 'head'].linesOf(filter)]);
      const query = { chainId, after: null, isFinal, limit: 1000 };
      const { next } = await store.changes(query);
      expect(await store.changes({ ...query, filter })).toMatchObject({ isEnd: true, next });
      filtered += found.lines().length;
    }
  };

  /** The API over the stores, in which this chain is chain 1. */
  let requests = 0;
  const apps = [store, replica].map((one) =>
    appOf(asChainOne(one, chainId), 0, { now: () => head?.timestamp ?? 0, maxLag: () => Number.MAX_SAFE_INTEGER }),
  );
  const fetchOne = (url: string) =>
    (apps[requests++ % 2] ?? apps[0])?.fetch(new Request(url)) ?? Promise.reject(new Error('no app'));
  const copy = documentedCopy((url) => fetchOne(url.replace('limit=1000', `limit=${1 + (requests % 4)}`)));

  /** The copy that the documentation makes has at a block what the list of every wallet gives as of it. */
  const compareCopy = async (block: number) => {
    const held = copy.heldAt(block);
    for (const wallet of WALLETS) {
      const response = await fetchOne(`${URL}/registry/any/${wallet}?block=${block}&numbers=string`);
      const { delegations, type } = (await response.json()) as { delegations?: object[]; type?: string };
      if (type === '/docs#problem-revocation-unread') continue;
      const own = held.filter(({ from, to }) => [from.toLowerCase(), to.toLowerCase()].includes(wallet));
      const texts = (all: readonly object[] = []) => all.map((one) => JSON.stringify(one)).sort();
      expect(texts(own)).toEqual(texts(delegations));
      copied++;
    }
  };

  const hadGranted = (until: number, from: Address, to: Address): boolean =>
    history.some(
      ({ number, calls }) =>
        number <= until &&
        calls.some(({ call: [registry, caller, name, [first]] }) => {
          return registry === 'v1' && name.startsWith('delegateFor') && caller === from && first === to;
        }),
    );

  /** Extends the true chain, and returns the batch that a follower would apply. */
  const extend = (planned: readonly HistoryBlock[]): BlockInput[] =>
    planned.map(({ gap, seconds, calls }) => {
      const last = history.at(-1);
      const number = (last?.number ?? FIRST - 1) + gap;
      const timestamp = (last?.timestamp ?? 1_700_000_000) + seconds;
      const hash: Bytes32 = `0x${(++hashes).toString(16).padStart(64, '0')}`;
      history.push({ number, timestamp, hash, calls });
      const own = new Map<Address, Gap & { isRead: boolean }>();
      const logs = calls.map(({ call, resolution }, logIndex) => {
        const event = eventOfCall(call);
        const log = { logIndex, transactionHash: hash, event };
        if (event.type !== 'unknownRevoked') return log;
        const delegate = (call[2] === 'revokeSelf' ? call[1] : call[3][0]) as Address;
        if (resolution === 'transaction') return { ...log, revoked: delegate };
        const vault = event.from;
        // All revocations of a wallet in a block are settled in the same way as the first.
        const known = own.get(vault) ?? {
          vault,
          block: { number, hash },
          pairs: [],
          readAt: null,
          isRead: resolution === 'state',
        };
        own.set(vault, known);
        known.pairs.push({ delegate, endedBy: logIndex });
        return { ...log, revoked: null };
      });
      const found = [...own.values()];
      for (const { isRead, ...one } of found) gaps.push({ ...one, readAt: isRead ? number : null });
      const settlements = found.filter(({ isRead }) => isRead).map((one) => settlementOf(one, number));
      return { number, timestamp, hash, logs, settlements };
    });

  const settlementOf = ({ vault, block, pairs: all }: Gap, readAt: number): Settlement => {
    // A later state only shows that an existing delegation is gone.
    const pairs = all.filter(({ delegate }) => readAt === block.number || hadGranted(block.number, vault, delegate));
    const named = new Set(pairs.map(({ delegate }) => delegate));
    const others = WALLETS.filter((wallet) => !named.has(wallet)).map((delegate) => ({ delegate, endedBy: null }));
    return { vault, block, readAt, pairs: [...pairs, ...others], complete: true };
  };

  const commit = async (inputs: readonly BlockInput[], more: { rollbackTo?: number } = {}) => {
    const tip = inputs.at(-1) ?? history.at(-1);
    if (tip === undefined) return;
    const newHead: BlockRef = { number: tip.number, hash: tip.hash, timestamp: tip.timestamp };
    // A reorg may reach below the final block.
    const verified = Math.max(0, newHead.number - 1 - (steps % 4));
    await store.apply({ chainId, epoch, after: head, blocks: inputs, head: newHead, verified, ...more });
    head = newHead;
  };

  /** Settles each revocation from the state of its own block or of a later one, in two parts. */
  const settle = async (open: readonly Gap[], readAt?: number): Promise<void> => {
    const settlements = open.map((gap) => settlementOf(gap, readAt ?? gap.block.number));
    const half = settlements.map((one) => ({ ...one, pairs: one.pairs.slice(0, 1), complete: false }));
    await store.settle(chainId, epoch, half);
    await store.settle(chainId, epoch, settlements);
    for (const gap of open) gap.readAt = readAt ?? gap.block.number;
  };

  /** Whether each wallet is listed as a counterpart of each other one exactly when the check of the pair says yes. */
  const compareCounterparts = async (
    { from: _, to: __, ...target }: Question | AnyQuestion,
    block: number,
    revision: number,
    model: Model,
    mayRefusePair: (from: Address, to: Address) => boolean,
  ) => {
    const limit = block % 2 === 0 ? 1 : 10;
    for (const wallet of WALLETS) {
      for (const side of ['vaults', 'delegates'] as const) {
        const pairOf = (other: Address) =>
          side === 'vaults' ? { from: other, to: wallet } : { from: wallet, to: other };
        const found: Counterpart[] = [];
        try {
          for (let after: Address | null | undefined; after !== null; ) {
            const query = { chainId, wallet, target: target as Target, at: { block, revision }, limit };
            const page: CounterpartPage = await store[side](after ? { ...query, after } : query);
            expect(page.counterparts.length).toBeLessThanOrEqual(limit);
            found.push(...page.counterparts);
            after = page.next;
          }
        } catch (error) {
          if (!(error instanceof StoreError) || error.code !== 'revocation-unread') throw error;
          const mayRefuse = WALLETS.some((other) => mayRefusePair(pairOf(other).from, pairOf(other).to));
          expect(target.version !== 2 && mayRefuse).toBe(true);
          continue;
        }
        const questionOf = (other: Address) => ({ ...target, ...pairOf(other) }) as Question | AnyQuestion;
        const truth = WALLETS.filter((other) => truthOf(model, questionOf(other)));
        expect(found.map((one) => one.wallet)).toEqual(truth.toSorted());
        memberships += WALLETS.length;
        for (const { wallet: other, granting } of found) {
          const single = await store.explain(chainId, questionOf(other), block);
          expect(granting).toEqual(single.granting);
        }
      }
    }
  };

  /** The history of every wallet is what the changes tell of it, the newest grant first. */
  const compareHistory = async (block: number, revision: number, mayRefuse: boolean) => {
    const granted = reader.grantsAt(block);
    const direction = DIRECTIONS[block % DIRECTIONS.length];
    for (const wallet of WALLETS) {
      const found: HistoryEntry[] = [];
      try {
        for (let after: LogPosition | null | undefined; after !== null; ) {
          const query = {
            chainId,
            wallet,
            at: { block, revision },
            limit: 1 + (block % 5),
            ...(direction ? { direction } : {}),
          };
          const page: HistoryPage = await store.history(after ? { ...query, after } : query);
          found.push(...page.entries);
          after = page.next;
        }
      } catch (error) {
        if (!mayRefuse || !(error instanceof StoreError) || error.code !== 'revocation-unread') throw error;
        continue;
      }
      const line = (grant: Delegation & { since: LogPosition }, until: LogPosition | null) =>
        `${textOf(grant)} ${grant.since.block}.${grant.since.logIndex} ${until?.block}.${until?.logIndex}`;
      const own = granted.filter(({ delegation }) => isListed(delegation, wallet, direction)).reverse();
      const order = (one: { delegation: { since: LogPosition } }, other: { delegation: { since: LogPosition } }) =>
        other.delegation.since.block - one.delegation.since.block ||
        other.delegation.since.logIndex - one.delegation.since.logIndex;
      const truth = own.sort(order).map(({ delegation, until }) => line(delegation, until));
      expect(found.map((entry) => line(entry, entry.until))).toEqual(truth);
      grants += truth.length;
    }
  };

  /** Checks of this chain and of the one before it answer the same concurrently as one at a time. */
  const compareConcurrent = async () => {
    const asked = [chainId, chainId - 1].flatMap((chain) =>
      [0, 4, 9].flatMap((turn) => questionsFor(turn)).map((question) => ({ chain, question })),
    );
    const outcome = ({ chain, question }: (typeof asked)[number]) =>
      store.check(chain, question).catch((error: StoreError) => [error.code, error.message]);
    const concurrent = await Promise.all(asked.map(outcome));
    for (const [turn, one] of asked.entries()) expect(concurrent[turn]).toEqual(await outcome(one));
  };

  const takeStep = async (step: Step): Promise<void> => {
    switch (step.type) {
      case 'append':
        return commit(extend(step.blocks));
      case 'reorg': {
        if (history.length < 2) return;
        history = history.slice(0, Math.max(1, history.length - step.depth));
        const rollbackTo = history.at(-1)?.number ?? 0;
        gaps = gaps.filter(({ block }) => block.number <= rollbackTo);
        for (const gap of gaps) if (gap.readAt !== null && gap.readAt > rollbackTo) gap.readAt = null;
        owed = owed.filter(({ number }) => number <= rollbackTo);
        return commit(extend(step.blocks), { rollbackTo });
      }
      case 'withhold': {
        const inputs = extend(step.blocks);
        const all = inputs.flatMap((block) => block.logs.map((log) => ({ block, log })));
        const hidden = all[step.pick % Math.max(1, all.length)];
        // The store does not get one of the logs.
        const shown = inputs.map((block) => {
          if (block !== hidden?.block) return block;
          const logs = block.logs.filter((log) => log !== hidden.log);
          const settlements = (block.settlements ?? []).filter(
            ({ vault }) => vault !== vaultOf(hidden.log) && logs.some((log) => vaultOf(log) === vault),
          );
          return { ...block, logs, settlements };
        });
        await commit(shown);
        if (hidden !== undefined) owed.push(hidden.block);
        return;
      }
      case 'repair': {
        if (owed.length === 0) return;
        const repaired = [...new Map(owed.map((block) => [block.number, block])).values()];
        repaired.sort((one, other) => one.number - other.number);
        const from = repaired[0]?.number ?? 0;
        owed = [];
        await store.repair({ chainId, epoch, blocks: repaired });
        // Revocations from the first replaced block on may need to be settled again.
        for (const gap of gaps) if ((gap.readAt ?? 0) >= from) gap.readAt = null;
        if (step.reread) await settle(gaps.filter(({ block, readAt }) => readAt === null && block.number >= from));
        return;
      }
      case 'readLate': {
        if (head === null || owed.length > 0) return;
        const { number } = head;
        return settle(
          gaps.filter(({ readAt }) => readAt === null),
          number,
        );
      }
      case 'rebuild':
        await store.rebuild(chainId);
        // A new writer takes over occasionally, as after a restart.
        epoch = (await store.claim(chainId, FIRST)).epoch;
        return;
    }
  };

  return {
    async take(step: Step): Promise<void> {
      await takeStep(step);
      steps++;
      await readChanges();
    },

    end(): void {
      undone += reader.undone + lateReader.undone + finalReader.undone + filteredReader.undone;
    },

    /** Compares every wallet's lists as of every block, and some checks. */
    async compare(): Promise<void> {
      if (head === null || owed.length > 0) return;
      const { revision } = (await store.chain(chainId)) ?? { revision: 0 };
      const newest = head.number;
      await lateReader.follow(7);
      await copy.update(URL);
      const held = new Map<string, Delegation & { since: { block: number; logIndex: number } }>();
      const model = createModel();
      let next = 0;
      for (let block = FIRST; block <= newest; block++) {
        for (; (history[next]?.number ?? Number.POSITIVE_INFINITY) <= block; next++) {
          for (const [logIndex, { call }] of history[next]?.calls.entries() ?? []) {
            model.call(call);
            const now = new Map(model.held().map((delegation) => [textOf(delegation), delegation]));
            for (const text of held.keys()) if (!now.has(text)) held.delete(text);
            for (const [text, delegation] of now) {
              if (!held.has(text)) held.set(text, { ...delegation, since: { block, logIndex } });
            }
          }
        }
        const isOpen = (gap: Gap) => gap.block.number <= block && (gap.readAt === null || gap.readAt > block);
        const open = gaps.filter(isOpen);
        /** Whether the wallet had granted anything to the other one before an unsettled revocation. */
        const mayRefusePair = (from: Address, to: Address) =>
          open.some(({ vault, block: { number } }) => vault === from && hadGranted(number, from, to));
        const asked = WALLETS.flatMap((wallet) => [1, 2].map((version) => ({ wallet, version: version as 1 | 2 })));
        await Promise.all(
          asked.map(async ({ wallet, version }) => {
            const direction = DIRECTIONS[block % DIRECTIONS.length];
            const truth = model.list(version, wallet, direction).flatMap((one) => held.get(textOf(one)) ?? []);
            const mayRefuse =
              version === 1 &&
              WALLETS.some(
                (other) =>
                  (direction !== 'incoming' && mayRefusePair(wallet, other)) ||
                  (direction !== 'outgoing' && mayRefusePair(other, wallet)),
              );
            const query = { chainId, version, wallet, at: { block, revision }, ...(direction ? { direction } : {}) };
            const found = await everything(store, query, mayRefuse);
            if (found === 'refused') return;
            const line = (delegation: (typeof truth)[number]) =>
              `${textOf(delegation)} since ${delegation.since.block}.${delegation.since.logIndex}`;
            expect(found.map(line)).toEqual(truth.map(line));
            for (const one of [reader, lateReader]) {
              const listed = one
                .heldAt(block)
                .filter((delegation) => delegation.version === version && isListed(delegation, wallet, direction));
              expect(listed.map(line).sort()).toEqual(truth.map(line).sort());
            }
            if (block < newest && block % 2 === 0) return;
            const packed = truth.map((one) => {
              const side = one.to === wallet && direction !== 'outgoing' ? 'incoming' : 'outgoing';
              return `${side} ${pack(one, side).toHex()}`;
            });
            expect(await everythingPacked(store, query, block === newest)).toEqual(packed);
          }),
        );
        if (block % 3 === steps % 3 || block === newest) await compareCopy(block);
        if (block % 3 === 0 || block === newest) await compareHistory(block, revision, open.length > 0);
        await Promise.all(
          questionsFor(block)
            .map((_, turn, all) => all[(turn + block) % all.length] as Question | AnyQuestion)
            .slice(0, QUESTIONS)
            .map((question) => compareCounterparts(question, block, revision, model, mayRefusePair)),
        );
        for (const question of questionsFor(block)) {
          const { to, from } = question;
          const truth = truthOf(model, question);
          const then = await store.check(chainId, question, block).catch((error) => {
            if (!(error instanceof StoreError) || error.code !== 'revocation-unread') throw error;
            expect(question.version !== 2 && mayRefusePair(from, to)).toBe(true);
            return null;
          });
          if (then === null) continue;
          expect(answer(question, then.granting)).toBe(truth);
          if (block < newest) continue;
          const now = await store.check(chainId, question);
          expect(now.block).toEqual(head);
          expect(answer(question, now.granting)).toBe(truth);
        }
      }
      await compareConcurrent();
    },
  };
}

const URL = 'http://localhost';

const ofChainOne = (pinned: Pinned): Pinned => ({ ...pinned, chain: { ...pinned.chain, chainId: 1 } });

/** The store, with one of its chains as chain 1: the API serves known networks only. */
const asChainOne = (store: Store, chainId: number): Store =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (first: unknown, ...rest: unknown[]) => {
        const isQuery = typeof first === 'object' && first !== null && 'chainId' in first;
        const result: unknown = value(isQuery ? { ...first, chainId } : first === 1 ? chainId : first, ...rest);
        // An answer names the chain of the state that it was read with.
        return name === 'pin' ? (result as Promise<Pinned>).then(ofChainOne) : result;
      };
    },
  });

const isListed = ({ from, to }: Delegation, wallet: Address, direction: 'incoming' | 'outgoing' | undefined) =>
  (direction !== 'incoming' && from === wallet) || (direction !== 'outgoing' && to === wallet);

/** The v1 wallet that a log is about. */
function vaultOf({ event }: LogInput): Address | null {
  if (!('delegation' in event)) return event.from;
  return event.delegation.version === 1 ? event.delegation.from : null;
}

const textOf = ({ version, kind, from, to, contract, tokenId, rights, amount }: Delegation) =>
  [version, kind, from, to, contract, tokenId, rights, amount].join();

async function everything(store: Store, query: Omit<ListQuery, 'limit'>, mayRefuse: boolean) {
  const found = [];
  // Mostly one page, for speed; every fourth block in pages of three.
  const limit = query.at.block % 4 === 0 ? 3 : 100;
  try {
    for (let after: ListPosition | null | undefined; after !== null; ) {
      const page = await store.list({ ...query, limit, ...(after ? { after } : {}) });
      found.push(...page.delegations);
      after = page.next;
    }
    return found;
  } catch (error) {
    if (mayRefuse && error instanceof StoreError && error.code === 'revocation-unread') return 'refused';
    throw error;
  }
}

/** The same as bytes. At the head pages as of the head and as of the block take turns. */
async function everythingPacked(store: Store, query: Omit<ListQuery, 'limit'>, isHead: boolean): Promise<string[]> {
  const found: string[] = [];
  const limit = query.at.block % 3 === 0 ? 2 : 100;
  let turn = 0;
  for (let after: ListPosition | null | undefined; after !== null; turn++) {
    const page = { ...query, limit, ...(after ? { after } : {}) };
    if (isHead && turn % 3 !== 1) {
      const { parts, next } = await store.listNow(page);
      for (const { side, count, bytes } of parts) {
        let start = 0;
        for (let index = 0; index < count; index++) {
          const { end } = unpack(bytes, start);
          found.push(`${side} ${bytes.slice(start, end).toHex()}`);
          start = end;
        }
        expect(start).toBe(bytes.length);
      }
      after = next;
    } else {
      const { delegations, next } = await store.listPacked(page);
      for (const { side, bytes } of delegations) found.push(`${side} ${bytes.toHex()}`);
      after = next;
    }
  }
  return found;
}

for (const engine of ENGINES) {
  describe(`random chains on ${engine.name}`, () => {
    test('grants, revocations, reorgs, repairs and rebuilds match the model after every step', async () => {
      memberships = 0;
      [grants, entries, filtered, undone, copied] = [0, 0, 0, 0, 0];
      const url = await engine.fresh();
      const store = await openStore(url);
      const replica = await openStore(url, { readOnly: true });
      const numRuns = PROPERTY_RUNS === undefined ? RUNS[engine.name] : Number(PROPERTY_RUNS);
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 7 }), async (steps) => {
          const history = await createHistory(store, replica);
          for (const next of [...steps, { type: 'repair', reread: false } as const]) {
            await history.take(next);
            await history.compare();
          }
          history.end();
        }),
        { numRuns, seed: Number(PROPERTY_SEED ?? 1), examples: ONCE_WRONG.map((steps) => [steps]) },
      );
      console.log(
        `${engine.name}: ${numRuns} random histories, ${memberships} memberships, ${grants} grants in histories, ` +
          `${entries} changes, ${filtered} by filters, ${undone} undos, ${copied} lists of a copy over HTTP, 0 differences`,
      );
      await replica.close();
      await store.close();
    });
  });
}

// v1 revocations that name no delegate: settled pair by pair, a few in each tick, those first that somebody asked about, and a
// wallet that cannot be read less and less often. Nothing else waits for them.

import { type Address, type DelegationKey, delegationId } from '../registry/delegation.ts';
import type { LogPosition, LogRecord, Revocation, Settlement } from '../store/store.ts';
import { type Consensus, findConsensus } from './consensus.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import type { BlockId } from './node.ts';
import {
  checkDelegation,
  findEndingRevocation,
  type HeldOracle,
  listOracle,
  type Pair,
  type PairKey,
  readRevokedPairs,
  readVaultState,
} from './revoked-pairs.ts';

/** Pairs that are settled in one tick, wallets, and revocations of one of them. */
export const PAIRS = 200;
const VAULTS = 20;
const REVOCATIONS = 20;
/** Wallets that are looked at in one tick; those behind them have their turn in the next. */
const LOOKED_AT = 200;
/** Of one pair's delegations, the widest. */
const KEYS = 100;
/** After the first failure; then twice as long each time. */
const FIRST_PAUSE_MS = 5000;
const MOST_DOUBLINGS = 8;
const ASKED_KEPT = 100;

export interface Revocations {
  /** Settles some, within a budget. */
  settle(sources: TickProviders): Promise<void>;
  /** Somebody was refused an answer about this pair: it is settled first. */
  prioritize(vault: Address, delegate: Address): void;
  /** Settles those of a range again that all providers together tell otherwise, or better, than was noted. */
  verify(sources: TickProviders, from: number, to: number): Promise<void>;
  /** New revocations may have come in. */
  wake(): void;
}

/** A revocation, and the delegates that are asked about now. */
interface Part {
  readonly revocation: Revocation;
  readonly delegates: readonly Address[];
  /** There are no more. */
  readonly isAll: boolean;
  /** How far they go. */
  readonly last: number;
}

interface VaultTask {
  readonly vault: Address;
  readonly wishes: readonly Address[];
  readonly parts: readonly Part[];
}

/** What was read for all wallets of a tick together, and is written together. */
interface Round {
  /** By the slots; undefined where nobody has them. */
  isRevoked(block: BlockId, pair: Pair): boolean | undefined;
  logsOf(block: number): Promise<readonly LogRecord[]>;
  settled(settlement: Settlement): void;
  /** Writes what is settled: what the store says next counts with it. */
  flush(): Promise<void>;
}

const slotName = ({ hash }: BlockId, { vault, delegate }: Pair) => `${hash} ${vault} ${delegate}`;

/** The delegates of a wallet whose revocation a log names. */
function namedIn(vault: Address, logs: readonly LogRecord[]): ReadonlySet<Address> {
  const of = logs.flatMap(({ event, revoked }) => {
    if (event.type === 'delegateRevoked') return event.from === vault ? [event.to] : [];
    return event.type === 'unknownRevoked' && event.from === vault && revoked !== null ? [revoked] : [];
  });
  return new Set(of);
}

export function createRevocations(context: FollowerContext): Revocations {
  const { network, store, now, onEvent } = context;
  const { chainId } = network;
  const tried = new Map<Address, { failures: number; notBefore: number }>();
  /** How far the delegates of a wallet were asked about, by revocation. */
  const progress = new Map<string, number>();
  let wanted: { vault: Address; delegate: Address }[] = [];
  /** Where the wallets that are not settled were left off. */
  let lookedAt: Address | null = null;
  let mayHave = true;

  const nameOf = ({ vault, block }: Revocation) => `${vault} ${block.hash}`;

  async function settle(sources: TickProviders): Promise<void> {
    if (network.registries[1] === undefined || !mayHave || context.state?.head == null) return;
    const due = await dueVaults();
    const tasks: VaultTask[] = [];
    let budget = PAIRS;
    for (const vault of due.slice(0, VAULTS)) {
      if (budget <= 0) break;
      const task = await prepare(vault, budget);
      tasks.push(task);
      budget -= task.parts.reduce((sum, { delegates }) => sum + delegates.length, 0);
    }
    const round = await readRound(sources, tasks);
    for (const task of tasks) await settleVault(sources, round, task);
    await round.flush();
  }

  /** Those that somebody asked about, and a part of all others that do not rest. */
  async function dueVaults(): Promise<Address[]> {
    const page = await store.unsettledVaults(chainId, lookedAt, LOOKED_AT);
    if (page.length === 0 && lookedAt === null) mayHave = false;
    lookedAt = page.length < LOOKED_AT ? null : (page.at(-1) ?? null);
    const rested = page.filter((vault) => (tried.get(vault)?.notBefore ?? 0) <= now());
    return [...new Set([...wanted.map(({ vault }) => vault), ...rested])];
  }

  /** A wallet's open revocations, the oldest first, and the delegates that are asked about. */
  async function prepare(vault: Address, budget: number): Promise<VaultTask> {
    const wishes = wanted.filter((one) => one.vault === vault).map(({ delegate }) => delegate);
    wanted = wanted.filter((one) => one.vault !== vault);
    const all = await store.openRevocations(chainId, vault, REVOCATIONS);
    const parts: Part[] = [];
    let used = 0;
    for (const revocation of all) {
      if (used >= budget) break;
      const part = await partOf(revocation, revocation.block.number, wishes, budget - used);
      parts.push(part);
      used += part.delegates.length;
    }
    return { vault, wishes, parts };
  }

  /** What wallets of one block have in common is read once: its logs, and all their slots. */
  async function readRound(sources: TickProviders, tasks: readonly VaultTask[]): Promise<Round> {
    const blocks = new Map(
      tasks.flatMap(({ parts }) => parts.map(({ revocation }) => [revocation.block.hash, revocation.block])),
    );
    const revoked = new Map<string, boolean>();
    for (const block of blocks.values()) {
      const pairs = tasks.flatMap(({ vault, parts }) =>
        parts
          .filter(({ revocation }) => revocation.block.hash === block.hash)
          .flatMap(({ delegates }) => delegates.map((delegate): Pair => ({ vault, delegate }))),
      );
      const value = await slotsOf(sources, block, pairs);
      for (const [position, is] of (value ?? []).entries()) revoked.set(slotName(block, pairs[position] as Pair), is);
    }
    const logs = new Map<number, Promise<LogRecord[]>>();
    let pending: Settlement[] = [];
    return {
      isRevoked: (block, pair) => revoked.get(slotName(block, pair)),
      logsOf(block) {
        const found = logs.get(block) ?? logsOf(block);
        logs.set(block, found);
        return found;
      },
      settled: (settlement) => pending.push(settlement),
      async flush() {
        if (pending.length > 0) await write(pending);
        pending = [];
      },
    };
  }

  async function slotsOf(
    sources: TickProviders,
    block: BlockId,
    pairs: readonly Pair[],
  ): Promise<boolean[] | undefined> {
    if (pairs.length === 0) return [];
    const vaults = [...new Set(pairs.map(({ vault }) => vault))];
    const { value } = await findConsensus(context, allProviders(sources), { block, vaults }, ({ node }) =>
      readRevokedPairs(network, node, block, pairs),
    );
    return value;
  }

  const logsOf = (block: number) => store.logs(chainId, { from: block, to: block, limit: 100_000 });

  async function settleVault(sources: TickProviders, round: Round, { vault, wishes, parts }: VaultTask): Promise<void> {
    const left: Part[] = [];
    for (const part of parts) if (!(await settleAtBlock(sources, round, part, left.length === 0))) left.push(part);
    const [first] = left;
    if (first === undefined) {
      tried.delete(vault);
      return;
    }
    // Nobody has the state of those blocks: the head's says less, but something.
    await round.flush();
    const open = left.map(({ revocation }) => revocation);
    // As many as were asked about in vain, and one more, which tells that there are no others.
    const budget = left.reduce((sum, { delegates }) => sum + delegates.length, 1);
    const { isSettled, reason } = await settleAtHead(sources, vault, open, wishes, budget);
    if (!isSettled) postpone(vault, first.revocation, reason);
  }

  function postpone(vault: Address, { block }: Revocation, reason: string): void {
    const { failures } = tried.get(vault) ?? { failures: 0 };
    tried.set(vault, {
      failures: failures + 1,
      notBefore: now() + FIRST_PAUSE_MS * 2 ** Math.min(failures, MOST_DOUBLINGS),
    });
    if (failures === 0) onEvent({ type: 'unread', vault, block: block.number, reason });
  }

  /** The delegates to ask about, those first that somebody wants to know of. */
  async function partOf(revocation: Revocation, at: number, wishes: readonly Address[], limit: number): Promise<Part> {
    const { vault, block, logIndexes } = revocation;
    const before = { block: block.number, logIndex: logIndexes.at(-1) ?? 0 };
    const after = progress.get(nameOf(revocation)) ?? -1;
    const found = await store.delegates({ chainId, vault, before, at, after, limit });
    const delegates = [...new Set([...wishes, ...found.map(({ delegate }) => delegate)])];
    return { revocation, delegates, isAll: found.length < limit, last: found.at(-1)?.place ?? after };
  }

  /** By the state of the revocation's own block: nothing about it stays open. False where nobody has that state. */
  async function settleAtBlock(sources: TickProviders, round: Round, part: Part, isFirst: boolean): Promise<boolean> {
    const { revocation, delegates, isAll, last } = part;
    const { vault, block } = revocation;
    const ended = delegates.length === 0 ? [] : await endedIn(sources, round, part, isFirst);
    if (ended === null) return false;
    const known = new Set([...revocation.ended, ...ended].flatMap(({ endedBy }) => endedBy ?? []));
    // Each log revoked one delegate: when all are found, nobody else was.
    const complete = isAll || known.size === revocation.logIndexes.length;
    round.settled({ vault, block, readAt: block.number, pairs: ended, complete });
    if (complete) progress.delete(nameOf(revocation));
    else progress.set(nameOf(revocation), last);
    return true;
  }

  /** Whom of the delegates the revocations of a block ended, by its own state; null where nobody can tell. */
  async function endedIn(
    sources: TickProviders,
    round: Round,
    { revocation: { vault, block, logIndexes }, delegates }: Part,
    isFirst: boolean,
  ): Promise<Settlement['pairs'] | null> {
    const slots = delegates.map((delegate) => round.isRevoked(block, { vault, delegate }));
    // Without the slots, what the registry has left tells, unless an earlier revocation may have ended it too.
    if (slots.includes(undefined) && !isFirst) return null;
    const inBlock = await round.logsOf(block.number);
    const named = namedIn(vault, inBlock);
    const [first = 0] = logIndexes;
    const last = logIndexes.at(-1) ?? first;
    let state: Consensus<DelegationKey[]> | undefined;
    const pairs: { delegate: Address; endedBy: number | null }[] = [];
    for (const [position, delegate] of delegates.entries()) {
      const between = inBlock.some(
        ({ event, logIndex }) =>
          event.type === 'granted' &&
          event.delegation.version === 1 &&
          event.delegation.from === vault &&
          event.delegation.to === delegate &&
          logIndex > first &&
          logIndex < last,
      );
      if (slots[position] && !named.has(delegate) && !between) pairs.push({ delegate, endedBy: last });
      else if (slots[position] === false) pairs.push({ delegate, endedBy: null });
      else {
        // Another log of the block may be what changed the slot, or it is open which of several did.
        await round.flush();
        const positions = logIndexes.map((logIndex) => ({ block: block.number, logIndex }));
        state ??= await stateAt(sources, vault, block);
        const at = await endedByState(sources, { vault, delegate }, positions, block, state.value);
        if (at === undefined) return null;
        pairs.push({ delegate, endedBy: at?.logIndex ?? null });
      }
    }
    return pairs;
  }

  /** By what the registry has of the pair at a block. */
  async function endedByState(
    sources: TickProviders,
    pair: Pair,
    positions: readonly LogPosition[],
    block: BlockId,
    state: readonly DelegationKey[] | undefined,
  ): Promise<LogPosition | null | undefined> {
    const { vault, delegate } = pair;
    const held = await store.held(chainId, { from: vault, to: delegate }, block.number, KEYS);
    const regrants = await store.regrants(chainId, vault, positions[0] as LogPosition, block.number);
    const keys = held.map((key): PairKey => ({ ...key, granted: regrants.get(delegationId(key)) ?? key.since }));
    if (state !== undefined) return findEndingRevocation(keys, positions, listOracle(state));
    const isHeld: HeldOracle['isHeld'] = async (key) => {
      const { value } = await findConsensus(context, allProviders(sources), { block, vaults: [vault] }, ({ node }) =>
        checkDelegation(network, node, key, block),
      );
      return value ?? null;
    };
    return findEndingRevocation(keys, positions, { isHeld, isExact: false });
  }

  /** Everything that the registry has of a wallet; nothing where it is too much for every provider. */
  const stateAt = (sources: TickProviders, vault: Address, block: BlockId) =>
    findConsensus(context, allProviders(sources), { block, vaults: [vault] }, ({ node }) =>
      readVaultState(network, node, vault, block),
    );

  /** By the head's state: what was between the revocation and the head is not known. */
  async function settleAtHead(
    sources: TickProviders,
    vault: Address,
    open: readonly Revocation[],
    wishes: readonly Address[],
    budget: number,
  ): Promise<{ isSettled: boolean; reason: string }> {
    const head = context.state?.head;
    const newest = open.at(-1);
    if (head == null || newest === undefined) return { isSettled: true, reason: '' };
    const { delegates: all, isAll, last } = await partOf(newest, head.number, wishes, budget);
    const positions = open.flatMap(({ block, logIndexes }) =>
      logIndexes.map((logIndex): LogPosition => ({ block: block.number, logIndex })),
    );
    const { value: state, reason } = all.length === 0 ? { value: [], reason: '' } : await stateAt(sources, vault, head);
    const ended = new Map<Address, LogPosition | null>();
    let isKnown = true;
    for (const delegate of all) {
      const at = await endedByState(sources, { vault, delegate }, positions, head, state);
      if (at === undefined) isKnown = false;
      else ended.set(delegate, at);
    }
    const complete = isKnown && isAll;
    const settlements = open.map(({ block }): Settlement => {
      const pairs = [...ended].map(([delegate, at]) => ({
        delegate,
        endedBy: at?.block === block.number ? at.logIndex : null,
      }));
      return { vault, block, readAt: head.number, pairs, complete };
    });
    await write(settlements);
    if (isKnown && !isAll) progress.set(nameOf(newest), last);
    else progress.delete(nameOf(newest));
    return { isSettled: isKnown, reason };
  }

  async function write(settlements: readonly Settlement[]): Promise<void> {
    const plain = settlements.map((one) => ({ ...one, block: { number: one.block.number, hash: one.block.hash } }));
    await context.commit(({ epoch }) => store.settle(chainId, epoch, plain));
  }

  /** False where the state of its own block tells otherwise than was noted, or more. */
  async function isRight(sources: TickProviders, revocation: Revocation): Promise<boolean> {
    const { vault, block, readAt, ended } = revocation;
    // What was read of its own block, one provider alone would only repeat.
    if (readAt === null || (readAt === block.number && sources.others.length === 0)) return true;
    const wishes = ended.map(({ delegate }) => delegate);
    const { delegates } = await partOf(revocation, block.number, wishes, PAIRS);
    // Of these the slot says nothing: another log of the block changed it.
    const named = namedIn(vault, await logsOf(block.number));
    const all = delegates.filter((delegate) => !named.has(delegate));
    const value = await slotsOf(
      sources,
      block,
      all.map((delegate) => ({ vault, delegate })),
    );
    if (value === undefined) return true;
    if (readAt > block.number) {
      // Settled by a later state: better by its own, where somebody has all that this needs.
      const needsState = all.length < delegates.length;
      return needsState && (await stateAt(sources, vault, block)).value === undefined;
    }
    return value.every((revoked, position) => revoked === wishes.includes(all[position] as Address));
  }

  return {
    settle,
    prioritize(vault, delegate) {
      wanted = [...wanted, { vault, delegate }].slice(-ASKED_KEPT);
      mayHave = true;
    },
    async verify(sources, from, to) {
      if (network.registries[1] === undefined) return;
      for (const revocation of await store.revocations(chainId, { from, to })) {
        if (await isRight(sources, revocation)) continue;
        const { vault, block } = revocation;
        await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, block.number));
        tried.delete(vault);
        mayHave = true;
      }
      await settle(sources);
    },
    wake() {
      mayHave = true;
    },
  };
}

// Follows one chain: each tick asks one node, and ends in a commit that is right or in none.

import type { Address } from '../registry/delegation.ts';
import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { Batch, BlockInput, BlockRef, ChainState, Store, VaultState } from '../store/store.ts';
import { agreeing, disagreements, type Statement, type Subject, statementsOf, textOf, vaultsOf } from './answers.ts';
import { type Audit, auditLogs, readStatesAgain } from './audit.ts';
import { mayHold } from './bloom.ts';
import { compareLogs, confirmLogs, storedLogs } from './compare.ts';
import { Inconsistent, Lagging, Untrusted } from './errors.ts';
import { registryFilter } from './filter.ts';
import { groupLogs } from './logs.ts';
import type { Header, Node, NodeLog } from './node.ts';
import type { Providers } from './providers.ts';
import { type Nodes, readVault, resolveBlocks } from './resolve.ts';
import { RpcError } from './rpc.ts';
import { createScanner } from './scan.ts';

export interface FollowerOptions {
  readonly network: Network;
  readonly store: Store;
  readonly providers: Providers;
  /** Milliseconds. */
  readonly now: () => number;
  readonly finality?: Finality;
  /** Where to begin when the network does not say. */
  readonly firstBlock?: number;
  readonly onEvent?: (event: FollowerEvent) => void;
}

export type FollowerEvent =
  | { readonly type: 'reorg'; readonly from: number; readonly to: number }
  | { readonly type: 'missed'; readonly block: number; readonly logs: number }
  | { readonly type: 'differs'; readonly block: number; readonly what: readonly string[] }
  | { readonly type: 'shut'; readonly reason: string }
  | { readonly type: 'opened' }
  | { readonly type: 'unread'; readonly vaults: number };

export interface Follower {
  /** One step. Throws where it could not be made; nothing is half done then. `more`: there is work at once. */
  tick(): Promise<{ readonly more: boolean }>;
  /** Reads final blocks once more and mends the index; null where none of the range is final. Not during a tick. */
  audit(from: number, to: number): Promise<Audit | null>;
  /** Asks the registry itself, at the newest final block; null where there is none. Wrong answers shut the chain. */
  auditAnswers(subjects: readonly Subject[]): Promise<AnswersAudit | null>;
  /** How many blocks one call for logs asks for now. */
  readonly span: number;
  readonly state: ChainState | null;
  /** How many logs it has written. */
  readonly logs: number;
}

export interface AnswersAudit {
  /** How many could be compared. */
  readonly asked: number;
  readonly wrong: readonly Statement[];
}

/** Up to so many new blocks are read header by header; more are read as a range first. */
const LIVE_BLOCKS = 32;
/** The whole window is read again so often. */
const WINDOW_MS = 60_000;
/** Blocks younger than this are never final, whatever the node says. */
const YOUNGEST_FINAL_SECONDS = 60;
/** After so long without a new block the other nodes are asked whether there is one. */
const STILL_MS = 30_000;
/** Where the node has no finalized block. */
const FINALITY_WITHOUT_TAG: Finality = { seconds: 900 };
/** A commit holds no more logs than this, so that others have a turn; a fourth of it would be a third slower. */
const MOST_LOGS = 20_000;
/** Ranges that are read ahead of the one that is being written, and for how long in one tick. */
const AHEAD = 4;
const AHEAD_MS = 5000;
/** So many of the newest final blocks are read twice before they count as verified. */
const READ_TWICE_BLOCKS = 10_000;
/** What is said about a final block must be said so often, for so long, before it is believed against our own. */
const VIOLATION_READS = 3;
const VIOLATION_MS = 120_000;

/** How the reasons begin for which a chain opens again by itself. For any other, its operator must rewind it. */
const FINALITY_VIOLATION = 'A block that was final has changed';
const ANSWERS_DIFFER = 'The registry answers otherwise than the index';
/** So many wallets are read late in one tick; one that cannot be read is tried again after so long, and then twice that. */
const LATE_AT_ONCE = 20;
const LATE_MS = 5000;
/** Where a comparison of everything did not explain it, everything is compared again after so long. */
const RECONSIDER_MS = 600_000;

/** What the store refuses because it makes no sense, a node has sent. */
const NODES_FAULTS = new Set<string>(['bad-batch', 'numbered-otherwise']);

type Base = Pick<BlockRef, 'number'> & { readonly hash: BlockRef['hash'] | null };

interface Stretch {
  readonly end: Header;
  readonly blocks: readonly BlockInput[];
}

/** The registry answered otherwise than the index. */
interface Suspicion {
  /** What it said; after a restart nobody knows any more. */
  readonly statements: readonly Statement[];
  /** At this block. */
  readonly block: number;
  /** Where the comparison of all final blocks stands. */
  next: number;
  readonly notBefore: number;
}

export function createFollower(options: FollowerOptions): Follower {
  const { network, store, providers, now, onEvent } = options;
  const { chainId, registries } = network;
  const finality = options.finality ?? network.finality;
  const filter = registryFilter(network);
  const scanner = createScanner(filter);
  let state: ChainState | null = null;
  let checkedFinal = false;
  let windowReadAt = Number.NEGATIVE_INFINITY;
  let violation: { hash: string; since: number; reads: number } | null = null;
  let suspicion: Suspicion | null = null;
  let shorterSince: number | null = null;
  /** Wallets whose state could not be read, and when that is tried again. */
  const lateReads = new Map<string, { failures: number; notBefore: number }>();
  let mayHaveUnread = true;
  let movedAt = now();
  let logs = 0;

  /** Work with one node, whose doing its outcome is. */
  async function withNode<T>(work: (nodes: Nodes) => Promise<T>): Promise<T> {
    const provider = await providers.pick(now());
    try {
      const result = await work({ node: provider.node, others: providers.others(provider, now()) });
      providers.succeeded(provider);
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') throw await overtaken(error);
      if (!(error instanceof StoreError) || NODES_FAULTS.has(error.code)) providers.failed(provider, error, now());
      throw error;
    }
  }

  /** By another writer, or by a commit of our own of which we never heard: then we go on from where the store stands. */
  async function overtaken(error: StoreError): Promise<Error> {
    const stands = await store.chain(chainId);
    if (stands === null || stands.epoch !== state?.epoch) return error;
    state = stands;
    return new Inconsistent('the store had moved on');
  }

  async function step(nodes: Nodes): Promise<boolean> {
    const { node } = nodes;
    state ??= await start(node);
    const tip = await node.header('latest');
    if (tip === null) throw new RpcError('malformed', 'no latest block');
    if (state.shut !== null && !isSuspected()) return recover(nodes, state);
    await checkFinal(nodes, state);
    if (state.head !== null && tip.number < state.head.number) await requireShorter(nodes, tip, state.head);
    else shorterSince = null;
    if (tip.hash === state.head?.hash) await notFrozen(nodes, tip);
    else movedAt = now();
    const base = await commonBlock(nodes, state, tip);
    if (base === null) return false;
    if (tip.number - base.number > LIVE_BLOCKS) return readAhead(nodes, tip, base);
    if (base.hash !== tip.hash) await advance(nodes, tip, base);
    state = await store.report(chainId, state.epoch, { confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    await readLate(nodes);
    if (now() - windowReadAt >= WINDOW_MS) await readWindow(nodes, tip);
    return isSuspected() ? reconsider(nodes) : false;
  }

  const isSuspected = () => state?.shut?.startsWith(ANSWERS_DIFFER) ?? false;

  /**
   * A lower head proves nothing, unless it is of another branch than ours, stays so for a while, and no other node has our
   * head: then the chain has become shorter.
   */
  async function requireShorter({ node, others }: Nodes, tip: Header, head: BlockRef): Promise<void> {
    const lagging = new Lagging(`the node is at ${tip.number}, and we are at ${head.number}`);
    const from = state?.verified ?? state?.firstBlock ?? 0;
    const common = (await store.blocks(chainId, { from, to: tip.number })).at(-1);
    if (common === undefined || (await hasBlock(node, common))) {
      shorterSince = null;
      throw lagging;
    }
    for (const other of others) if (await hasBlock(other, head).catch(() => false)) throw lagging;
    shorterSince ??= now();
    if (now() - shorterSince < STILL_MS) throw lagging;
  }

  /** A node that stands still is well only if the others stand there too. */
  async function notFrozen({ others }: Nodes, tip: Header): Promise<void> {
    if (now() - movedAt < Math.max(STILL_MS, 4000 * network.blockSeconds)) return;
    movedAt = now();
    for (const other of others) {
      const theirs = await other.header('latest').catch(() => null);
      if (theirs !== null && theirs.number > tip.number) throw new Lagging(`another node is at ${theirs.number}`);
    }
  }

  async function start(node: Node): Promise<ChainState> {
    const known = await store.chain(chainId);
    if (known !== null) return store.claim(chainId, known.firstBlock);
    const first = options.firstBlock ?? (await firstBlockOf(node));
    const partial = await isPartial(node, first);
    const { epoch } = await store.claim(chainId, first);
    return store.report(chainId, epoch, { partial });
  }

  const published = registries[1] === undefined ? network.firstBlock[2] : network.firstBlock[1];

  /** Whether a registry was there before the first block that is read. Where nobody can tell, it may have been. */
  async function isPartial(node: Node, first: number): Promise<boolean> {
    if (published !== undefined || first === 0) return first > (published ?? 0);
    return hasRegistry(node, first - 1).catch(() => true);
  }

  async function hasRegistry(node: Node, block: number): Promise<boolean> {
    for (const address of filter.address) if (await node.hasCode(address, block)) return true;
    return false;
  }

  /** Of what the network publishes, or by looking for the registries' code. */
  async function firstBlockOf(node: Node): Promise<number> {
    if (published !== undefined) return published;
    const tip = await node.header('latest');
    if (tip === null) throw new RpcError('malformed', 'no latest block');
    if (!(await hasRegistry(node, tip.number))) throw new RpcError('refused', `chain ${chainId} has no registry`);
    return 1 + (await lastWhere(tip.number, async (block) => !(await hasRegistry(node, block))));
  }

  /** Once in a life: what we hold to be final must still be the chain's. */
  async function checkFinal(nodes: Nodes, { verified, head }: ChainState): Promise<void> {
    const { node } = nodes;
    if (checkedFinal || verified === null || head === null) return;
    const [kept] = await store.blocks(chainId, { from: verified, to: verified });
    const header = await node.header(verified);
    if (header === null) throw new Lagging(`the node does not know block ${verified}`);
    if (kept !== undefined && header.hash !== kept.hash) await finalChanged(nodes, kept, header);
    checkedFinal = true;
  }

  /** The newest block that we and the node have in common; null where that shut the chain. */
  async function commonBlock(
    nodes: Nodes,
    { head, verified, firstBlock }: ChainState,
    tip: Header,
  ): Promise<Base | null> {
    const { node } = nodes;
    if (state?.shut != null && !isSuspected()) return null;
    if (head === null) return { number: firstBlock - 1, hash: null };
    if (tip.hash === head.hash || (tip.number === head.number + 1 && tip.parentHash === head.hash)) return head;
    const isOurs = async (block: BlockRef) => {
      if (block.number > tip.number) return false;
      const header = block.number === tip.number ? tip : await node.header(block.number);
      if (header === null) throw new Inconsistent(`the node is at ${tip.number} and has no block ${block.number}`);
      return header.hash === block.hash;
    };
    if (await isOurs(head)) return head;
    const kept = await store.blocks(chainId, { from: verified ?? firstBlock, to: head.number - 1 });
    const found = kept[await lastWhere(kept.length, (position) => isOurs(kept[position] as BlockRef))];
    if (found !== undefined) return found;
    const [lowest] = kept;
    if (verified === null) return { number: firstBlock - 1, hash: null };
    const header = await node.header(verified);
    if (lowest === undefined || header === null || header.hash === lowest.hash) {
      throw new Inconsistent('the chain is changing');
    }
    await finalChanged(nodes, lowest, header);
    return null;
  }

  /** Reads the blocks above the base one by one, linked to each other, and puts them in the place of ours. */
  async function advance(nodes: Nodes, tip: Header, base: Base): Promise<void> {
    const { node } = nodes;
    const between = Array.from({ length: tip.number - base.number - 1 }, (_, turn) => base.number + 1 + turn);
    const headers = [...(await node.headers(between)), tip];
    let parent = base.hash;
    for (const { number, parentHash, hash } of headers) {
      if (parent !== null && parentHash !== parent)
        throw new Inconsistent(`block ${number} does not follow its parent`);
      parent = hash;
    }
    const logs = between.length > 0 ? await scanner.logs(node, base.number + 1, tip.number - 1) : [];
    // By its hash, for a node that does not have the block yet then says so instead of sending nothing.
    logs.push(...(await node.logsOfBlock(filter, tip.hash)));
    logs.push(...(await promised(nodes, headers, logs)));
    const known = new Map(headers.map((header) => [header.number, header]));
    const found = await resolveBlocks(nodes, network, groupLogs(logs), known);
    const withLogs = new Map(found.map((block) => [block.number, block]));
    const blocks = headers.map((header): BlockInput => withLogs.get(header.number) ?? { ...refOf(header), logs: [] });
    await commit({ end: tip, blocks }, base);
  }

  /** Logs that a bloom promises and that did not come: asked for again, elsewhere too. */
  async function promised({ node, others }: Nodes, headers: readonly Header[], logs: readonly NodeLog[]) {
    const seen = new Set(logs.map(({ blockHash }) => blockHash));
    const found: NodeLog[] = [];
    for (const { hash, bloom } of network.bloom ? headers : []) {
      if (bloom === null || seen.has(hash) || !promises(bloom)) continue;
      for (const one of [node, ...others]) {
        // Only the node that this tick keeps to must answer.
        const again = await one.logsOfBlock(filter, hash).catch((error) => {
          if (one === node) throw error;
          return [];
        });
        if (again.length === 0) continue;
        found.push(...again);
        break;
      }
    }
    return found;
  }

  const promises = (bloom: string) =>
    filter.address.some((address) => mayHold(bloom, address)) &&
    filter.topics.flat().some((topic) => mayHold(bloom, topic));

  /**
   * Reads many blocks at once: old history for good, and otherwise up to where block by block takes over. What is not old
   * is read a second time with the window before it counts as final.
   */
  async function readAhead(nodes: Nodes, tip: Header, base: Base): Promise<boolean> {
    if (state !== null) state = await store.report(chainId, state.epoch, { tip: tip.number });
    const old = Math.min(await finalNumber(nodes.node, tip), tip.number) - READ_TWICE_BLOCKS;
    const isOld = base.number < old;
    const last = isOld ? old : tip.number;
    const reads: Promise<Stretch>[] = [];
    const deadline = performance.now() + AHEAD_MS;
    let next = base.number + 1;
    const launch = () => {
      if (next > last || performance.now() > deadline) return;
      const to = Math.min(last, next + scanner.span - 1);
      const read = readRange(nodes, next, to, isOld);
      // Whoever comes first to fail is told of in its turn.
      read.catch(() => {});
      reads.push(read);
      next = to + 1;
    };
    for (let turn = 0; turn < AHEAD; turn++) launch();
    let from = base;
    for (let stretch = await reads.shift(); stretch !== undefined; stretch = await reads.shift()) {
      launch();
      if (!isOld) await requireStill(nodes.node, from);
      const isPast = stretch.end.timestamp <= tip.timestamp - YOUNGEST_FINAL_SECONDS;
      await commit(stretch, from, isOld && isPast);
      from = stretch.end;
    }
    return true;
  }

  /** What was read stands on the base only if the base is still the chain's. */
  async function requireStill(node: Node, { number, hash }: Base): Promise<void> {
    if (hash !== null && !(await hasBlock(node, { number, hash }))) {
      throw new Inconsistent(`block ${number} changed while what follows was read`);
    }
  }

  async function readRange(nodes: Nodes, from: number, to: number, isFinal: boolean): Promise<Stretch> {
    const { node } = nodes;
    const headerAt = async () => {
      const header = await node.header(to);
      if (header === null) throw new RpcError('refused', `the node has no block ${to}`);
      return header;
    };
    const before = isFinal ? null : await headerAt();
    const logs = await scanner.logs(node, from, to);
    const end = await headerAt();
    if (before !== null && before.hash !== end.hash) throw new Inconsistent(`block ${to} changed while it was read`);
    const known = new Map([[to, end]]);
    return { end, blocks: await resolveBlocks(nodes, network, groupLogs(logs), known) };
  }

  /** Writes a stretch on top of the base, in parts that are not too large; what we had above the base goes with the first. */
  async function commit({ end, blocks }: Stretch, base: Base, isVerified = false): Promise<void> {
    if (state === null) return;
    const before = state;
    const rollback = before.head !== null && base.number < before.head.number ? { rollbackTo: base.number } : {};
    const parts = partsOf(blocks);
    for (const [position, part] of parts.entries()) {
      const isLast = position === parts.length - 1;
      const head = isLast ? refOf(end) : refOf(part.at(-1) as BlockRef);
      const batch: Batch = {
        chainId,
        epoch: state.epoch,
        after: state.head,
        blocks: part,
        head,
        ...(position === 0 ? rollback : {}),
        ...(isVerified ? { verified: head.number } : {}),
      };
      await apply(batch);
      for (const block of part) logs += block.logs.length;
    }
    if (blocks.some(({ vaultStates = [] }) => vaultStates.some(({ held }) => held === null))) mayHaveUnread = true;
    if ('rollbackTo' in rollback) {
      mayHaveUnread = true;
      onEvent?.({ type: 'reorg', from: before.head?.number ?? 0, to: base.number });
    }
  }

  async function apply(batch: Batch): Promise<void> {
    const { lacking, surplus, ...result } = await store.apply(batch);
    ({ state } = result);
    if (lacking.length + surplus.length === 0) return;
    // A log was missed: it may still be in the window.
    windowReadAt = Number.NEGATIVE_INFINITY;
    mayHaveUnread = true;
    const vaults = new Set([...lacking, ...surplus].map(({ from }) => `v1 state of ${from}`));
    onEvent?.({ type: 'differs', block: batch.head.number, what: [...vaults] });
  }

  /** Reads at the head what wallets have left whose revocations nobody could read at their own blocks: a few at a time. */
  async function readLate({ node, others }: Nodes): Promise<void> {
    if (state?.head == null || registries[1] === undefined || !mayHaveUnread) return;
    const { head, epoch } = state;
    const unread = (await store.unreadRevocations(chainId)).filter(({ readAt }) => readAt === null);
    mayHaveUnread = unread.length > 0;
    const vaults = new Set(unread.map(({ vault }) => vault));
    for (const vault of lateReads.keys()) if (!vaults.has(vault as Address)) lateReads.delete(vault);
    const due = [...vaults].filter((vault) => (lateReads.get(vault)?.notBefore ?? 0) <= now()).slice(0, LATE_AT_ONCE);
    const lateStates: VaultState[] = [];
    try {
      for (const vault of due) {
        const { failures } = lateReads.get(vault) ?? { failures: 0 };
        // Also one that is read: where the reading shows that a log was missed, it stays unread.
        lateReads.set(vault, { failures: failures + 1, notBefore: now() + LATE_MS * 2 ** Math.min(failures, 8) });
        const read = await readVault([node, ...others], network, vault, head);
        if (read.held !== null) lateStates.push(read);
        else if (failures === 0) onEvent?.({ type: 'unread', vaults: vaults.size });
      }
    } finally {
      if (lateStates.length > 0) await apply({ chainId, epoch, after: head, blocks: [], head, lateStates });
    }
  }

  /** The newest block that counts as final by the node or by our own rule, whichever is older. */
  async function finalNumber(node: Node, tip: Header): Promise<number> {
    const depth = (seconds: number) => Math.ceil(seconds / network.blockSeconds);
    const youngest = tip.number - depth(YOUNGEST_FINAL_SECONDS);
    let rule = finality;
    if (rule === 'tag') {
      const tag = await node.header('finalized').catch((error) => {
        if (error instanceof RpcError && error.fault === 'refused') return null;
        throw error;
      });
      if (tag !== null) return Math.min(tag.number, youngest);
      rule = FINALITY_WITHOUT_TAG as Exclude<Finality, 'tag'>;
    }
    return Math.min(youngest, tip.number - ('blocks' in rule ? rule.blocks : depth(rule.seconds)));
  }

  /**
   * Reads all that is not final yet once more. Where it is what we have, what has become final by now counts as verified;
   * where something is missing here, it is read anew; where the node has less, the node is at fault.
   */
  async function readWindow(nodes: Nodes, tip: Header): Promise<void> {
    if (state?.head == null) return;
    const { node } = nodes;
    const { head, verified, firstBlock } = state;
    const floor = verified ?? firstBlock - 1;
    const final = await finalNumber(node, tip);
    const kept = await store.blocks(chainId, { from: Math.max(0, floor), to: head.number });
    const candidate = kept.findLast(
      ({ number, timestamp }) => number <= final && timestamp <= tip.timestamp - YOUNGEST_FINAL_SECONDS,
    );
    const isStill = (block: BlockRef) => hasBlock(node, block);
    if (candidate !== undefined && !(await isStill(candidate))) throw new Inconsistent('the window is changing');
    const found = groupLogs(await scanner.logs(node, floor + 1, head.number));
    const stored = await storedLogs(store, chainId, floor + 1, head.number);
    const { missing, surplus } = compareLogs(network, found, stored);
    if (missing.length > 0 || surplus.length > 0) {
      if (!(await isStill(head))) throw new Inconsistent('the window is changing');
      windowReadAt = now();
      const strange: BlockRef[] = [];
      for (const { block } of surplus) if (!(await isStill(block))) strange.push(block);
      // Of the very same block the node has less than we: that is the node's fault.
      if (strange.length < surplus.length) {
        throw new Untrusted(
          `the node lacks logs of block ${surplus.find(({ block }) => !strange.includes(block))?.block.number}`,
        );
      }
      await confirmLogs(node, missing);
      const from = Math.min(...missing.map(({ blockNumber }) => blockNumber), ...strange.map(({ number }) => number));
      onEvent?.({ type: 'missed', block: from, logs: missing.length });
      await readAgain(nodes, tip, kept, from);
      return;
    }
    if (candidate !== undefined && candidate.number > floor) {
      if (!(await isStill(candidate))) throw new Inconsistent('the window is changing');
      const batch = { chainId, epoch: state.epoch, after: head, blocks: [], head, verified: candidate.number };
      ({ state } = await store.apply(batch));
    }
    windowReadAt = now();
  }

  /** Everything from a block on is read again, on top of what we and the node have in common below it. */
  async function readAgain(nodes: Nodes, tip: Header, kept: readonly BlockRef[], first: number) {
    const { node } = nodes;
    let base: Base = { number: first - 1, hash: null };
    for (const block of kept.filter(({ number }) => number < first).reverse()) {
      if (!(await hasBlock(node, block))) continue;
      base = block;
      break;
    }
    if (tip.number - base.number <= LIVE_BLOCKS) return advance(nodes, tip, base);
    const stretch = await readRange(nodes, base.number + 1, tip.number, false);
    await requireStill(node, base);
    await commit(stretch, base);
  }

  /** Reads final blocks once more; those above what is verified are the window's. */
  async function audit(nodes: Nodes, from: number, to: number): Promise<Audit | null> {
    if (state === null || state.verified === null) return null;
    const [low, high] = [Math.max(from, state.firstBlock), Math.min(to, state.verified)];
    if (low > high) return null;
    const [final] = await store.blocks(chainId, { from: state.verified, to: state.verified });
    // Of another branch it can tell nothing about this one.
    if (final !== undefined && !(await hasBlock(nodes.node, final))) {
      throw new Untrusted(`the node does not have our final block ${final.number}`);
    }
    // A repair makes readings of state void, whatever comes after it.
    mayHaveUnread = true;
    const result = await auditLogs({ network, store, scanner }, nodes, state, low, high);
    ({ state } = result);
    if (result.missed > 0) {
      mayHaveUnread = true;
      onEvent?.({ type: 'missed', block: low, logs: result.missed });
    }
    if (result.wrongFrom !== null) {
      await shut(`Block ${result.wrongFrom} has a log here that the chain does not have.`);
    }
    return result;
  }

  /** Our answers against the registry's own, at a final block. Where other nodes say the same, our rows are wrong. */
  async function compareAnswers({ node, others }: Nodes, subjects: readonly Subject[]): Promise<AnswersAudit | null> {
    if (state === null || state.verified === null) return null;
    const [block] = await store.blocks(chainId, { from: state.verified, to: state.verified });
    if (block === undefined) return null;
    const statements = await statementsOf(network, node, block, subjects);
    const wrong = await disagreements(network, store, block.number, statements);
    if (wrong.length === 0) return { asked: statements.length, wrong };
    const what = wrong.map(({ subject }) => subject);
    for (const other of others) {
      const said = await statementsOf(network, other, block, what).catch(() => []);
      if ((await disagreements(network, store, block.number, said)).length < said.length) {
        throw new Untrusted(`another node agrees with the index about ${textOf(what[0] as Subject)}`);
      }
    }
    onEvent?.({ type: 'differs', block: block.number, what: what.map(textOf) });
    suspicion = { block: block.number, statements: wrong, next: state.firstBlock, notBefore: now() };
    await shut(`${ANSWERS_DIFFER}: ${wrong.length} of ${statements.length} at block ${block.number}.`);
    return { asked: statements.length, wrong };
  }

  /**
   * The way out of wrong answers. They are asked for once more; where they stay, every final block is compared and mended,
   * a part in each tick, and so are the readings of state of the wallets in question.
   */
  async function reconsider(nodes: Nodes): Promise<boolean> {
    if (state?.verified == null) return false;
    suspicion ??= { statements: [], block: state.verified, next: state.firstBlock, notBefore: now() };
    if (now() < suspicion.notBefore) return false;
    const { statements, block, next } = suspicion;
    if (next <= state.firstBlock && statements.length > 0 && (await isCleared(nodes, suspicion))) return true;
    const to = Math.min(state.verified, next + scanner.span - 1);
    const compared = await audit(nodes, next, to);
    if (compared === null || compared.wrongFrom !== null) return false;
    const vaults = statements.length === 0 ? null : vaultsOf(statements.map(({ subject }) => subject));
    state = await readStatesAgain({ network, store }, nodes, state, { from: next, to, vaults });
    mayHaveUnread = true;
    if (to < (state.verified ?? 0)) {
      suspicion.next = to + 1;
      return true;
    }
    if (statements.length === 0) {
      suspicion = null;
      return open();
    }
    if (await isCleared(nodes, suspicion)) return true;
    suspicion = { statements, block, next: state.firstBlock, notBefore: now() + RECONSIDER_MS };
    return false;
  }

  /** Opens the chain where a node says now what the index says, or where none can tell and the index says what was said. */
  async function isCleared({ node, others }: Nodes, { statements, block: then }: Suspicion): Promise<boolean> {
    const final = state?.verified ?? 0;
    const [block] = await store.blocks(chainId, { from: final, to: final });
    if (block === undefined) return false;
    const subjects = statements.map(({ subject }) => subject);
    const agree = await agreeing(network, store, [node, ...others], block, subjects);
    const isMended =
      agree === null && then <= final && (await disagreements(network, store, then, statements)).length === 0;
    if (!isMended && (agree === null || agree.length === 0)) return false;
    suspicion = null;
    await open();
    if (agree !== null && !agree.includes(node))
      throw new Untrusted('the registry of another node agrees with the index');
    return true;
  }

  /** A final block that is another now: the chain answers no more, unless another node still has ours. */
  async function finalChanged({ others }: Nodes, ours: BlockRef, header: Header): Promise<void> {
    for (const other of others) {
      const said = await other.header(ours.number).catch(() => null);
      if (said?.hash === ours.hash) throw new Untrusted(`the node has another block ${ours.number} than all others`);
    }
    violation = { hash: header.hash, since: now(), reads: 1 };
    await shut(`${FINALITY_VIOLATION}: block ${ours.number} is now ${header.hash}.`);
  }

  const isOpen = () => state !== null && state.shut === null;

  async function shut(reason: string): Promise<void> {
    if (state === null) return;
    state = await store.report(chainId, state.epoch, { shut: reason });
    onEvent?.({ type: 'shut', reason });
  }

  /** The way out of a final block that changed: it is ours again, or all nodes keep saying that it is another. */
  async function recover({ node, others }: Nodes, { verified, firstBlock, epoch }: ChainState): Promise<boolean> {
    if (!state?.shut?.startsWith(FINALITY_VIOLATION)) return false;
    if (verified === null || state.head === null) return open();
    const [kept] = await store.blocks(chainId, { from: verified, to: verified });
    const header = await node.header(verified);
    if (header === null) throw new Lagging(`the node does not know block ${verified}`);
    if (kept === undefined || header.hash === kept.hash) return open();
    if (violation?.hash !== header.hash) violation = { hash: header.hash, since: now(), reads: 0 };
    violation.reads++;
    if (violation.reads < VIOLATION_READS || now() - violation.since < VIOLATION_MS) return false;
    for (const other of others) {
      const said = await other.header(verified).catch(() => null);
      if (said?.hash === kept.hash) throw new Untrusted(`the node has another block ${verified} than the others`);
      if (said?.hash !== header.hash) throw new Inconsistent(`the nodes do not agree about block ${verified}`);
    }
    const blocks = await store.blocks(chainId, { from: firstBlock, to: verified });
    const common = blocks[await lastWhere(blocks.length, (position) => hasBlock(node, blocks[position] as BlockRef))];
    if (common === undefined) throw new Untrusted('the node has nothing in common with the index');
    ({ state } = await store.apply({
      chainId,
      epoch,
      after: state.head,
      rollbackTo: common.number,
      blocks: [],
      head: common,
    }));
    onEvent?.({ type: 'reorg', from: verified, to: common.number });
    return open();
  }

  async function open(): Promise<boolean> {
    if (state === null) return false;
    violation = null;
    // What was in doubt before stays in doubt.
    const reason = suspicion === null ? null : `${ANSWERS_DIFFER}, at block ${suspicion.block}.`;
    state = await store.report(chainId, state.epoch, { shut: reason });
    if (reason === null) onEvent?.({ type: 'opened' });
    return true;
  }

  return {
    tick: async () => ({ more: await withNode(step) }),
    audit: async (from, to) => (isOpen() ? withNode((nodes) => audit(nodes, from, to)) : null),
    auditAnswers: async (subjects) => (isOpen() ? withNode((nodes) => compareAnswers(nodes, subjects)) : null),
    get span() {
      return scanner.span;
    },
    get state() {
      return state;
    },
    get logs() {
      return logs;
    },
  };
}

/** Whether the node has this very block at its height. */
const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>) =>
  (await node.header(number))?.hash === hash;

/** Of the positions below the end, of which the first ones fit and the others do not, the last that fits; -1 for none. */
async function lastWhere(end: number, fits: (position: number) => Promise<boolean>): Promise<number> {
  let [good, bad] = [-1, end];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (await fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

const refOf = ({ number, hash, timestamp }: BlockRef): BlockRef => ({ number, hash, timestamp });

/** Whole blocks, so many that no part holds more logs than a commit should. There is always one part. */
function partsOf(blocks: readonly BlockInput[]): BlockInput[][] {
  const parts: BlockInput[][] = [[]];
  let logs = 0;
  for (const block of blocks) {
    if (logs > 0 && logs + block.logs.length > MOST_LOGS) {
      parts.push([]);
      logs = 0;
    }
    parts.at(-1)?.push(block);
    logs += block.logs.length;
  }
  return parts;
}

// Follows one chain: each tick asks one node, and ends in a commit that is right or in none.

import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { Batch, BlockInput, BlockRef, ChainState, Store } from '../store/store.ts';
import type { Subject } from './answers.ts';
import { type Audit, auditLogs } from './audit.ts';
import { mayHold } from './bloom.ts';
import { compareLogs, confirmLogs, storedLogs } from './compare.ts';
import { type AnswersAudit, createDoubt } from './doubt.ts';
import { Inconsistent, Lagging, Untrusted } from './errors.ts';
import { registryFilter } from './filter.ts';
import { finalNumber, YOUNGEST_FINAL_SECONDS } from './finality.ts';
import { firstBlockOf, isPartial } from './first-block.ts';
import { createFollowed, type FollowerEvent } from './followed.ts';
import { createLateReads } from './late-reads.ts';
import { groupLogs } from './logs.ts';
import type { Header, Node, NodeLog } from './node.ts';
import type { Providers } from './providers.ts';
import { type Nodes, resolveBlocks } from './resolve.ts';
import { RpcError } from './rpc.ts';
import { createScanner } from './scan.ts';
import { hasBlock, lastWhere } from './search.ts';
import { createViolation } from './violation.ts';

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

/** Up to so many new blocks are read header by header; more are read as a range first. */
const LIVE_BLOCKS = 32;
/** The whole window is read again so often. */
const WINDOW_MS = 60_000;
/** After so long without a new block the other nodes are asked whether there is one. */
const STILL_MS = 30_000;
/** A commit holds no more logs than this, so that others have a turn; a fourth of it would be a third slower. */
const MOST_LOGS = 20_000;
/** Ranges that are read ahead of the one that is being written, and for how long in one tick. */
const AHEAD = 4;
const AHEAD_MS = 5000;
/** So many of the newest final blocks are read twice before they count as verified. */
const READ_TWICE_BLOCKS = 10_000;
/** What the store refuses because it makes no sense, a node has sent. */
const NODES_FAULTS = new Set<string>(['bad-batch', 'numbered-otherwise']);

type Base = Pick<BlockRef, 'number'> & { readonly hash: BlockRef['hash'] | null };

interface Stretch {
  readonly end: Header;
  readonly blocks: readonly BlockInput[];
}

export function createFollower(options: FollowerOptions): Follower {
  const { network, store, providers, now, onEvent = () => {} } = options;
  const { chainId } = network;
  const finality = options.finality ?? network.finality;
  const filter = registryFilter(network);
  const scanner = createScanner(filter);
  const chain = createFollowed({ network, store, scanner, now, onEvent });
  const readLate = createLateReads(chain);
  const violation = createViolation(chain);
  const doubt = createDoubt(chain, audit);
  let checkedFinal = false;
  let shorterSince: number | null = null;
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
    if (stands === null || stands.epoch !== chain.state?.epoch) return error;
    chain.state = stands;
    return new Inconsistent('the store had moved on');
  }

  async function step(nodes: Nodes): Promise<boolean> {
    const { node } = nodes;
    chain.state ??= await start(node);
    const { state } = chain;
    const tip = await node.header('latest');
    if (tip === null) throw new RpcError('malformed', 'no latest block');
    if (state.shut !== null && !doubt.isOn()) return reopen(nodes, state);
    await checkFinal(nodes, state);
    if (state.head !== null && tip.number < state.head.number) await requireShorter(nodes, tip, state.head);
    else shorterSince = null;
    if (tip.hash === state.head?.hash) await notFrozen(nodes, tip);
    else movedAt = now();
    const base = await commonBlock(nodes, state, tip);
    if (base === null) return false;
    if (tip.number - base.number > LIVE_BLOCKS) return readAhead(nodes, tip, base);
    if (base.hash !== tip.hash) await advance(nodes, tip, base);
    chain.state = await store.report(chainId, state.epoch, { confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    await readLate(nodes);
    if (now() - chain.windowReadAt >= WINDOW_MS) await readWindow(nodes, tip);
    return doubt.isOn() ? doubt.reconsider(nodes) : false;
  }

  /**
   * A lower head proves nothing, unless it is of another branch than ours, stays so for a while, and no other node has our
   * head: then the chain has become shorter.
   */
  async function requireShorter({ node, others }: Nodes, tip: Header, head: BlockRef): Promise<void> {
    const lagging = new Lagging(`the node is at ${tip.number}, and we are at ${head.number}`);
    const from = chain.state?.verified ?? chain.state?.firstBlock ?? 0;
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
    const first = options.firstBlock ?? (await firstBlockOf(network, node));
    const partial = await isPartial(network, node, first);
    const { epoch } = await store.claim(chainId, first);
    return store.report(chainId, epoch, { partial });
  }

  /** A chain that is shut for a final block that changed opens when that is over. */
  async function reopen(nodes: Nodes, state: ChainState): Promise<boolean> {
    if (!(await violation.isOver(nodes, state))) return false;
    // What was in doubt before stays in doubt.
    await chain.shut(doubt.reason());
    return true;
  }

  /** Once in a life: what we hold to be final must still be the chain's. */
  async function checkFinal(nodes: Nodes, { verified, head }: ChainState): Promise<void> {
    const { node } = nodes;
    if (checkedFinal || verified === null || head === null) return;
    const kept = await chain.finalBlock();
    const header = await node.header(verified);
    if (header === null) throw new Lagging(`the node does not know block ${verified}`);
    if (kept !== undefined && header.hash !== kept.hash) await violation.changed(nodes, kept, header);
    checkedFinal = true;
  }

  /** The newest block that we and the node have in common; null where that shut the chain. */
  async function commonBlock(
    nodes: Nodes,
    { head, verified, firstBlock }: ChainState,
    tip: Header,
  ): Promise<Base | null> {
    const { node } = nodes;
    if (chain.state?.shut != null && !doubt.isOn()) return null;
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
    await violation.changed(nodes, lowest, header);
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
    if (chain.state !== null) chain.state = await store.report(chainId, chain.state.epoch, { tip: tip.number });
    const old = Math.min(await finalNumber(network, finality, nodes.node, tip), tip.number) - READ_TWICE_BLOCKS;
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
    if (chain.state === null) return;
    const before = chain.state;
    const rollback = before.head !== null && base.number < before.head.number ? { rollbackTo: base.number } : {};
    const parts = partsOf(blocks);
    for (const [position, part] of parts.entries()) {
      const isLast = position === parts.length - 1;
      const head = isLast ? refOf(end) : refOf(part.at(-1) as BlockRef);
      const batch: Batch = {
        chainId,
        epoch: chain.state.epoch,
        after: chain.state.head,
        blocks: part,
        head,
        ...(position === 0 ? rollback : {}),
        ...(isVerified ? { verified: head.number } : {}),
      };
      await chain.apply(batch);
      for (const block of part) logs += block.logs.length;
    }
    if (blocks.some(({ vaultStates = [] }) => vaultStates.some(({ held }) => held === null)))
      chain.mayHaveUnread = true;
    if ('rollbackTo' in rollback) {
      chain.mayHaveUnread = true;
      onEvent({ type: 'reorg', from: before.head?.number ?? 0, to: base.number });
    }
  }

  /**
   * Reads all that is not final yet once more. Where it is what we have, what has become final by now counts as verified;
   * where something is missing here, it is read anew; where the node has less, the node is at fault.
   */
  async function readWindow(nodes: Nodes, tip: Header): Promise<void> {
    if (chain.state?.head == null) return;
    const { node } = nodes;
    const { head, verified, firstBlock } = chain.state;
    const floor = verified ?? firstBlock - 1;
    const final = await finalNumber(network, finality, node, tip);
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
      chain.windowReadAt = now();
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
      onEvent({ type: 'missed', block: from, logs: missing.length });
      await readAgain(nodes, tip, kept, from);
      return;
    }
    if (candidate !== undefined && candidate.number > floor) {
      if (!(await isStill(candidate))) throw new Inconsistent('the window is changing');
      const batch = { chainId, epoch: chain.state.epoch, after: head, blocks: [], head, verified: candidate.number };
      await chain.apply(batch);
    }
    chain.windowReadAt = now();
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
    if (chain.state === null || chain.state.verified === null) return null;
    const [low, high] = [Math.max(from, chain.state.firstBlock), Math.min(to, chain.state.verified)];
    if (low > high) return null;
    const final = await chain.finalBlock();
    // Of another branch it can tell nothing about this one.
    if (final !== undefined && !(await hasBlock(nodes.node, final))) {
      throw new Untrusted(`the node does not have our final block ${final.number}`);
    }
    // A repair makes readings of chain.state void, whatever comes after it.
    chain.mayHaveUnread = true;
    const result = await auditLogs({ network, store, scanner }, nodes, chain.state, low, high);
    chain.state = result.state;
    if (result.missed > 0) {
      chain.mayHaveUnread = true;
      onEvent({ type: 'missed', block: low, logs: result.missed });
    }
    if (result.wrongFrom !== null) {
      await chain.shut(`Block ${result.wrongFrom} has a log here that the chain does not have.`);
    }
    return result;
  }

  const isOpen = () => chain.state !== null && chain.state.shut === null;

  return {
    tick: async () => ({ more: await withNode(step) }),
    audit: async (from, to) => (isOpen() ? withNode((nodes) => audit(nodes, from, to)) : null),
    auditAnswers: async (subjects) => (isOpen() ? withNode((nodes) => doubt.compare(nodes, subjects)) : null),
    get span() {
      return scanner.span;
    },
    get state() {
      return chain.state;
    },
    get logs() {
      return logs;
    },
  };
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

// Follows one chain: each tick asks one node, and ends in a commit that is right or in none.

import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { Batch, BlockInput, BlockRef, ChainState, Store, VaultState } from '../store/store.ts';
import { disagreements, type Statement, type Subject, statementsOf, textOf } from './answers.ts';
import { type Audit, auditLogs } from './audit.ts';
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
/** Where a comparison of everything did not explain it, everything is compared again after so long. */
const RECONSIDER_MS = 600_000;

type Base = Pick<BlockRef, 'number'> & { readonly hash: BlockRef['hash'] | null };

interface Stretch {
  readonly end: Header;
  readonly blocks: readonly BlockInput[];
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
  let suspicion: { block: number; statements: readonly Statement[]; next: number; notBefore: number } | null = null;
  let mayHaveUnread = true;
  let movedAt = now();
  let logs = 0;

  /** Work with one node, whose doing its outcome is. */
  async function withNode<T>(work: (nodes: Nodes) => Promise<T>): Promise<T> {
    const provider = await providers.pick(now());
    try {
      const result = await work({ node: provider.node, others: providers.others(provider) });
      providers.succeeded(provider);
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') throw await overtaken(error);
      // What the store refuses as senseless, a node has sent.
      if (!(error instanceof StoreError) || error.code === 'bad-batch') providers.failed(provider, error, now());
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
    if (state.shut !== null) return recover(nodes, state);
    await checkFinal(nodes, state);
    if (state.head !== null && tip.number < state.head.number) {
      throw new Lagging(`the node is at ${tip.number}, and we are at ${state.head.number}`);
    }
    if (tip.hash === state.head?.hash) await notFrozen(nodes, tip);
    else movedAt = now();
    const base = await commonBlock(nodes, state, tip);
    if (base === null) return false;
    if (tip.number - base.number > LIVE_BLOCKS) return readAhead(nodes, tip, base);
    if (base.hash !== tip.hash) await advance(nodes, tip, base);
    await readLate(nodes);
    state = await store.report(chainId, state.epoch, { confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    if (now() - windowReadAt >= WINDOW_MS) await readWindow(nodes, tip);
    return false;
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
    return store.claim(chainId, known?.firstBlock ?? options.firstBlock ?? (await firstBlockOf(node)));
  }

  /** Of what the network publishes, or by looking for the registries' code. */
  async function firstBlockOf(node: Node): Promise<number> {
    const { firstBlock } = network;
    const published = registries[1] === undefined ? firstBlock[2] : firstBlock[1];
    if (published !== undefined) return published;
    const tip = await node.header('latest');
    if (tip === null) throw new RpcError('malformed', 'no latest block');
    const hasRegistry = async (block: number) => {
      for (const address of filter.address) if (await node.hasCode(address, block)) return true;
      return false;
    };
    if (!(await hasRegistry(tip.number))) throw new RpcError('refused', `chain ${chainId} has no registry`);
    return 1 + (await lastWhere(tip.number, async (block) => !(await hasRegistry(block))));
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
    if (state?.shut != null) return null;
    if (head === null) return { number: firstBlock - 1, hash: null };
    if (tip.hash === head.hash || (tip.number === head.number + 1 && tip.parentHash === head.hash)) return head;
    const isOurs = async (block: BlockRef) => {
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
      ({ state } = await store.apply(batch));
      for (const block of part) logs += block.logs.length;
    }
    if (blocks.some(({ vaultStates = [] }) => vaultStates.some(({ held }) => held === null))) mayHaveUnread = true;
    if ('rollbackTo' in rollback) {
      mayHaveUnread = true;
      onEvent?.({ type: 'reorg', from: before.head?.number ?? 0, to: base.number });
    }
  }

  /** Reads at the head what wallets have left whose revocations nobody could read at their own blocks. */
  async function readLate({ node, others }: Nodes): Promise<void> {
    if (state?.head == null || registries[1] === undefined || !mayHaveUnread) return;
    const { head, epoch } = state;
    const unread = (await store.unreadRevocations(chainId)).filter(({ readAt }) => readAt === null);
    const lateStates: VaultState[] = [];
    for (const vault of new Set(unread.map((one) => one.vault))) {
      const read = await readVault([node, ...others], network, vault, head);
      if (read.held !== null) lateStates.push(read);
    }
    if (lateStates.length > 0) {
      ({ state } = await store.apply({ chainId, epoch, after: head, blocks: [], head, lateStates }));
    }
    mayHaveUnread = unread.length > 0;
    if (unread.length > 0) onEvent?.({ type: 'unread', vaults: unread.length });
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

  /** The way out of wrong answers: every final block is compared and mended, until the index says what the registry said. */
  async function reconsider(nodes: Nodes, { epoch, firstBlock, verified }: ChainState): Promise<boolean> {
    if (suspicion === null || verified === null || now() < suspicion.notBefore) return false;
    const to = Math.min(verified, suspicion.next + scanner.span - 1);
    const compared = await audit(nodes, suspicion.next, to);
    if (compared !== null && compared.wrongFrom !== null) return false;
    if (to < verified) {
      suspicion.next = to + 1;
      return true;
    }
    const { block, statements } = suspicion;
    // A repair may have gone back below it: then all above is being read anew.
    const isStillThere = (state?.head?.number ?? 0) >= block;
    const said = isStillThere ? await saidAgain(nodes.node, block, statements) : [];
    if ((await disagreements(network, store, block, said)).length > 0) {
      suspicion = { block, statements, next: firstBlock, notBefore: now() + RECONSIDER_MS };
      return false;
    }
    suspicion = null;
    return open(epoch);
  }

  /** What the node says now, or, where it cannot tell any more, what was said then. */
  async function saidAgain(node: Node, number: number, statements: readonly Statement[]) {
    const [block] = await store.blocks(chainId, { from: number, to: number });
    if (block === undefined) return statements;
    const subjects = statements.map(({ subject }) => subject);
    const again = await statementsOf(network, node, block, subjects);
    return again.length === subjects.length ? again : statements;
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
    if (state?.shut?.startsWith(ANSWERS_DIFFER)) return reconsider({ node, others }, state);
    if (!state?.shut?.startsWith(FINALITY_VIOLATION)) return false;
    if (verified === null || state.head === null) return open(epoch);
    const [kept] = await store.blocks(chainId, { from: verified, to: verified });
    const header = await node.header(verified);
    if (header === null) throw new Lagging(`the node does not know block ${verified}`);
    if (kept === undefined || header.hash === kept.hash) return open(epoch);
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
    return open(epoch);
  }

  async function open(epoch: number): Promise<boolean> {
    violation = null;
    state = await store.report(chainId, epoch, { shut: null });
    onEvent?.({ type: 'opened' });
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

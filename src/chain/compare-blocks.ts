// Reads blocks again from every provider and puts the index right. What a provider said once is not taken for the truth for ever.

import type { BlockInput, BlockRef, ChainState, LogInput } from '../store/store.ts';
import {
  blocksWithLogs,
  eventKeys,
  groupStoredLogs,
  missingFrom,
  type ProviderLogs,
  readStoredLogs,
} from './compare-logs.ts';
import type { FollowerContext } from './context.ts';
import { Inconsistent, Lagging, Untrusted } from './errors.ts';
import { findAgreedBlock } from './find-block.ts';
import { groupLogs } from './group-logs.ts';
import type { BlockId, Header, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { resolveBlocks } from './resolve-blocks.ts';
import { heldBefore, type LogEntry, settleLogs } from './settle-logs.ts';

export interface Comparison {
  readonly logs: number;
  /** Blocks whose logs were wrong here, and are right now. */
  readonly repaired: number;
  /** How many providers could be compared with. */
  readonly sources: number;
  /** False where so much differed that the rest is left for the next time. */
  readonly isWhole: boolean;
}

/** So many blocks are put right in one go. */
const MOST_BLOCKS = 64;
/** Times that are compared with headers in one go, where two providers' logs do not tell the same. */
const MOST_TIMES = 500;

/**
 * Compares a range of blocks with all providers that have the anchor, and replaces the logs of those blocks that are wrong
 * here. ProviderPool that are found wrong are blamed. Of the one that is known to have the anchor, that is not asked.
 */
export async function compareBlocks(
  context: FollowerContext,
  sources: readonly Provider[],
  anchor: BlockId,
  from: number,
  to: number,
  known?: Provider,
): Promise<Comparison> {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const answered = await askAll(context, sources, anchor, from, to, known);
  const logs = await readStoredLogs(store, chainId, from, to);
  const stored = groupStoredLogs(logs);
  const blocks: BlockInput[] = [];
  /** ProviderPool that lack logs of this range: that they lack more of them is no news. */
  const lacking = new Set<Provider>();
  let isWhole = true;
  for (const number of blocksWithLogs(stored, answered)) {
    const ours = stored.get(number);
    const ourTexts = eventKeys(network, ours?.logs ?? []);
    const isNews = ({ source, blocks: own }: ProviderLogs) => {
      const theirs = own.get(number);
      const texts = theirs === undefined ? [] : eventKeys(network, theirs.logs);
      const isSame =
        (ours === undefined || theirs === undefined || theirs.hash === ours.hash) && isEqual(texts, ourTexts);
      return (
        !isSame && !(lacking.has(source) && texts.length < ourTexts.length && missingFrom(ourTexts, texts).length === 0)
      );
    };
    if (!answered.some(isNews)) continue;
    if (blocks.length >= MOST_BLOCKS) {
      isWhole = false;
      break;
    }
    const block = ours
      ? { number, hash: ours.hash }
      : await findAgreedBlock(
          answered.map(({ source }) => source),
          number,
        );
    const told = answered.map(({ source, blocks: own }) => {
      const found = own.get(number);
      return { source, logs: found?.hash === block.hash ? found.logs : [] };
    });
    const settled = await settleLogs(network, {
      block,
      told,
      stored: ours?.logs ?? [],
      before: heldBefore(context, number),
    });
    const texts = settled.map(({ text }) => text);
    for (const { source, logs: own } of told) {
      if (isEqual(eventKeys(network, own), texts)) continue;
      lacking.add(source);
      context.blame(source, new Untrusted(`the provider has other logs of block ${number}`));
    }
    if (!isEqual(ourTexts, texts)) blocks.push(await inputOf(context, answered, block, settled));
  }
  if (blocks.length > 0) {
    const repaired = blocks.map(({ number, hash, timestamp, logs: all }) => ({ number, hash, timestamp, logs: all }));
    await context.commit(({ epoch }) => store.repair({ chainId, epoch, blocks: repaired }));
    const providers = answered.map(({ source }) => source.name);
    onEvent({ type: 'repaired', block: (blocks[0] as BlockInput).number, blocks: blocks.length, providers });
  }
  await compareTimes(context, answered, from, to);
  return { logs: logs.length, repaired: blocks.length, sources: answered.length, isWhole };
}

const isEqual = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((text, position) => text === b[position]);

/** What every provider that is on our branch has of the range; throws where none has anything to say. */
async function askAll(
  context: FollowerContext,
  sources: readonly Provider[],
  anchor: BlockId,
  from: number,
  to: number,
  known: Provider | undefined,
): Promise<ProviderLogs[]> {
  let failure: unknown = new Lagging('no provider can be asked');
  const answers = await Promise.all(
    sources.map(async (source): Promise<ProviderLogs[]> => {
      try {
        // The hash says that it is our chain and branch.
        const header = source === known ? anchor : await source.node.header(anchor.number);
        if (header?.hash !== anchor.hash) {
          const what = `the provider does not have our block ${anchor.number}`;
          throw header === null ? new Lagging(what) : new Untrusted(what);
        }
        const blocks = groupLogs(await source.scanner.fetchLogs(from, to));
        // Decoded here, so that what makes no sense is this provider's fault.
        for (const block of blocks) eventKeys(context.network, block.logs);
        return [{ source, blocks: new Map(blocks.map((block) => [block.number, block])) }];
      } catch (error) {
        failure = error;
        context.blame(source, error);
        return [];
      }
    }),
  );
  const answered = answers.flat();
  if (answered.length === 0) throw failure;
  return answered;
}

/** A settled block as the store takes it. */
async function inputOf(
  { network }: FollowerContext,
  answered: readonly ProviderLogs[],
  block: BlockId,
  settled: readonly LogEntry[],
): Promise<BlockInput> {
  const header = await headerOf(answered, block);
  const indexes = settled.map(({ log }) => log.logIndex);
  const isRising = indexes.every((index, position) => position === 0 || index > (indexes[position - 1] as number));
  const numbered = settled.map(({ log }, position) => ({ ...log, logIndex: isRising ? log.logIndex : position }));
  const fromNodes = numbered.filter((log): log is NodeLog & { logIndex: number } => !('event' in log));
  const found = { ...block, timestamp: null, logs: fromNodes };
  const node = await someNode(answered, fromNodes);
  const [resolved] = await resolveBlocks(node, network, [found], { known: new Map([[block.number, header]]) });
  const kept = numbered.flatMap((log): LogInput[] => {
    if (!('event' in log)) return [];
    const { logIndex, transactionHash, event, revoked } = log;
    return [{ logIndex, transactionHash, event, revoked }];
  });
  const logs = [...(resolved?.logs ?? []), ...kept].sort((a, b) => a.logIndex - b.logIndex);
  return { ...block, timestamp: header.timestamp, logs };
}

/** One that knows the transactions, where there is one. */
async function someNode(answered: readonly ProviderLogs[], logs: readonly NodeLog[]) {
  const [first] = answered as [ProviderLogs, ProviderLogs[]];
  const [log] = logs;
  if (log === undefined) return first.source.node;
  for (const { source } of answered) {
    const [found] = await source.node.transactions([log.transactionHash]).catch(() => [null]);
    if (found) return source.node;
  }
  return first.source.node;
}

async function headerOf(answered: readonly ProviderLogs[], { number, hash }: BlockId): Promise<Header> {
  for (const { source } of answered) {
    const header = await source.node.header(number).catch(() => null);
    if (header?.hash === hash) return header;
  }
  throw new Inconsistent(`no provider has block ${number} (${hash})`);
}

/** Times that only a log told are confirmed by a second provider's logs or by headers, and put right where they are wrong. */
async function compareTimes(context: FollowerContext, answered: readonly ProviderLogs[], from: number, to: number) {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const unchecked = await store.uncheckedTimes(chainId, { from, to, limit: MOST_TIMES });
  if (unchecked.length === 0) return;
  const told = ({ number }: BlockRef) => answered.flatMap(({ blocks }) => blocks.get(number)?.timestamp ?? []);
  const isConfirmed = (block: BlockRef) => {
    const times = told(block);
    return times.length > 1 && times.every((time) => time === block.timestamp);
  };
  const right: BlockRef[] = unchecked.filter(isConfirmed);
  const open = unchecked.filter((block) => !isConfirmed(block));
  let wrong = 0;
  for (const { source } of answered) {
    const left = open.filter(({ number }) => !right.some((one) => one.number === number));
    if (left.length === 0) break;
    const headers = await source.node.headers(left.map(({ number }) => number)).catch(() => []);
    for (const [position, header] of headers.entries()) {
      const block = left[position] as BlockRef;
      if (header.hash !== block.hash) continue;
      if (header.timestamp !== block.timestamp) wrong++;
      right.push({ ...block, timestamp: header.timestamp });
    }
  }
  if (right.length === 0) return;
  right.sort((a, b) => a.number - b.number);
  await context.commit(({ epoch }: ChainState) => store.retime(chainId, epoch, right));
  if (wrong > 0) onEvent({ type: 'retimed', block: (right[0] as BlockRef).number, blocks: wrong });
}

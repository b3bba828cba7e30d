// Compares an index with its chain: the logs of final blocks one by one, then a sample of the registry's own answers.

import {
  describeQuestion,
  fetchStatements,
  findDisagreements,
  listsAbout,
  questionsAbout,
  questionsOfList,
} from '../chain/audit/registry-answers.ts';
import { eventKeys, groupStoredLogs, missingFrom, readStoredLogs } from '../chain/compare/compare-logs.ts';
import { createProviderPool } from '../chain/rpc/provider-pool.ts';
import { groupLogs } from '../chain/rpc/registry-logs.ts';
import type { Network } from '../registry/network.ts';
import type { LogRecord, Store } from '../store/store.ts';
import { UsageError } from './usage-error.ts';

export interface AuditOptions {
  readonly network: Network;
  readonly rpcUrls: readonly string[];
  readonly store: Store;
  /** The whole final history unless given. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Number of questions to ask the registry. */
  readonly pairs: number;
  readonly onProgress: (block: number, last: number, logs: number) => void;
}

export interface AuditReport {
  readonly chainId: number;
  readonly from: number;
  readonly to: number;
  readonly logs: number;
  /** Logs that the chain has and the index lacks. */
  readonly missing: number;
  /** Logs that the index has and the chain lacks. */
  readonly surplus: number;
  readonly pairs: number;
  readonly lists: number;
  /** Questions that the registry answers differently. */
  readonly wrong: readonly string[];
}

const BLOCKS_PER_BATCH = 20_000;
/** Lists are long: one is compared for every tenth pair. */
const PAIRS_PER_LIST = 10;

export async function auditIndex(options: AuditOptions): Promise<AuditReport> {
  const { network, rpcUrls, store, from, to, pairs, onProgress } = options;
  const { chainId } = network;
  const state = await store.chain(chainId);
  if (state?.verified == null) throw new UsageError(`Chain ${chainId} has no final blocks in this database yet.`);
  const { node, scanner } = await createProviderPool(network, rpcUrls).pick(Date.now());
  const [first, last] = [Math.max(from ?? 0, state.firstBlock), Math.min(to ?? state.verified, state.verified)];
  if (first > last)
    throw new UsageError(`No final blocks from ${first} to ${last}: the newest final block is ${state.verified}.`);
  const sample = createSample(pairs);
  let [logs, missing, surplus] = [0, 0, 0];
  for (let low = first; low <= last; low += BLOCKS_PER_BATCH) {
    const high = Math.min(last, low + BLOCKS_PER_BATCH - 1);
    const stored = await readStoredLogs(store, chainId, low, high);
    const ours = groupStoredLogs(stored);
    const theirs = new Map(groupLogs(await scanner.fetchLogs(low, high)).map((block) => [block.number, block]));
    logs += stored.length;
    for (const number of new Set([...ours.keys(), ...theirs.keys()])) {
      const indexed = eventKeys(network, ours.get(number)?.logs ?? []);
      const onChain = eventKeys(network, theirs.get(number)?.logs ?? []);
      missing += missingFrom(indexed, onChain).length;
      surplus += missingFrom(onChain, indexed).length;
    }
    for (const log of stored) sample.add(log);
    onProgress(high, last, logs);
  }
  const [block] = await store.blocks(chainId, { from: state.verified, to: state.verified });
  const questions = questionsAbout(sample.logs).slice(0, pairs);
  const lists = questions.filter((_, position) => position % PAIRS_PER_LIST === 0).flatMap(listsAbout);
  const asked = [...questions];
  if (block !== undefined)
    for (const list of lists) asked.push(...(await questionsOfList(network, store, node, block, list)));
  const statements = block === undefined ? [] : await fetchStatements(network, node, block, asked);
  const wrong = await findDisagreements(network, store, state.verified, statements);
  if (questions.length > 0 && statements.length === 0)
    throw new UsageError(
      `The logs were compared, but the provider has no state at block ${state.verified}, so no answers were. Use an archive node.`,
    );
  return {
    chainId,
    from: first,
    to: last,
    logs,
    missing,
    surplus,
    pairs: statements.length,
    lists: lists.length,
    wrong: wrong.map(({ question }) => describeQuestion(question)),
  };
}

/** A uniform random sample of a stream of logs (reservoir sampling). */
function createSample(size: number) {
  const logs: LogRecord[] = [];
  let seen = 0;
  return {
    logs,
    add(log: LogRecord) {
      seen++;
      if (logs.length < size) logs.push(log);
      else if (Math.random() < size / seen) logs[Math.floor(Math.random() * size)] = log;
    },
  };
}

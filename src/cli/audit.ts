// delegations audit compares an index with its chain, and changes nothing. delegations rewind rolls a chain back so
// that its newest blocks are read again.

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
import { readConfig } from '../service/config.ts';
import { learnNetworks } from '../service/stored-networks.ts';
import { showStatus, UsageError } from '../service/terminal.ts';
import { openStore } from '../store/open.ts';
import type { LogRecord, Store } from '../store/store.ts';
import { type Command, requireNetwork } from './command.ts';
import { writeOut } from './output.ts';

export const audit: Command = {
  name: 'audit',
  summary: 'compare an index with its chain',
  usage: '--chain <id> [options]',
  about: `Reads the registry logs of final blocks from a provider and compares them with the index, one by one. Then asks the registry
about a sample of wallet pairs and whole lists, and compares its answers with those of the index. Changes nothing. A service
can keep running on the same database.

Requires DATABASE_URL and RPC_URL_<id>. Exit code: 0 no differences, 1 differences found, 2 error.`,
  options: {
    chain: { value: '<id>', about: 'chain id' },
    pairs: { value: '<number>', about: 'number of questions to ask the registry [1000]' },
    from: { value: '<block>', about: 'first block [first indexed block]' },
    to: { value: '<block>', about: 'last block [newest final block]' },
    json: { about: 'print the report as JSON' },
  },
  examples: ['RPC_URL_1=https://node.example delegations audit --chain 1 --pairs 10000'],
  async run(call) {
    const network = requireNetwork(call);
    const options = { from: call.number('from'), to: call.number('to'), pairs: call.number('pairs') };
    const config = readConfig(call.environment);
    const rpcUrls = config.chains.get(network.chainId)?.rpcUrls;
    if (rpcUrls === undefined)
      throw new UsageError(`RPC_URL_${network.chainId} is missing. Set it to the provider to compare with.`);
    await using store = await openStore(config.databaseUrl, { readOnly: true });
    const report = await auditIndex(options, network, rpcUrls, store);
    if (report.missing + report.surplus + report.wrong.length > 0) process.exitCode = 1;
    await writeOut(call.isSet('json') ? `${JSON.stringify(report)}\n` : formatReport(report));
  },
};

type AuditReport = Awaited<ReturnType<typeof auditIndex>>;

const BLOCKS_PER_BATCH = 20_000;
/** Lists are long: one is compared for every tenth pair. */
const PAIRS_PER_LIST = 10;

/** Compares the logs of final blocks one by one, then a sample of the registry's own answers. */
async function auditIndex(
  { from, to, pairs = 1000 }: Readonly<Record<'from' | 'to' | 'pairs', number | undefined>>,
  network: Network,
  rpcUrls: readonly string[],
  store: Store,
) {
  const { chainId } = network;
  const state = await store.chain(chainId);
  if (state?.verified == null) throw new UsageError(`Chain ${chainId} has no final blocks in this database yet.`);
  const { node, scanner } = await createProviderPool(network, rpcUrls).pick(Date.now());
  const [first, last] = [Math.max(from ?? 0, state.firstBlock), Math.min(to ?? state.verified, state.verified)];
  if (first > last)
    throw new UsageError(`No final blocks from ${first} to ${last}: the newest final block is ${state.verified}.`);
  /** A uniform random sample of the logs (reservoir sampling). */
  const sample: LogRecord[] = [];
  let [logs, missing, surplus] = [0, 0, 0];
  for (let low = first; low <= last; low += BLOCKS_PER_BATCH) {
    const high = Math.min(last, low + BLOCKS_PER_BATCH - 1);
    const stored = await readStoredLogs(store, chainId, low, high);
    const ours = groupStoredLogs(stored);
    const theirs = new Map(groupLogs(await scanner.fetchLogs(low, high)).map((block) => [block.number, block]));
    for (const number of new Set([...ours.keys(), ...theirs.keys()])) {
      const indexed = eventKeys(network, ours.get(number)?.logs ?? []);
      const onChain = eventKeys(network, theirs.get(number)?.logs ?? []);
      missing += missingFrom(indexed, onChain).length;
      surplus += missingFrom(onChain, indexed).length;
    }
    for (const log of stored) {
      logs++;
      if (sample.length < pairs) sample.push(log);
      else if (Math.random() < pairs / logs) sample[Math.floor(Math.random() * pairs)] = log;
    }
    showStatus(high === last ? '' : `block ${high} of ${last}, ${logs} logs`);
  }
  const [block] = await store.blocks(chainId, { from: state.verified, to: state.verified });
  const questions = questionsAbout(sample).slice(0, pairs);
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
    /** Logs that the chain has and the index lacks. */
    missing,
    /** Logs that the index has and the chain lacks. */
    surplus,
    pairs: statements.length,
    lists: lists.length,
    /** Questions that the registry answers differently. */
    wrong: wrong.map(({ question }) => describeQuestion(question)),
  };
}

const formatReport = ({ chainId, from, to, logs, missing, surplus, pairs, lists, wrong }: AuditReport) =>
  `Chain ${chainId}, blocks ${from} to ${to}
  logs     ${logs} compared: ${missing} missing from the index, ${surplus} only in the index
  answers  ${pairs} pairs and ${lists} lists compared: ${wrong.length} different
${wrong.map((one) => `           ${one}\n`).join('')}`;

export const rewind: Command = {
  name: 'rewind',
  summary: 'roll a chain back to an older block',
  usage: '--chain <id> --to <block>',
  about: `Rolls the index back to <block> and resumes a halted chain. If the hash of <block> is not stored, it rolls back to the newest
older block that has one. A running follower continues from there.`,
  options: {
    chain: { value: '<id>', about: 'chain id' },
    to: { value: '<block>', about: 'last block to keep' },
  },
  examples: ['delegations rewind --chain 1 --to 18000000'],
  async run(call) {
    const to = call.number('to');
    if (to === undefined) throw new UsageError('--to is missing. Example: --to 18000000');
    await using store = await openStore(readConfig(call.environment).databaseUrl, { mustExist: true });
    learnNetworks(await store.chains());
    const { chainId } = requireNetwork(call);
    const state = await store.chain(chainId);
    if (state?.head == null) throw new UsageError(`Chain ${chainId} is not in this database.`);
    if (to >= state.head.number)
      throw new UsageError(`Nothing to roll back: chain ${chainId} is at block ${state.head.number}.`);
    const target = await store.newestBlock(chainId, to);
    if (target === null)
      throw new UsageError(`No block hash is stored at or below ${to}. Start again with an empty database.`);
    const { epoch, head } = await store.claim(chainId, state.firstBlock);
    // One commit: a running follower can claim the chain right after it.
    const back = { rollbackTo: target.number, head: target, resume: true } as const;
    await store.apply({ chainId, epoch, after: head, blocks: [], ...back });
    await writeOut(`Chain ${chainId}: rolled back from block ${state.head.number} to block ${target.number}.\n`);
  },
};

// delegations audit: an index against the chain itself, at once. It changes nothing.

import { describeSubject, isQuestion, listsAbout, questionsAbout } from '../chain/audit-subjects.ts';
import { eventKeys, missingFrom } from '../chain/compare-logs.ts';
import { groupLogs } from '../chain/group-logs.ts';
import { createProviderPool } from '../chain/provider-pool.ts';
import { fetchStatements, findDisagreements } from '../chain/registry-answers.ts';
import { groupStoredLogs, readStoredLogs } from '../chain/stored-blocks.ts';
import { readConfig } from '../service/config.ts';
import { showStatus } from '../service/status-line.ts';
import { UsageError } from '../service/usage-error.ts';
import { openStore } from '../store/open.ts';
import type { LogRecord } from '../store/store.ts';
import { type Call, type Command, chainOf } from './command.ts';
import { writeOut } from './output.ts';

export const audit: Command = {
  name: 'audit',
  summary: 'compare an index with the chain itself',
  usage: '--chain <id> [options]',
  about: `Reads the registries' logs of final blocks from a node and compares them with the index, one by one, then asks the registry
about pairs drawn from them, and for the whole lists of some of their wallets, and compares its answers with ours. Nothing is
changed, and a running service may go on.

Needs DATABASE_URL and RPC_URL_<id>. Exit code: 0 all equal, 1 something differs, 2 trouble.`,
  options: {
    chain: { value: '<id>', about: 'the chain' },
    pairs: { value: '<number>', about: 'how many questions to ask the registry [1000]' },
    from: { value: '<block>', about: 'the first block [of the index]' },
    to: { value: '<block>', about: 'the last block [the newest final one]' },
    json: { about: 'the result as JSON' },
  },
  examples: ['RPC_URL_1=https://node.example delegations audit --chain 1 --pairs 10000'],
  run: compareWithChain,
};

const BLOCKS_AT_ONCE = 20_000;
const NO_STATE = 'The logs were compared, but the node could answer for no pair: it has thrown that state away.';
/** Lists are long: they are asked for about one pair in so many. */
const PAIRS_PER_LIST = 10;

async function compareWithChain(call: Call): Promise<void> {
  const network = chainOf(call);
  const { chainId } = network;
  const [from, to, pairs = 1000] = [call.number('from'), call.number('to'), call.number('pairs')];
  const config = readConfig(call.environment);
  const urls = config.chains.get(chainId)?.rpcUrls;
  if (urls === undefined) throw new UsageError(`RPC_URL_${chainId} is missing: which node is to be asked?`);
  const store = await openStore(config.databaseUrl, { readOnly: true });
  try {
    const state = await store.chain(chainId);
    if (state?.verified == null) throw new UsageError(`Chain ${chainId} has no final blocks in this store yet.`);
    const { node, scanner } = await createProviderPool(network, urls).pick(Date.now());
    const [first, last] = [Math.max(from ?? 0, state.firstBlock), Math.min(to ?? state.verified, state.verified)];
    if (first > last) throw new UsageError(`There are no final blocks from ${first} to ${last}.`);
    const drawn = createSample(pairs);
    let [logs, missing, surplus] = [0, 0, 0];
    for (let low = first; low <= last; low += BLOCKS_AT_ONCE) {
      const high = Math.min(last, low + BLOCKS_AT_ONCE - 1);
      const stored = await readStoredLogs(store, chainId, low, high);
      const ours = groupStoredLogs(stored);
      const theirs = new Map(groupLogs(await scanner.fetchLogs(low, high)).map((block) => [block.number, block]));
      logs += stored.length;
      for (const number of new Set([...ours.keys(), ...theirs.keys()])) {
        const [here, there] = [ours, theirs].map((blocks) => eventKeys(network, blocks.get(number)?.logs ?? [])) as [
          string[],
          string[],
        ];
        missing += missingFrom(here, there).length;
        surplus += missingFrom(there, here).length;
      }
      for (const log of stored) drawn.add(log);
      showStatus(`block ${high} of ${last}, ${logs} logs`);
    }
    showStatus('');
    const [block] = await store.blocks(chainId, { from: state.verified, to: state.verified });
    const questions = questionsAbout(drawn.logs).slice(0, pairs);
    const lists = questions.filter((_, position) => position % PAIRS_PER_LIST === 0).flatMap(listsAbout);
    const said = block === undefined ? [] : await fetchStatements(network, node, block, [...questions, ...lists]);
    const wrong = await findDisagreements(network, store, state.verified, said);
    const asked = said.filter(({ subject }) => isQuestion(subject)).length;
    const result: Result = {
      chainId,
      from: first,
      to: last,
      logs,
      missing,
      surplus,
      pairs: asked,
      lists: said.length - asked,
      wrong: wrong.map(({ subject }) => describeSubject(subject)),
    };
    if (questions.length > 0 && asked === 0) throw new UsageError(NO_STATE);
    await writeOut(call.isSet('json') ? `${JSON.stringify(result)}\n` : reportOf(result));
    if (missing + surplus + wrong.length > 0) process.exitCode = 1;
  } finally {
    await store.close();
  }
}

interface Result {
  readonly chainId: number;
  readonly from: number;
  readonly to: number;
  readonly logs: number;
  readonly missing: number;
  readonly surplus: number;
  readonly pairs: number;
  readonly lists: number;
  /** What the registry answers otherwise. */
  readonly wrong: readonly string[];
}

const reportOf = ({ chainId, from, to, logs, missing, surplus, pairs, lists, wrong }: Result) =>
  `Chain ${chainId}, blocks ${from} to ${to}
  logs    ${logs} compared, ${missing} missing here, ${surplus} that only we have
  pairs   ${pairs} asked of the registry, and ${lists} lists: ${wrong.length} answered otherwise
${wrong.map((one) => `          ${one}\n`).join('')}`;

/** So many logs, evenly drawn from all that come. */
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

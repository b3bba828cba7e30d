// delegations audit: an index against the chain itself, at once. It changes nothing.

import { parseArgs } from 'node:util';
import { disagreements, isQuestion, listsOf, questionsOf, statementsOf, textOf } from '../chain/answers.ts';
import { compareLogs, storedLogs } from '../chain/compare.ts';
import { registryFilter } from '../chain/filter.ts';
import { groupLogs } from '../chain/logs.ts';
import { createProviders } from '../chain/providers.ts';
import { createScanner } from '../chain/scan.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import type { LogRecord } from '../store/store.ts';
import { readConfig } from './config.ts';
import { UsageError } from './usage.ts';

export const AUDIT_HELP = `Usage: delegations audit --chain <id> [--pairs <number>] [--from <block>] [--to <block>] [--json]

Reads the registries' logs of final blocks from a node and compares them with the index, one by one, then asks the registry
about pairs drawn from them, and for the whole lists of some of their wallets, and compares its answers with ours. Nothing is changed, and a running service may go on.

Needs DATABASE_URL and RPC_URL_<id>. Exit code: 0 all equal, 1 something differs, 2 trouble.

  --pairs   how many questions to ask the registry [1000]
  --from    the first block [of the index]
  --to      the last block [the newest final one]

For example: RPC_URL_1=https://node.example delegations audit --chain 1 --pairs 10000
`;

const BLOCKS_AT_ONCE = 20_000;
/** Lists are long: they are asked for about one pair in so many. */
const PAIRS_PER_LIST = 10;

export async function audit(environment: Readonly<Record<string, string | undefined>>, args: string[]): Promise<void> {
  const { chainId, pairs, from, to, json } = readArguments(args);
  const config = readConfig(environment);
  const network = NETWORKS.get(chainId) as Network;
  const urls = config.chains.get(chainId)?.rpcUrls;
  if (urls === undefined) throw new UsageError(`RPC_URL_${chainId} is missing: which node is to be asked?`);
  const store = await openStore(config.databaseUrl, { readOnly: true });
  try {
    const state = await store.chain(chainId);
    if (state?.verified == null) throw new UsageError(`Chain ${chainId} has no final blocks in this store yet.`);
    const { node } = await createProviders(chainId, urls).pick(Date.now());
    const scanner = createScanner(registryFilter(network));
    const [first, last] = [Math.max(from ?? 0, state.firstBlock), Math.min(to ?? state.verified, state.verified)];
    if (first > last) throw new UsageError(`There are no final blocks from ${first} to ${last}.`);
    const drawn = createSample(pairs);
    let [logs, missing, surplus] = [0, 0, 0];
    for (let low = first; low <= last; low += BLOCKS_AT_ONCE) {
      const high = Math.min(last, low + BLOCKS_AT_ONCE - 1);
      const stored = await storedLogs(store, chainId, low, high);
      const differences = compareLogs(network, groupLogs(await scanner.logs(node, low, high)), stored);
      logs += stored.length;
      missing += differences.missing.length;
      surplus += differences.surplus.length;
      for (const log of stored) drawn.add(log);
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kblock ${high} of ${last}, ${logs} logs`);
    }
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    const [block] = await store.blocks(chainId, { from: state.verified, to: state.verified });
    const questions = questionsOf(drawn.logs).slice(0, pairs);
    const lists = questions.filter((_, position) => position % PAIRS_PER_LIST === 0).flatMap(listsOf);
    const said = block === undefined ? [] : await statementsOf(network, node, block, [...questions, ...lists]);
    const wrong = await disagreements(network, store, state.verified, said);
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
      wrong: wrong.map(({ subject }) => textOf(subject)),
    };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : reportOf(result));
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

function readArguments(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      chain: { type: 'string' },
      pairs: { type: 'string', default: '1000' },
      from: { type: 'string' },
      to: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'chain' | 'pairs' | 'from' | 'to') => {
    const text = values[name];
    if (text === undefined) return undefined;
    if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} is not a whole number: ${text}`);
    return Number(text);
  };
  const chainId = number('chain');
  if (chainId === undefined) throw new UsageError('--chain is missing: which chain is to be audited?');
  if (!NETWORKS.has(chainId)) throw new UsageError(`--chain ${chainId} is no known network.`);
  return { chainId, pairs: number('pairs') ?? 0, from: number('from'), to: number('to'), json: values.json };
}

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

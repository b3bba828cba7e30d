// delegations serve, api, follow, sandbox, mcp and migrate, and the worker that serve starts: the commands that run the
// service or a part of it.

import { serveMcpOnStdio } from '../mcp/server.ts';
import { readConfig } from '../service/config.ts';
import { followChains } from '../service/follow-chains.ts';
import { migrateStore } from '../service/migrate-store.ts';
import { runService } from '../service/run-service.ts';
import { UsageError } from '../service/terminal.ts';
import { runWorker, runWorkerGroup } from '../service/worker-group.ts';
import { requireFile } from '../store/sqlite.ts';
import type { Command, Invocation, Option } from './command.ts';
import { SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';

const MAX_WORKERS = 256;

const WORKERS_OPTION: Readonly<Record<string, Option>> = {
  workers: { value: '<n>', about: 'number of API processes on the port, one per core [1]' },
};

async function runWithWorkers(call: Invocation, follows: boolean): Promise<void> {
  const count = call.number('workers') ?? 1;
  if (count < 1 || count > MAX_WORKERS)
    throw new UsageError(`--workers must be from 1 to ${MAX_WORKERS}, got ${count}.`);
  if (!follows) requireFile(readConfig(call.environment).databaseUrl);
  await (count === 1 ? runService(call.environment, { follows }) : runWorkerGroup(call.environment, count, follows));
}

export const serve: Command = {
  name: 'serve',
  summary: 'follow chains and serve the HTTP API',
  about: `Serves the HTTP API until SIGINT, SIGTERM or SIGHUP. A child process follows every chain that has an RPC_URL_<chainId>.
For all environment variables, see delegations config --help.`,
  options: WORKERS_OPTION,
  examples: [
    'RPC_URL_1=https://node.example delegations serve',
    'RPC_URL_1=https://node.example delegations serve --workers 4',
    'RPC_URL_1=https://a.example,https://b.example RPC_URL_8453=https://c.example PORT=80 delegations serve',
  ],
  isService: true,
  run: (call) => runWithWorkers(call, true),
};

export const api: Command = {
  name: 'api',
  summary: 'serve the HTTP API only',
  about: `Serves the HTTP API until SIGINT, SIGTERM or SIGHUP. Any number of these processes can share one PostgreSQL database, which
delegations follow fills. RPC_URL_<chainId> is used for names on pages, token gates, proofs, and sign-in signatures of contract wallets.`,
  options: WORKERS_OPTION,
  examples: ['DATABASE_URL=postgres://localhost/delegations PORT=8081 delegations api'],
  isService: true,
  run: (call) => runWithWorkers(call, false),
};

export const follow: Command = {
  name: 'follow',
  summary: 'follow chains only',
  about: `Indexes every chain that has an RPC_URL_<chainId> until SIGINT, SIGTERM or SIGHUP. Several of these processes can share one PostgreSQL
database: one follows a chain, the others stand by. delegations serve follows and serves the API.`,
  examples: ['RPC_URL_1=https://node.example DATABASE_URL=postgres://localhost/delegations delegations follow'],
  isService: true,
  run: ({ environment }) => followChains(environment),
};

export const sandbox: Command = {
  name: 'sandbox',
  summary: 'try the whole service offline, on a local chain',
  usage: '[options]',
  about: `Starts a local chain with both registries and a month of delegations between a few dozen wallets, and the whole service on it.
Needs no RPC provider, no keys and no network. Prints the URLs of its API and its JSON-RPC, an API key, and test accounts with
their private keys, so that a wallet or a program can write to the chain and ask the API. A new transaction is sent every few
seconds. Ctrl-C stops everything and removes the temporary database.

Reads HOST, PORT, METRICS_HOST, METRICS_PORT and LOG_LEVEL [127.0.0.1, 8080, 127.0.0.1, any free port, warn].`,
  options: {
    port: { value: '<port>', about: 'of the API, 0 for any free one [PORT, or 8080]' },
    'rpc-port': {
      value: '<port>',
      about: 'of the JSON-RPC, 0 for any free one [8545, or a free one if that is in use]',
    },
    scenario: {
      value: '<file>',
      about: 'make the grants and revocations of this JSON file instead; docs/integrating.md has an example',
    },
    interval: {
      value: '<seconds>',
      about: 'between two new transactions, 0 for none of its own [4, or 0 with --scenario]',
    },
    quiet: { about: 'print only one line of JSON when it is ready: url, rpcUrl, key, chainId and accounts' },
  },
  examples: [
    'delegations sandbox',
    'delegations sandbox --port 3000 --interval 0',
    'delegations sandbox --quiet --port 0 --rpc-port 0 --scenario delegations.json',
  ],
  async run(call) {
    if (Bun.isStandaloneExecutable)
      throw new UsageError(
        'The sandbox is not part of this executable. Run it from the package, npx delegations sandbox, or in a checkout, npm run sandbox.',
      );
    // Imported here so that no other command loads the local chain.
    const { runSandbox } = await import('../sandbox/run-sandbox.ts');
    await runSandbox(call.environment, {
      port: readUpTo(65_535, call, 'port'),
      rpcPort: readUpTo(65_535, call, 'rpc-port'),
      scenario: call.text('scenario'),
      interval: readUpTo(MAX_INTERVAL, call, 'interval', ' seconds'),
      quiet: call.isSet('quiet'),
    });
  },
};

/** Seconds. A timer cannot wait for longer. */
const MAX_INTERVAL = 86_400;

function readUpTo(most: number, call: Invocation, option: string, unit = ''): number | undefined {
  const given = call.number(option);
  if (given !== undefined && given > most)
    throw new UsageError(`--${option} must be from 0 to ${most}${unit}, got ${given}.`);
  return given;
}

export const mcp: Command = {
  name: 'mcp',
  summary: 'answer the questions of a language model (MCP server on stdio)',
  about: `Serves read-only tools over the Model Context Protocol, on standard input and output: may_act, explain, vaults, delegates, holders,
history and networks. Each answer names its block.

${SOURCE_ABOUT} ${STALE_ABOUT}`,
  options: SOURCE_OPTIONS,
  examples: ['delegations mcp --url http://localhost:8080', 'DELEGATIONS_URL=http://localhost:8080 delegations mcp'],
  run: (call) => withSource(call, serveMcpOnStdio),
};

export const migrate: Command = {
  name: 'migrate',
  summary: "bring the database to this version's schema",
  about: `Migrates the tables of DATABASE_URL, or creates them, and logs each step. Everything is one transaction: if it is cut off, nothing has
changed. A service does the same when it starts. Processes of an older version answer 503 from then on.`,
  examples: ['DATABASE_URL=postgres://localhost/delegations delegations migrate'],
  run: ({ environment }) => migrateStore(environment),
};

/** Internal, not listed in the help. */
export const worker: Command = {
  name: 'worker',
  summary: 'one process of serve --workers',
  about: 'Internal: started by delegations serve --workers.',
  options: {
    number: { value: '<n>', about: 'the number of the worker in the log' },
    follows: { about: 'the parent also follows the chains' },
  },
  examples: ['delegations serve --workers 4'],
  isService: true,
  run: (call) => runWorker(call.environment, call.number('number') ?? 0, call.isSet('follows')),
};

// delegations serve, api, follow and migrate, and the worker that serve starts: the commands that run a part of the service.

import { readConfig } from '../service/config.ts';
import { followChains } from '../service/follow-chains.ts';
import { migrateStore } from '../service/migrate-store.ts';
import { runService } from '../service/run-service.ts';
import { UsageError } from '../service/usage-error.ts';
import { runWorker } from '../service/worker.ts';
import { runWorkerGroup } from '../service/worker-group.ts';
import { requireFile } from '../store/sqlite.ts';
import type { Command, Invocation, Option } from './command.ts';

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
delegations follow fills. RPC_URL_<chainId> is only used to verify sign-in signatures of contract wallets at /developers.`,
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

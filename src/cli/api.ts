// delegations api: answers over HTTP from a store that another program fills.

import type { Command } from './command.ts';
import { runWithWorkers, WORKERS_OPTION } from './workers.ts';

export const api: Command = {
  name: 'api',
  summary: 'answer over HTTP, and do not follow',
  about: `Answers from the store until it is told to stop (SIGINT or SIGTERM), any number of them on one PostgreSQL; delegations follow
fills it. An RPC_URL_<chainId> is only asked whether a signature is that of a wallet which is a contract, at /developers.`,
  options: WORKERS_OPTION,
  examples: ['DATABASE_URL=postgres://localhost/delegations PORT=8081 delegations api'],
  run: (call) => runWithWorkers(call, false),
};

// delegations api: serves the API from a database that another process fills.

import type { Command } from './command.ts';
import { runWithWorkers, WORKERS_OPTION } from './workers.ts';

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

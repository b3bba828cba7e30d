// delegations serve: follows the chains and serves the API.

import type { Command } from './command.ts';
import { runWithWorkers, WORKERS_OPTION } from './workers.ts';

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

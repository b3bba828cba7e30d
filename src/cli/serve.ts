// delegations serve: follows and answers.

import type { Command } from './command.ts';
import { runWithWorkers, WORKERS_OPTION } from './workers.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'follow chains and answer over HTTP',
  about: `Opens the store and answers over HTTP until it is told to stop (SIGINT or SIGTERM).
Chains with an RPC_URL_<chainId> are followed by a second process that it starts and looks after.
What can be set in the environment: delegations --help.`,
  options: WORKERS_OPTION,
  examples: [
    'RPC_URL_1=https://node.example delegations serve',
    'RPC_URL_1=https://node.example delegations serve --workers 4',
    'RPC_URL_1=https://a.example,https://b.example RPC_URL_8453=https://c.example PORT=80 delegations serve',
  ],
  run: (call) => runWithWorkers(call, true),
};

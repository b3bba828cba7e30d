// delegations follow: follows the chains without serving the API.

import { followChains } from '../service/follow-chains.ts';
import type { Command } from './command.ts';

export const follow: Command = {
  name: 'follow',
  summary: 'follow chains only',
  about: `Indexes every chain that has an RPC_URL_<chainId> until SIGINT, SIGTERM or SIGHUP. Several of these processes can share one PostgreSQL
database: one follows a chain, the others stand by. delegations serve follows and serves the API.`,
  examples: ['RPC_URL_1=https://node.example DATABASE_URL=postgres://localhost/delegations delegations follow'],
  isService: true,
  run: ({ environment }) => followChains(environment),
};

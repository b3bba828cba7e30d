// delegations follow: follows every configured chain, and does not answer.

import { followChains } from '../service/follow-chains.ts';
import type { Command } from './command.ts';

export const follow: Command = {
  name: 'follow',
  summary: 'follow chains, and do not answer',
  about: `Follows every chain that has an RPC_URL_<chainId> and writes its delegations into the store, until it is told to stop
(SIGINT or SIGTERM). delegations serve does this and answers over HTTP as well.`,
  examples: ['RPC_URL_1=https://node.example DATABASE_URL=postgres://localhost/delegations delegations follow'],
  run: ({ environment }) => followChains(environment),
};

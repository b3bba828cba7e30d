// delegations worker: one of several processes on one port, started and looked after by serve --workers. Not for people.

import { runWorker } from '../service/worker.ts';
import type { Command } from './command.ts';

export const worker: Command = {
  name: 'worker',
  summary: 'one of the processes of serve --workers',
  about: 'Started by delegations serve --workers, and by nobody else.',
  options: { follows: { about: 'the chains are followed beside it' } },
  examples: ['delegations serve --workers 4'],
  run: (call) => runWorker(call.environment, call.isSet('follows')),
};

// delegations worker: one process of serve --workers. Internal, not listed in the help.

import { runWorker } from '../service/worker.ts';
import type { Command } from './command.ts';

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

// The option by which a service becomes several processes.

import { runService } from '../service/run-service.ts';
import { UsageError } from '../service/usage-error.ts';
import { runWorkerGroup } from '../service/worker-group.ts';
import type { Invocation, Option } from './command.ts';

const MOST = 256;

export const WORKERS_OPTION: Readonly<Record<string, Option>> = {
  workers: { value: '<n>', about: 'so many processes answer on the port, to use as many cores' },
};

export async function runWithWorkers(call: Invocation, follows: boolean): Promise<void> {
  const count = call.number('workers') ?? 1;
  if (count < 1 || count > MOST) throw new UsageError(`--workers is not a number from 1 to ${MOST}: ${count}`);
  await (count === 1 ? runService(call.environment, { follows }) : runWorkerGroup(call.environment, count, follows));
}

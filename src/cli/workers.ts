// The --workers option of serve and api.

import { readConfig } from '../service/config.ts';
import { runService } from '../service/run-service.ts';
import { UsageError } from '../service/usage-error.ts';
import { runWorkerGroup } from '../service/worker-group.ts';
import { requireFile } from '../store/sqlite.ts';
import type { Invocation, Option } from './command.ts';

const MAX_WORKERS = 256;

export const WORKERS_OPTION: Readonly<Record<string, Option>> = {
  workers: { value: '<n>', about: 'number of API processes on the port, one per core [1]' },
};

export async function runWithWorkers(call: Invocation, follows: boolean): Promise<void> {
  const count = call.number('workers') ?? 1;
  if (count < 1 || count > MAX_WORKERS)
    throw new UsageError(`--workers must be from 1 to ${MAX_WORKERS}, got ${count}.`);
  if (!follows) requireFile(readConfig(call.environment).databaseUrl);
  await (count === 1 ? runService(call.environment, { follows }) : runWorkerGroup(call.environment, count, follows));
}

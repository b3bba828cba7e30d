// The option by which a service becomes several processes.

import { type Call, type Option, UsageError } from './command.ts';
import { runGroup } from './group.ts';
import { runService } from './service.ts';

const MOST = 256;

export const WORKERS: Readonly<Record<string, Option>> = {
  workers: { value: '<n>', about: 'so many processes answer on the port, to use as many cores' },
};

export async function runWith(call: Call, follows: boolean): Promise<void> {
  const count = call.number('workers') ?? 1;
  if (count < 1 || count > MOST) throw new UsageError(`--workers is not a number from 1 to ${MOST}: ${count}`);
  await (count === 1 ? runService(call.environment, { follows }) : runGroup(call.environment, count, follows));
}

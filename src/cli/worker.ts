// delegations worker: one of several processes on one port, started and looked after by serve --workers. Not for people.

import type { ChainFigures } from '../chain/figures.ts';
import type { Verdict } from '../http/limiter.ts';
import { createMetrics } from '../http/metrics.ts';
import { within } from '../within.ts';
import { startAnswering } from './answering.ts';
import { type Command, type Environment, UsageError } from './command.ts';
import { readConfig } from './config.ts';
import type { FromWorker, ToWorker } from './group.ts';
import type { GroupWindows } from './limits.ts';
import { openLog } from './log.ts';
import { stopSignal } from './stop-signal.ts';

export const worker: Command = {
  name: 'worker',
  summary: 'one of the processes of serve --workers',
  about: 'Started by delegations serve --workers, and by nobody else.',
  options: { follows: { about: 'the chains are followed beside it' } },
  examples: ['delegations serve --workers 4'],
  run: (call) => work(call.environment, call.isSet('follows')),
};

/** How often it tells what it counted; it is known to be alive by that. */
export const TELL_MS = 1000;
const DEADLINE_MS = 500;

async function work(environment: Environment, follows: boolean): Promise<void> {
  if (!process.connected)
    throw new UsageError('A worker is started by delegations serve --workers, and by nobody else.');
  const config = readConfig(environment);
  const log = openLog(config.logLevel);
  const metrics = createMetrics();
  const parent = openParent();
  const answering = await startAnswering({
    config,
    log,
    metrics,
    followed: follows ? config.chains.keys() : [],
    figures: parent.figures,
    group: parent.windows,
  });
  const tell = () =>
    parent.send({ type: 'told', counts: metrics.take(), health: answering.health(), denied: answering.takeDenied() });
  parent.send({ type: 'listening' });
  const timer = setInterval(tell, TELL_MS);
  await stopSignal(log);
  await answering.stop();
  clearInterval(timer);
  tell();
  process.disconnect?.();
}

/** The line to the process that started this one: it has the windows of all workers, and knows how the followers stand. */
function openParent() {
  let figures: readonly ChainFigures[] = [];
  let asked = 0;
  const waiting = new Map<number, (verdict: Verdict) => void>();
  const send = (message: FromWorker) => void process.send?.(message);
  process.on('message', (message: ToWorker) => {
    if (message.type === 'figures') figures = message.chains;
    else waiting.get(message.id)?.(message.verdict);
  });
  const windows: GroupWindows = (name) => async (client) => {
    const id = ++asked;
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    waiting.set(id, resolve);
    try {
      send({ type: 'take', id, name, client });
      return await within(DEADLINE_MS, promise);
    } finally {
      waiting.delete(id);
    }
  };
  return { send, windows, figures: () => figures };
}

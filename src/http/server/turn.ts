// Handles the requests that arrive in one turn of the event loop together. If there are many, callers take turns.

import { createRounds } from '../../store/turns.ts';

/** More than this many wait for the next turn of the event loop: those of one caller behind those of others. */
export const MOST_AT_ONCE = 32;

/**
 * The steps of the requests then take turns (see `othersOfTurn`): under load, a request costs a third less. A request on its own waits
 * for nothing else.
 */
export function inTurns<Request, Answer>(
  handle: (request: Request) => Promise<Answer>,
  callerOf: (request: Request) => string,
) {
  let arrived: { readonly request: Request; readonly start: () => void }[] = [];
  const waiting = createRounds<() => void>();
  let [count, isScheduled] = [0, false];

  const schedule = () => {
    if (!isScheduled) setImmediate(handleSome);
    isScheduled = true;
  };
  const handleSome = () => {
    isScheduled = false;
    const all = arrived;
    arrived = [];
    if (count === 0 && all.length <= MOST_AT_ONCE) {
      for (const { start } of all) start();
      return;
    }
    for (const { request, start } of all) waiting.add(callerOf(request), start);
    count += all.length;
    for (let left = Math.min(count, MOST_AT_ONCE); left > 0; left--, count--) waiting.take()?.();
    if (count > 0) schedule();
  };
  return (request: Request): Promise<Answer> =>
    new Promise((resolve) => {
      arrived.push({ request, start: () => resolve(handle(request)) });
      schedule();
    });
}

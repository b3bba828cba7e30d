// One suite for every runtime. It has no test runner, because the runtimes share none.

import { ANSWERS } from './answers.ts';
import { FAILURES } from './failures.ts';

/** What the suite asks. */
export interface Servers {
  /** The service, on a real chain. */
  readonly url: string;
  /** A server that fails as its path says: faulty-server.ts. */
  readonly faulty: string;
  /** Nothing listens there. */
  readonly refused: string;
}

export type Cases = Readonly<Record<string, (servers: Servers) => Promise<void>>>;

export const CASES: Cases = { ...ANSWERS, ...FAILURES };

/** What was wrong with each case; null if it passed. */
export type Results = Record<string, string | null>;

/** For a case that would never end. */
const MAX_SECONDS = 30;

export async function runSuite(servers: Servers): Promise<Results> {
  const results: Results = {};
  for (const [name, run] of Object.entries(CASES)) results[name] = await Promise.race([outcome(run(servers)), late()]);
  return results;
}

const outcome = (run: Promise<void>) =>
  run.then(
    () => null,
    (error: Error) => `${error.message}\n${error.stack}`,
  );

const late = () =>
  new Promise<string>((resolve) => setTimeout(resolve, MAX_SECONDS * 1000, `did not end within ${MAX_SECONDS} s`));

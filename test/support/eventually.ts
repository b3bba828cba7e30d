// Waits for a state, in tests and benchmarks.

type Attempt<T> = () => T | undefined | false | Promise<T | undefined | false>;

interface Wait {
  readonly seconds?: number;
  /** The process that must bring the state about: if it exits, the wait is over, and if it does not come, the process is killed. */
  readonly child?: Pick<Bun.Subprocess, 'exitCode' | 'kill'>;
}

/** Polls until the attempt returns something; one that fails is made again. */
export async function eventually<T>(
  what: string,
  attempt: Attempt<T>,
  { seconds = 120, child }: Wait = {},
): Promise<T> {
  let error: unknown;
  for (const end = performance.now() + 1000 * seconds; performance.now() < end; await Bun.sleep(10)) {
    if (child && child.exitCode !== null) throw new Error(`${what}: the process exited with code ${child.exitCode}`);
    try {
      const found = await attempt();
      if (found !== undefined && found !== false) return found;
    } catch (cause) {
      error = cause;
    }
  }
  child?.kill('SIGKILL');
  throw new Error(`${what}: not within ${seconds} s`, { cause: error });
}

// Runs one process of the service, and can kill, freeze and restart it as a supervisor would.

import { freePort } from '../src/sandbox/free-port.ts';
import { PROGRAM } from '../test/support/serve-process.ts';

export interface Role {
  readonly url: string;
  readonly pid: number;
  /** Kills the process with SIGKILL and restarts it after the pause. */
  killed(pause: () => Promise<void>): Promise<void>;
  frozen(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startRole(command: 'api' | 'follow', environment: Record<string, string>): Promise<Role> {
  const port = freePort();
  const start = () =>
    Bun.spawn([...PROGRAM, command], {
      env: { ...process.env, ...environment, PORT: String(port) },
      stdout: 'ignore',
      stderr: 'ignore',
    });
  let child = start();
  return {
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return child.pid;
    },
    async killed(pause) {
      child.kill('SIGKILL');
      await child.exited;
      await pause();
      child = start();
    },
    async frozen(ms) {
      child.kill('SIGSTOP');
      await Bun.sleep(ms);
      child.kill('SIGCONT');
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

// One process of the service, which is killed and started again as an operator's supervisor would.

import { freePort } from '../src/sandbox/free-port.ts';
import { MAIN } from '../test/support/serve-process.ts';

export interface Role {
  readonly url: string;
  readonly pid: number;
  /** Dies at once, and is started again after a while. */
  killed(pause: () => Promise<void>): Promise<void>;
  frozen(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startRole(command: 'api' | 'follow', environment: Record<string, string>): Promise<Role> {
  const port = freePort();
  const start = () =>
    Bun.spawn([process.execPath, MAIN, command], {
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

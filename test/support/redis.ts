// Starts a real Redis server for tests, on loopback and in memory only.

import { tmpdir } from 'node:os';
import { freePort } from '../../src/sandbox/free-port.ts';
import { findProgram } from './programs.ts';

export interface RedisServer {
  readonly url: string;
  readonly pid: number;
  /** Kills it with SIGKILL, like a crash. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
}

/** Kills all servers that are still running. */
export function removeRedis(): void {
  for (const end of endings) end();
}

const endings = new Set<() => void>();

export async function startRedis(): Promise<RedisServer> {
  const program = findProgram('redis-server');
  const port = freePort();
  const spawn = () =>
    Bun.spawn([program, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()], {
      stdout: 'ignore',
      stderr: 'ignore',
    });
  const untilReady = async () => {
    for (let left = 100; left > 0; left--) {
      try {
        const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
        socket.end();
        return;
      } catch {
        await Bun.sleep(50);
      }
    }
    throw new Error('redis-server did not start within 5 s');
  };
  let server = spawn();
  endings.add(() => server.kill('SIGKILL'));
  await untilReady();
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    async kill() {
      server.kill('SIGKILL');
      await server.exited;
    },
    async start() {
      server = spawn();
      await untilReady();
    },
  };
}

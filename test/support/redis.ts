// Starts a real Redis server for tests, on loopback and in memory only.

import { tmpdir } from 'node:os';
import { freePort } from '../../src/sandbox/free-port.ts';
import { eventually } from './eventually.ts';
import { findProgram } from './programs.ts';

export type RedisServer = Awaited<ReturnType<typeof startRedis>>;

/** Kills all servers that are still running. */
export function removeRedis(): void {
  for (const end of endings) end();
}

const endings = new Set<() => void>();

export async function startRedis() {
  const program = findProgram('redis-server');
  const port = freePort();
  const spawn = () =>
    Bun.spawn([program, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()], {
      stdout: 'ignore',
      stderr: 'ignore',
    });
  const connect = () => Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
  const untilReady = async () => void (await eventually('redis-server accepts connections', connect)).end();
  let server = spawn();
  endings.add(() => server.kill('SIGKILL'));
  await untilReady();
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    /** Kills it with SIGKILL, like a crash. */
    async kill(): Promise<void> {
      server.kill('SIGKILL');
      await server.exited;
    },
    /** Starts it again, empty, on the same port. */
    async start(): Promise<void> {
      server = spawn();
      await untilReady();
    },
  };
}

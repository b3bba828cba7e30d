// Runs an API process whose webhooks are retried within milliseconds, until it is killed or stopped.

import { runService } from '../../src/service/run-service.ts';

export interface WebhookProcess {
  readonly metricsUrl: string;
  /** As `kill -9` does. */
  kill(): Promise<void>;
  /** Returns the exit code. */
  stop(): Promise<number>;
}

/** Pauses of 2 ms, 15 ms, 60 ms, 0.3 s, …, and attempts of at most 0.5 s. */
const PACE = { retryScale: 0.0005, leaseMs: 1500, pollMs: 20, timeoutMs: 500 };

const children = new Set<Bun.Subprocess>();

/** Kills what a failed test has left behind. */
export function removeWebhookProcesses(): void {
  for (const child of children) child.kill('SIGKILL');
}

export async function startWebhookProcess(databaseUrl: string): Promise<WebhookProcess> {
  const environment = {
    ...{ DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' },
    WEBHOOK_NETWORKS: 'loopback',
  };
  const child = Bun.spawn([process.execPath, import.meta.path], {
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  children.add(child);
  void child.exited.then(() => children.delete(child));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    let text = '';
    // Always read the pipe: unread output would fill the program's memory.
    for await (const chunk of child.stdout) {
      text = (text + new TextDecoder().decode(chunk)).slice(-10_000);
      const [, url] = /"message":"listening".*"metrics":"([^"]+)"/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    }
    reject(new Error(`The process exited with code ${await child.exited}: ${text}`));
  })();
  const metricsUrl = await promise;
  return {
    metricsUrl,
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
    stop() {
      child.kill('SIGTERM');
      return child.exited;
    },
  };
}

if (import.meta.main) await runService(process.env, { sandbox: true, follows: false, delivery: PACE });

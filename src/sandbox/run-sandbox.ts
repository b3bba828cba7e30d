// Runs the sandbox: a local chain with made-up activity, and the service on top of it, until it is stopped.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../service/config.ts';
import { type RunningService, startService } from '../service/run-service.ts';
import { UsageError } from '../service/usage-error.ts';
import { type Activity, createActivity, HISTORY_DAYS } from './activity.ts';
import { type Evm, startEvm } from './evm.ts';
import { freePort } from './free-port.ts';
import { requirePorts, sandboxSettings } from './sandbox-settings.ts';
import { welcomeText } from './welcome.ts';

const TRANSACTION_EVERY_MS = 4000;
const print = (text: string) => void process.stdout.write(`${text}\n`);

export async function runSandbox(environment: Environment): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const { signal } = stopping;
  // All requests are local.
  for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '127.0.0.1,localhost';
  const cleanups: (() => Promise<void> | void)[] = [];
  try {
    const settings = sandboxSettings(environment);
    requirePorts(settings);
    const folder = createFolder();
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    print('Starting a local chain with a month of history…');
    const startedAt = Math.floor(Date.now() / 1000) - HISTORY_DAYS * 86_400;
    const evm = await startEvm({ since: new Date(startedAt * 1000), port: freePort(), folder });
    cleanups.push(evm.stop);
    const activity = createActivity(evm.rpc, Math.random);
    await activity.makeHistory(startedAt);
    const service = await startService(
      { ...settings, DATABASE_URL: `sqlite:${join(folder, 'delegations.db')}`, RPC_URL_1: evm.url },
      { sandbox: true },
    );
    cleanups.push(service.stop);
    await waitUntilIndexed(service, evm, signal);
    if (!signal.aborted) print(await welcomeText(service));
    await runActivity(activity, evm, signal);
  } finally {
    if (signal.aborted) print('\nStopping…');
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
  if (signal.aborted) print('Stopped. All data was deleted.');
}

function createFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'delegations-sandbox-'));
  } catch (error) {
    throw new UsageError(
      `Cannot create a folder in ${tmpdir()}: ${(error as Error).message}. Set TMPDIR to a writable folder.`,
    );
  }
}

async function waitUntilIndexed(service: RunningService, evm: Evm, signal: AbortSignal): Promise<void> {
  const tip = Number(await evm.rpc.call('eth_blockNumber', []));
  for (let left = 300; left > 0 && !signal.aborted; left--) {
    const response = await fetch(`${service.url}/networks`);
    const [network] = (await response.json()) as { ready: boolean; head: { number: number } | null }[];
    if (network?.ready && (network.head?.number ?? 0) >= tip) return;
    await Bun.sleep(100);
  }
  if (!signal.aborted)
    throw new UsageError(
      'The service did not index the local chain within 30 s. Start with LOG_LEVEL=info to see why.',
    );
}

async function runActivity(activity: Activity, evm: Evm, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  const isGone = evm.ended.then(() => true);
  for (;;) {
    const gone = await Promise.race([stopped, isGone, Bun.sleep(TRANSACTION_EVERY_MS).then(() => false)]);
    if (signal.aborted) return;
    if (gone) throw new UsageError('The local chain exited, so the sandbox stops.');
    // If the chain exits during the step, the next turn reports it.
    const text = await activity.step().catch(() => null);
    if (text !== null) print(`  · ${text}`);
  }
}

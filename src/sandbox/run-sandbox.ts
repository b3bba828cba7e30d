// Runs the sandbox: a local chain with made-up activity, and the service on top of it, until it is stopped.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreatedKey, openAccounts } from '../accounts/accounts.ts';
import type { Environment } from '../service/config.ts';
import { type RunningService, startService } from '../service/run-service.ts';
import { UsageError } from '../service/terminal.ts';
import { createActivity, HISTORY_DAYS } from './activity.ts';
import { type Evm, startEvm } from './evm.ts';
import { FINALITY_BLOCKS, requirePorts, sandboxSettings } from './sandbox-settings.ts';
import { readScenario, type Scenario } from './scenario.ts';
import { createTestWallet, TEST_ACCOUNTS } from './test-accounts.ts';
import { type SandboxConnection, welcomeText } from './welcome.ts';

export interface SandboxOptions {
  /** Of the API. Without it, PORT. */
  readonly port?: number | undefined;
  /** Of the chain's JSON-RPC; 0 for any free one. Without it, 8545, or a free one if that is in use. */
  readonly rpcPort?: number | undefined;
  /** The file with the calls to make instead of the built-in history. */
  readonly scenario?: string | undefined;
  /** Seconds between two random transactions; 0 for none. */
  readonly interval?: number | undefined;
  /** Prints one line of JSON when the sandbox is ready, and nothing else. */
  readonly quiet: boolean;
}

const DEFAULT_INTERVAL = 4;
const DAY_SECONDS = 86_400;

export async function runSandbox(environment: Environment, options: SandboxOptions): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const { signal } = stopping;
  const print = (text: string) => void (options.quiet || process.stdout.write(`${text}\n`));
  // All requests are local.
  for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '127.0.0.1,localhost';
  const cleanups: (() => Promise<void> | void)[] = [];
  try {
    const settings = sandboxSettings(environment, options);
    const scenario = options.scenario === undefined ? null : openScenario(options.scenario);
    const hasHistory = scenario === null;
    const rpcPort = requirePorts(settings, options.rpcPort);
    const folder = createFolder();
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    print(`Starting a local chain with ${hasHistory ? 'a month of history' : options.scenario}…`);
    const startedAt = scenario?.startedAt ?? Math.floor(Date.now() / 1000) - HISTORY_DAYS * DAY_SECONDS;
    const evm = await startEvm({ since: new Date(startedAt * 1000), port: rpcPort, folder });
    cleanups.push(evm.stop);
    const activity = createActivity(evm.rpc, Math.random);
    await activity.fundTestAccounts();
    await (hasHistory ? activity.makeHistory(startedAt) : activity.makeCalls(scenario.calls));
    const databaseUrl = `sqlite:${join(folder, 'delegations.db')}`;
    const service = await startService(
      { ...settings, DATABASE_URL: databaseUrl, RPC_URL_1: evm.url },
      { sandbox: true, testWallet: await createTestWallet() },
    );
    cleanups.push(service.stop);
    await waitUntilIndexed(service, evm, signal);
    const interval = options.interval ?? (hasHistory ? DEFAULT_INTERVAL : 0);
    const connection: SandboxConnection = {
      url: service.url.replace('//0.0.0.0:', '//127.0.0.1:'),
      rpcUrl: evm.url,
      key: await createKey(databaseUrl),
      chainId: 1,
      accounts: TEST_ACCOUNTS,
    };
    if (options.quiet) process.stdout.write(`${JSON.stringify(connection)}\n`);
    else if (!signal.aborted)
      print(await welcomeText({ ...connection, metricsUrl: service.metricsUrl, interval, hasHistory }));
    await runActivity(evm, interval, signal, async () => print(`  · ${await activity.step()}`));
  } finally {
    if (signal.aborted) print('\nStopping…');
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
  if (signal.aborted) print('Stopped. All data was deleted.');
}

function openScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`Cannot read the scenario ${path}: ${(error as Error).message}`);
  }
  return readScenario(text, path);
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

async function createKey(databaseUrl: string): Promise<string> {
  await using accounts = await openAccounts(databaseUrl);
  const created = await accounts.create({ label: 'sandbox', now: Math.floor(Date.now() / 1000) });
  return (created as CreatedKey).text;
}

/** Longer than three calls of the local chain that get no response may take. */
const MOST_SECONDS = 90;

async function waitUntilIndexed(service: RunningService, evm: Evm, signal: AbortSignal): Promise<void> {
  const tip = Number(await evm.rpc.call('eth_blockNumber', []));
  const mustBeFinal = tip - FINALITY_BLOCKS;
  let state = '';
  for (let left = 10 * MOST_SECONDS; left > 0 && !signal.aborted; left--) {
    const response = await fetch(`${service.url}/networks`);
    const [network] = (await response.json()) as {
      ready: boolean;
      head: { number: number } | null;
      finalizedBlock: number | null;
    }[];
    const head = network?.head?.number ?? 0;
    const final = network?.finalizedBlock ?? 0;
    if (network?.ready && final >= mustBeFinal && head >= tip) return;
    state = `head ${head} of ${tip}, final block ${final} of ${mustBeFinal}, ${network?.ready ? '' : 'not '}ready`;
    await Bun.sleep(100);
  }
  if (!signal.aborted)
    throw new UsageError(
      `The service did not index the local chain within ${MOST_SECONDS} s (${state}). Start with LOG_LEVEL=info to see why.`,
    );
}

/** Calls `step` every so many seconds, and never if that is 0. Resolves when the signal is given. Throws if the chain exits. */
async function runActivity(evm: Evm, interval: number, signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  const ended = Promise.withResolvers<void>();
  if (signal.aborted) return;
  signal.addEventListener('abort', () => ended.resolve());
  void evm.ended.then(() => ended.reject(new UsageError('The local chain exited, so the sandbox stops.')));
  let isBusy = false;
  const stepOnce = async () => {
    if (isBusy) return;
    isBusy = true;
    // A chain that exits during the step is reported above.
    await step().catch(() => {});
    isBusy = false;
  };
  const timer = interval === 0 ? undefined : setInterval(stepOnce, 1000 * interval);
  try {
    await ended.promise;
  } finally {
    // A timer would keep the process alive.
    clearInterval(timer);
  }
}

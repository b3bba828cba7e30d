// The sandbox from its start to its end, and what it tells the one who started it.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksummed } from '../api/checksum.ts';
import type { Address } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { alignColumns } from '../service/align-columns.ts';
import type { Environment } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { type RunningService, startService } from '../service/run-service.ts';
import { UsageError } from '../service/usage-error.ts';
import { type Activity, createActivity, HISTORY_DAYS } from './activity.ts';
import { type Evm, startEvm } from './evm.ts';
import { COLD, CONTRACTS, HOT, OTHER, SMART } from './wallets.ts';

const STEP_MS = 4000;
const print = (text: string) => void process.stdout.write(`${text}\n`);

export async function runSandbox(environment: Environment): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const { signal } = stopping;
  // Nothing here is asked through a proxy.
  for (const name of ['NO_PROXY', 'no_proxy']) process.env[name] = '127.0.0.1,localhost';
  const undo: (() => Promise<void> | void)[] = [];
  try {
    const settings = settingsOf(environment);
    requireHardhat();
    requirePort(settings);
    const folder = makeFolder();
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    print('Starting a local chain and making a month of history…');
    const beganAt = Math.floor(Date.now() / 1000) - HISTORY_DAYS * 86_400;
    const evm = await startEvm({ since: new Date(beganAt * 1000), folder });
    undo.push(evm.stop);
    const life = createActivity(evm.rpc, Math.random);
    await life.makeHistory(beganAt);
    const service = await startService(
      { ...settings, DATABASE_URL: `sqlite:${join(folder, 'delegations.db')}`, RPC_URL_1: evm.url },
      { sandbox: true },
    );
    undo.push(service.stop);
    await followed(service, evm, signal);
    if (!signal.aborted) await welcome(service);
    await live(life, evm, signal);
  } finally {
    if (signal.aborted) print('\nStopping…');
    for (const one of undo.reverse()) await one();
  }
  if (signal.aborted) print('Stopped: nothing is left.');
}

/** Of the operator's own settings, those that a sandbox can have. */
function settingsOf(environment: Environment): Environment {
  const chains = /^(RPC_URL|START_BLOCK|FINALITY|MAX_LAG|POLL_INTERVAL)_/;
  const settings = {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !chains.test(name))),
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    HOST: environment['HOST'] || '127.0.0.1',
    METRICS_PORT: environment['METRICS_PORT'] || '0',
    LOG_LEVEL: environment['LOG_LEVEL'] || 'warn',
    // These two are known only when the chain and its folder are there.
    DATABASE_URL: 'sqlite:-',
    RPC_URL_1: 'http://127.0.0.1',
    START_BLOCK_1: '0',
    FINALITY_1: '5 blocks',
    POLL_INTERVAL_1: '500',
    MAX_LAG_1: '60',
  };
  readConfig(settings);
  return settings;
}

function requireHardhat(): void {
  if (existsSync(join(import.meta.dir, '../../node_modules/hardhat/package.json'))) return;
  throw new UsageError(
    'The sandbox needs the package hardhat, which is not installed: run npm ci (without --omit=dev).',
  );
}

/** Found out before anything is started. */
function requirePort(settings: Environment): void {
  const { host, port, metricsHost, metricsPort } = readConfig(settings);
  for (const [name, hostname, wanted] of [
    ['PORT', host, port],
    ['METRICS_PORT', metricsHost, metricsPort],
  ] as const) {
    try {
      void Bun.serve({ hostname, port: wanted, reusePort: false, fetch: () => new Response() }).stop(true);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      throw new UsageError(
        code === 'EADDRINUSE'
          ? `Port ${wanted} is taken. Choose another: ${name}=${wanted + 1} npm run sandbox`
          : `Cannot listen on ${hostname}:${wanted}: ${message}. Set HOST and PORT.`,
      );
    }
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'delegations-sandbox-'));
  } catch (error) {
    throw new UsageError(
      `No folder can be made in ${tmpdir()}: ${(error as Error).message}. Set TMPDIR to a folder that can be written.`,
    );
  }
}

/** Until the service has read the whole history. */
async function followed(service: RunningService, evm: Evm, signal: AbortSignal): Promise<void> {
  const tip = Number(await evm.rpc.call('eth_blockNumber', []));
  for (let left = 300; left > 0 && !signal.aborted; left--) {
    const response = await fetch(`${service.url}/networks`);
    const [network] = (await response.json()) as { ready: boolean; head: { number: number } | null }[];
    if (network?.ready && (network.head?.number ?? 0) >= tip) return;
    await Bun.sleep(100);
  }
  if (!signal.aborted)
    throw new UsageError('The service did not follow the local chain within 30 s. LOG_LEVEL=info tells why.');
}

async function live(life: Activity, evm: Evm, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  const isGone = evm.ended.then(() => true);
  for (;;) {
    const gone = await Promise.race([stopped, isGone, Bun.sleep(STEP_MS).then(() => false)]);
    if (signal.aborted) return;
    if (gone) throw new UsageError('The local chain has ended, so the sandbox stops.');
    // Where the chain ends meanwhile, the next turn says so.
    const text = await life.step().catch(() => null);
    if (text !== null) print(`  · ${text}`);
  }
}

const c = (address: Address) => checksummed(address);

async function welcome({ url: bound, metricsUrl }: RunningService): Promise<void> {
  const url = bound.replace('//0.0.0.0:', '//127.0.0.1:');
  const explained = async (path: string) => {
    const answer = await (await fetch(url + path)).text();
    return answer.length > 200 ? `${answer.slice(0, 200)}…` : answer;
  };
  const check = (scope: string, from: Address, to: Address, more = '') =>
    `/registry/v2/check/${scope}?from=${c(from)}&to=${c(to)}${more}`;
  const twoWeeksAgo = new Date(Date.now() - 14 * 86_400_000).toISOString().slice(0, 10);
  const questions = [
    ['May Ada’s hot wallet act for all of her cold one?', check('all', COLD.Ada, HOT.Ada)],
    ['May Finn’s old phone, after he took that back?', check('all', COLD.Finn, OTHER['Old phone'])],
    [
      'And two weeks ago, before he did?',
      check('all', COLD.Finn, OTHER['Old phone'], `&timestamp=${twoWeeksAgo}T00:00:00Z`),
    ],
    [
      'May the agent vote for the Harbour DAO? (the right is the text “vote”)',
      check('all', SMART['Harbour DAO'], OTHER['Vote agent'], `&rights=${rightsOf('vote')}`),
    ],
    [
      'How many Lanterns may Dan’s hot wallet use?',
      check('erc20', COLD.Dan, HOT.Dan, `&contract=${c(CONTRACTS.Lantern)}`),
    ],
    ['What has Ella granted and been granted?', `/registry/v2/${c(COLD.Ella)}`],
  ] as const;
  const answers = await Promise.all(questions.map(async ([, path]) => explained(path)));
  print(`
  SANDBOX: a local chain with made-up wallets. Nothing here is real, and it is gone when you stop it.

  Wallets to play with
${alignColumns([
  ['  Ada, cold and hot', `${c(COLD.Ada)}  ${c(HOT.Ada)}  everything`],
  ['  Ben', `${c(COLD.Ben)}  ${c(HOT.Ben)}  the NFTs ${c(CONTRACTS['Harbour Lights'])}`],
  ['  Cleo', `${c(COLD.Cleo)}  ${c(HOT.Cleo)}  of these, number 42`],
  ['  Dan', `${c(COLD.Dan)}  ${c(HOT.Dan)}  250 of the tokens ${c(CONTRACTS.Lantern)}`],
  ['  Ella', `${c(COLD.Ella)}  ${c(HOT.Ella)}  3 of number 7 of ${c(CONTRACTS['Tidal Cards'])}`],
  ['  Finn', `${c(COLD.Finn)}  ${c(HOT.Finn)}  everything, and no more ${c(OTHER['Old phone'])}`],
])}

  Try
${questions.map(([what, path], turn) => `\n    # ${what}\n    curl '${url}${path}'\n    ${answers[turn]}`).join('\n')}

  Look
${alignColumns([
  [`  ${url}/docs`, 'every question that can be asked, with forms to ask it'],
  [`  ${url}/?wallet=${c(COLD.Ada)}`, 'what Ada has granted, as a picture and a table'],
  [`  ${url}/status`, 'how the chain is followed'],
  [`  ${metricsUrl}`, 'figures for Prometheus'],
])}

  By the command line
    ./delegations check --url ${url} --from ${c(COLD.Ada)} --to ${c(HOT.Ada)}

  Every few seconds somebody delegates, or takes it back. Ctrl-C stops everything.
`);
}

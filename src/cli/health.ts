// delegations health asks the service on this machine whether it is alive: for health checks where there is no shell.
// delegations networks shows the state of every chain.

import { HEALTH_OPERATION, NETWORKS_OPERATION, READY_OPERATION } from '../api/operations.ts';
import type { NetworkRecord } from '../api/responses.ts';
import { urlFor } from '../api/url.ts';
import { serverUrl } from '../http/server/listener.ts';
import { type Config, readConfig } from '../service/config.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, tableOf, writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, SOURCE_ABOUT, SOURCE_OPTIONS, withSource } from './query-target.ts';

const TIMEOUT_MS = 4000;

export const health: Command = {
  name: 'health',
  summary: 'ask whether the service on this machine is alive',
  about: `Asks the service that runs with the same environment: /health at HOST and PORT.
Exit code: 0 it answered 200, 1 it answered otherwise or not within 4 seconds.`,
  options: {
    ready: { about: 'ask /ready: whether the database is available and a chain is up to date' },
    follower: { about: 'ask /metrics at METRICS_HOST and METRICS_PORT: delegations follow serves nothing else' },
  },
  examples: ['delegations health', 'PORT=3000 delegations health --ready', 'delegations health --follower'],
  async run(call) {
    const url = urlOf(readConfig(call.environment), call);
    // The service is asked directly, whatever proxy its providers are reached through.
    process.env['NO_PROXY'] = '*';
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
      ({ status }) => `answered ${status}`,
      (error: Error) => `did not answer: ${error.message}`,
    );
    if (answer !== 'answered 200') process.exitCode = 1;
    await writeOut(`${url} ${answer}\n`);
  },
};

function urlOf({ host, port, metricsHost, metricsPort }: Config, call: Invocation): string {
  if (!call.isSet('follower'))
    return `${originOf(host, port)}${(call.isSet('ready') ? READY_OPERATION : HEALTH_OPERATION).path}`;
  if (call.isSet('ready')) throw new UsageError('A follower has no --ready: it serves nothing but its metrics.');
  return `${originOf(metricsHost, metricsPort)}/metrics`;
}

/** A server that listens on all addresses is asked on the loopback interface. */
const originOf = (host: string, port: number) =>
  serverUrl({ hostname: { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host, port });

export const networks: Command = {
  name: 'networks',
  summary: 'show the state of every chain',
  about: `Shows the newest block, the lag and the readiness of every chain.
Exit code: 0 all chains are ready, 1 some are not, 2 error.

${SOURCE_ABOUT}`,
  options: { json: { about: 'print everything as JSON' }, ...SOURCE_OPTIONS },
  examples: ['delegations networks --url http://localhost:8080', 'delegations networks --json'],
  run: (call) =>
    withSource(call, async (ask) => {
      const all = await jsonOf<NetworkRecord[]>(await ask(urlFor(NETWORKS_OPERATION, {})));
      if (!Array.isArray(all)) throw new UsageError(NO_SERVICE);
      const text = all.length === 0 ? 'No chains yet.' : tableOf(NAMES, all.map(cellsOf));
      if (all.length === 0 || all.some(({ ready }) => !ready)) process.exitCode = 1;
      await writeOut(`${call.isSet('json') ? JSON.stringify(all) : text}\n`);
    }),
};

const NAMES = ['CHAIN', 'NAME', 'READY', 'BLOCK', 'FINAL', 'LAG', ''];

function cellsOf(network: NetworkRecord) {
  const { chainId, name, ready, head, chainBlock, finalizedBlock, lagSeconds, halt, progress } = network;
  const share = progress !== null && progress.share < 0.9999 ? `${(100 * progress.share).toFixed(1)} % indexed` : '';
  return [
    String(chainId),
    name ?? '',
    ready ? 'yes' : 'no',
    head === null ? '–' : `${head.number}${chainBlock === null || ready ? '' : ` of ${chainBlock}`}`,
    finalizedBlock === null ? '–' : String(finalizedBlock),
    lagSeconds === null ? '–' : `${Math.round(lagSeconds)} s`,
    [noteOf(halt, network.clockBehindSeconds) ?? share, ...followerNotes(progress)].filter(Boolean).join('; '),
  ];
}

const noteOf = (halt: NetworkRecord['halt'], clockBehindSeconds: number): string | null => {
  if (halt !== null) return `halted: ${halt.code} since ${dateOf(halt.since)}. ${halt.cause} ${halt.help}`;
  return clockBehindSeconds === 0 ? null : `clock ${clockBehindSeconds} s behind the chain: check NTP`;
};

function followerNotes(progress: NetworkRecord['progress']): string[] {
  const { failing = null, providers = [] } = progress ?? {};
  return [
    ...(failing === null ? [] : [`follower failing: ${failing.cause} since ${dateOf(failing.since)}`]),
    ...providers.flatMap(({ name, cause }) => (cause === null ? [] : `provider ${name} unhealthy: ${cause}`)),
  ];
}

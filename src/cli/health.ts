// delegations health: asks the service on this machine whether it is alive. For health checks where there is no shell.

import { HEALTH_OPERATION, READY_OPERATION } from '../api/operations.ts';
import { serverUrl } from '../http/server/listener.ts';
import { type Config, readConfig } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';
import { writeOut } from './output.ts';

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

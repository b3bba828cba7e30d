// Builds the service's environment for a sandbox, and checks that its ports are free.

import { type Environment, readConfig } from '../service/config.ts';
import { UsageError } from '../service/terminal.ts';
import { freePort } from './free-port.ts';

/** Of local chains: what wallets and libraries try first. */
const DEFAULT_RPC_PORT = 8545;
/** The largest that there is: a local chain stands still while nobody sends a transaction. */
const MAX_LAG_SECONDS = 31_536_000;
/** Blocks that come after a final one. */
export const FINALITY_BLOCKS = 5;

/** Keeps the operator's settings that apply to a sandbox. Throws if one of them is invalid. */
export function sandboxSettings(environment: Environment, options: { port?: number | undefined; quiet: boolean }) {
  const { port, quiet } = options;
  const perChain = /^(RPC_URL|START_BLOCK|FINALITY|MAX_LAG|POLL_INTERVAL)_/;
  const settings: Environment = {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !perChain.test(name))),
    ...(port === undefined ? {} : { PORT: String(port) }),
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    HOST: environment['HOST'] || '127.0.0.1',
    METRICS_PORT: environment['METRICS_PORT'] || '0',
    LOG_LEVEL: environment['LOG_LEVEL'] || (quiet ? 'error' : 'warn'),
    OWNERSHIP: environment['OWNERSHIP'] || 'on',
    PROOFS: environment['PROOFS'] || 'on',
    // Receivers are programs on the same machine.
    WEBHOOK_NETWORKS: environment['WEBHOOK_NETWORKS'] || 'loopback',
    // Placeholders, until the local chain and its folder exist.
    DATABASE_URL: 'sqlite:-',
    RPC_URL_1: 'http://127.0.0.1',
    START_BLOCK_1: '0',
    FINALITY_1: `${FINALITY_BLOCKS} blocks`,
    POLL_INTERVAL_1: '100',
    MAX_LAG_1: String(MAX_LAG_SECONDS),
  };
  readConfig(settings);
  return settings;
}

/** Checked before anything is started. Returns the port of the chain's JSON-RPC. */
export function requirePorts(settings: Environment, rpcPort?: number): number {
  const { host, port, metricsHost, metricsPort } = readConfig(settings);
  requirePort(host, port, '--port', 'Set HOST and --port.');
  requirePort(metricsHost, metricsPort, 'METRICS_PORT', 'Set METRICS_HOST and METRICS_PORT.');
  if (rpcPort === undefined) return findFault('127.0.0.1', DEFAULT_RPC_PORT) === null ? DEFAULT_RPC_PORT : freePort();
  requirePort('127.0.0.1', rpcPort, '--rpc-port', 'Set --rpc-port.');
  return rpcPort === 0 ? freePort() : rpcPort;
}

function requirePort(hostname: string, wanted: number, option: string, advice: string): void {
  const fault = findFault(hostname, wanted);
  if (fault === null) return;
  const another = `${option}${option.startsWith('--') ? ' ' : '='}${wanted + 1}`;
  throw new UsageError(
    fault.code === 'EADDRINUSE'
      ? `Port ${wanted} is already in use. Choose another one: ${another}`
      : `Cannot listen on ${hostname}:${wanted}: ${fault.message}. ${advice}`,
  );
}

/** Why nothing can listen there; null if something can. */
function findFault(hostname: string, port: number): NodeJS.ErrnoException | null {
  try {
    Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() }).stop(true);
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

// Builds the service's environment for a sandbox, and checks that its ports are free.

import type { Environment } from '../service/config.ts';
import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';

/** Keeps the operator's settings that apply to a sandbox. Throws if one of them is invalid. */
export function sandboxSettings(environment: Environment): Environment {
  const perChain = /^(RPC_URL|START_BLOCK|FINALITY|MAX_LAG|POLL_INTERVAL)_/;
  const settings = {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !perChain.test(name))),
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    HOST: environment['HOST'] || '127.0.0.1',
    METRICS_PORT: environment['METRICS_PORT'] || '0',
    LOG_LEVEL: environment['LOG_LEVEL'] || 'warn',
    OWNERSHIP: environment['OWNERSHIP'] || 'on',
    // Placeholders, until the local chain and its folder exist.
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

/** Checked before anything is started. */
export function requirePorts(settings: Environment): void {
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
          ? `Port ${wanted} is already in use. Choose another one: ${name}=${wanted + 1} npm run sandbox`
          : `Cannot listen on ${hostname}:${wanted}: ${message}. Set HOST and ${name}.`,
      );
    }
  }
}

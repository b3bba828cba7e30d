// delegations sandbox: runs the whole service on a local chain.

import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';

export const sandbox: Command = {
  name: 'sandbox',
  summary: 'try the whole service offline, on a local chain',
  usage: '[options]',
  about: `Starts a local chain with both registries and a month of delegations between a few dozen wallets, and the whole service on it.
Needs no RPC provider, no keys and no network. Prints the URLs of its API and its JSON-RPC, an API key, and test accounts with
their private keys, so that a wallet or a program can write to the chain and ask the API. A new transaction is sent every few
seconds. Ctrl-C stops everything and removes the temporary database.

Reads HOST, PORT, METRICS_HOST, METRICS_PORT and LOG_LEVEL [127.0.0.1, 8080, 127.0.0.1, any free port, warn].`,
  options: {
    port: { value: '<port>', about: 'of the API, 0 for any free one [PORT, or 8080]' },
    'rpc-port': {
      value: '<port>',
      about: 'of the JSON-RPC, 0 for any free one [8545, or a free one if that is in use]',
    },
    scenario: {
      value: '<file>',
      about: 'make the grants and revocations of this JSON file instead; docs/integrating.md has an example',
    },
    interval: {
      value: '<seconds>',
      about: 'between two new transactions, 0 for none of its own [4, or 0 with --scenario]',
    },
    quiet: { about: 'print only one line of JSON when it is ready: url, rpcUrl, key, chainId and accounts' },
  },
  examples: [
    'delegations sandbox',
    'delegations sandbox --port 3000 --interval 0',
    'delegations sandbox --quiet --port 0 --rpc-port 0 --scenario delegations.json',
  ],
  async run(call) {
    if (Bun.isStandaloneExecutable)
      throw new UsageError(
        'The sandbox is not part of this executable. Run it from the package, npx delegations sandbox, or in a checkout, npm run sandbox.',
      );
    // Imported here so that no other command loads the local chain.
    const { runSandbox } = await import('../sandbox/run-sandbox.ts');
    await runSandbox(call.environment, {
      port: readUpTo(65_535, call, 'port'),
      rpcPort: readUpTo(65_535, call, 'rpc-port'),
      scenario: call.text('scenario'),
      interval: readUpTo(MAX_INTERVAL, call, 'interval', ' seconds'),
      quiet: call.isSet('quiet'),
    });
  },
};

/** Seconds. A timer cannot wait for longer. */
const MAX_INTERVAL = 86_400;

function readUpTo(most: number, call: Invocation, option: string, unit = ''): number | undefined {
  const given = call.number(option);
  if (given !== undefined && given > most)
    throw new UsageError(`--${option} must be from 0 to ${most}${unit}, got ${given}.`);
  return given;
}

// delegations sandbox: a local chain with both registries and life on it, and the whole service over it.

import { UsageError } from '../service/usage-error.ts';
import type { Command } from './command.ts';

export const sandbox: Command = {
  name: 'sandbox',
  summary: 'the whole service on a local chain, offline, to try it out',
  about: `Starts a local chain with both registries on it, a few dozen wallets with a month of delegations behind them, and the whole
service over it, in a temporary folder. Needs no node, no keys and no network. A new transaction comes every few seconds.
Ctrl-C stops everything and leaves nothing behind.

HOST, PORT, METRICS_HOST, METRICS_PORT and LOG_LEVEL can be set [127.0.0.1, 8080, 127.0.0.1, any, warn].`,
  examples: ['delegations sandbox', 'PORT=3000 delegations sandbox'],
  async run({ environment }) {
    if (Bun.isStandaloneExecutable)
      throw new UsageError(
        'The sandbox brings a chain of its own, which is not in this executable: it runs from a checkout, by npm run sandbox.',
      );
    // Loaded only here: no other command needs what it brings with it.
    const { runSandbox } = await import('../sandbox/run-sandbox.ts');
    await runSandbox(environment);
  },
};

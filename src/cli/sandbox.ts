// delegations sandbox: runs the whole service on a local chain.

import { UsageError } from '../service/usage-error.ts';
import type { Command } from './command.ts';

export const sandbox: Command = {
  name: 'sandbox',
  summary: 'try the whole service offline, on a local chain',
  about: `Starts a local chain with both registries and a month of delegations between a few dozen wallets, and the whole service on it.
Needs no RPC provider, no keys and no network. A new transaction is sent every few seconds. Ctrl-C stops everything and
removes the temporary database.

Reads HOST, PORT, METRICS_HOST, METRICS_PORT and LOG_LEVEL [127.0.0.1, 8080, 127.0.0.1, any free port, warn].`,
  examples: ['delegations sandbox', 'PORT=3000 delegations sandbox'],
  async run({ environment }) {
    if (Bun.isStandaloneExecutable)
      throw new UsageError(
        'The sandbox is not part of this executable: its local chain needs a checkout. Run npm run sandbox there.',
      );
    // Imported here so that no other command loads the local chain.
    const { runSandbox } = await import('../sandbox/run-sandbox.ts');
    await runSandbox(environment);
  },
};

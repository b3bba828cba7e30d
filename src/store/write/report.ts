// Writes what the follower knows about its chain, apart from delegations: its state, its lag, and who follows it.

import type { Engine } from '../engine.ts';
import { LAG_KEPT_SECONDS, type LagSample } from '../lag.ts';
import type { ChainState, Report, Store } from '../store.ts';
import { type LockedWriter, writeState } from './chain-writer.ts';

export const report = (writer: LockedWriter, changes: Report): Promise<ChainState> =>
  writeState(writer, { ...writer.before, ...changes });

/** Records the lag of a chain, and forgets what is older than a day. */
export async function recordLag({ tx, chainId }: LockedWriter, { at, seconds }: LagSample): Promise<void> {
  // After a restart, the same ten minutes can have two samples.
  await tx.run(
    `INSERT INTO lag (chain, at, seconds) VALUES ($1, $2, $3)
      ON CONFLICT (chain, at) DO UPDATE SET seconds = excluded.seconds WHERE excluded.seconds > lag.seconds`,
    [chainId, at, seconds],
  );
  // Later ones are of a clock that was ahead.
  await tx.run('DELETE FROM lag WHERE chain = $1 AND (at <= $2 OR at > $3)', [chainId, at - LAG_KEPT_SECONDS, at]);
}

/** Takes, renews and releases the lease of a chain. Expiry is judged by the database's clock, the same for every process. */
export function createLeases(engine: Engine): Pick<Store, 'lease' | 'release'> {
  const { clock } = engine.dialect;
  const take = `INSERT INTO lease (chain, holder, expires_at) VALUES ($1, $2, ${clock} + $3)
    ON CONFLICT (chain) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE lease.holder = excluded.holder OR lease.expires_at <= ${clock}`;
  return {
    lease: (chainId, holder, forMs) =>
      engine.transaction(async (tx) => {
        await tx.run(take, [chainId, holder, forMs]);
        const [[current] = []] = await tx.rows('SELECT holder FROM lease WHERE chain = $1', [chainId]);
        return String(current);
      }, 'short'),
    release: (chainId, holder) =>
      engine.transaction(async (tx) => {
        await tx.run('DELETE FROM lease WHERE chain = $1 AND holder = $2', [chainId, holder]);
      }, 'short'),
  };
}

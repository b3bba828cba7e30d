// Takes, renews and releases the lease of a chain. Expiry is judged by the database's clock, the same for every process.

import type { Engine } from '../engine.ts';
import type { Store } from '../store.ts';

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

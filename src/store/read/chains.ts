// Reads the state of one chain, or of all.

import type { Engine } from '../engine.ts';
import { rejectNewer, schemaVersion } from '../migrate.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import { STORE_SCHEMA } from '../schema.ts';
import type { Store } from '../store.ts';

export function createChainReads(engine: Engine): Pick<Store, 'chain' | 'chains'> {
  return {
    async chain(chainId) {
      const [row] = await engine.rows(`SELECT ${CHAIN.sql} FROM chain WHERE chain = $1`, [chainId]);
      return row === undefined ? null : decodeChain(row);
    },
    /** Also says so if the store no longer is one that this program can read. */
    async chains() {
      rejectNewer(await schemaVersion(engine, STORE_SCHEMA), STORE_SCHEMA);
      const rows = await engine.rows(`SELECT ${CHAIN.sql} FROM chain ORDER BY chain`, []);
      return rows.map(decodeChain);
    },
  };
}

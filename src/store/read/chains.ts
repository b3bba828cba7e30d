// Reads the state of one chain, or of all.

import type { Engine } from '../engine.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import type { Store } from '../store.ts';

export function createChainReads(engine: Engine): Pick<Store, 'chain' | 'chains'> {
  return {
    async chain(chainId) {
      const [row] = await engine.rows(`SELECT ${CHAIN.sql} FROM chain WHERE chain = $1`, [chainId]);
      return row === undefined ? null : decodeChain(row);
    },
    async chains() {
      const rows = await engine.rows(`SELECT ${CHAIN.sql} FROM chain ORDER BY chain`, []);
      return rows.map(decodeChain);
    },
  };
}

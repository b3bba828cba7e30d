// Reads the lag of all chains since a time.

import type { Engine } from '../engine.ts';
import { decodeNumber } from '../rows/cells.ts';
import type { Store } from '../store.ts';

export const createLags =
  (engine: Engine): Store['lags'] =>
  async (since) => {
    const rows = await engine.rows('SELECT chain, at, seconds FROM lag WHERE at >= $1 ORDER BY chain, at', [since]);
    return rows.map(([chain, at, seconds]) => ({
      chainId: decodeNumber(chain),
      at: decodeNumber(at),
      seconds: decodeNumber(seconds),
    }));
  };

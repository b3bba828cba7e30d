// Reads a chain's logs inside a write transaction, in order, in pages of whole blocks.

import type { Row, WriteTransaction } from '../engine.ts';
import { decodeNumber } from '../rows/cells.ts';
import { LOG } from '../rows/log-row.ts';

/** How many logs are in memory at once. */
const PAGE_LOGS = 5000;

/** Gives rows of `LOG`: most of them are filtered before they are decoded. */
export async function* logPages(tx: WriteTransaction, chainId: number): AsyncGenerator<Row[]> {
  for (let done = -1; ; ) {
    const page = await tx.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND block > $2 ORDER BY block, log_index LIMIT $3`,
      [chainId, done, PAGE_LOGS],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    done = decodeNumber(last[LOG.at.block]);
    const rest = await tx.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND block = $2 AND log_index > $3 ORDER BY log_index`,
      [chainId, done, decodeNumber(last[LOG.at.log_index])],
    );
    yield [...page, ...rest];
  }
}

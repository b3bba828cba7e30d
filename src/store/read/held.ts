// Reads v1 delegations that held at a block: some from one wallet to another, or a certain one.

import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeNumber, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { encodeKey, KEY, keyDecoder } from '../rows/key-columns.ts';
import type { Store } from '../store.ts';
import { isBelowHead } from './unsettled.ts';

const ROW = columns(...KEY.names, 'since_block', 'since_log');
const decodeKey = keyDecoder(ROW.at);

const half = (name: 'open' | 'closed', until: string) => `SELECT ${ROW.sql} FROM span INDEXED BY span_${name}_pair
  WHERE cold = $1 AND hot = $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3 AND version = 1 AND from_addr = $4 AND to_addr = $5
    AND since_block /*pg + 0*/ <= $6 AND until_block ${until}`;
export const HELD = `SELECT ${ROW.sql} FROM (${half('open', 'IS NULL')}
    UNION ALL ${half('closed', `> $6 AND ${isBelowHead('$6', '$3')}`)}) AS held LIMIT $7`;

const openKey = (name: 'open' | 'closed', until: string) => `EXISTS (SELECT 1 FROM span INDEXED BY span_${name}_vault
  WHERE hot = $1 AND key = $2 AND chain = $3 AND version = 1 AND kind = $4 /*pg AND kind >= 0*/ AND from_addr = $5 AND to_addr = $6
    AND contract = $7 AND token_id = $8 AND since_block <= $9 AND until_block ${until})`;
const IS_OPEN = `SELECT 1 FROM chain WHERE chain = $3 AND (${openKey('open', 'IS NULL')} OR ${openKey('closed', '> $9')})`;

export const createIsOpen =
  (engine: Engine, hash: IndexHash): Store['isOpen'] =>
  async (chainId, key, at) => {
    const [kind, from, to, contract, tokenId] = encodeKey(key);
    const cells = [hash.hot(chainId, key.to), hash.key(key), chainId, kind, from, to, contract, tokenId, at];
    return (await engine.rows(IS_OPEN, cells)).length > 0;
  };

export const createHeld =
  (engine: Engine, hash: IndexHash): Store['held'] =>
  async (chainId, { from, to }, at, limit) => {
    const pair = [hash.cold(chainId, from), hash.hot(chainId, to), chainId, encodeHex(from), encodeHex(to)];
    const rows = await engine.rows(HELD, [...pair, at, limit]);
    return rows.map((row) => ({
      ...decodeKey(1, row),
      amount: null,
      since: { block: decodeNumber(row[ROW.at.since_block]), logIndex: decodeNumber(row[ROW.at.since_log]) },
    }));
  };

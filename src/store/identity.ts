// What distinguishes one store from every other, and the secret of its index hashes.

import type { Engine, WriteTransaction } from './engine.ts';
import { decodeUint } from './rows/cells.ts';
import { columns } from './rows/columns.ts';

export interface Identity {
  /** Unique to this store. */
  readonly id: string;
  readonly secret: bigint;
}

const ROW = columns('id', 'secret');

const randomBytes = () => crypto.getRandomValues(new Uint8Array(8));

export async function fillIdentity(tx: WriteTransaction): Promise<void> {
  await tx.run(`INSERT INTO identity (${ROW.sql}) VALUES ($1, $2)`, [randomBytes(), randomBytes()]);
}

export async function readIdentity(engine: Engine): Promise<Identity> {
  const [row = []] = await engine.rows(`SELECT ${ROW.sql} FROM identity`, []);
  return { id: decodeUint(row[ROW.col.id]).toString(36), secret: decodeUint(row[ROW.col.secret]) };
}

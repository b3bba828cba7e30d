// Hashes addresses and keys to 52-bit numbers, which lead the indexes so that an entry is small. Anyone may grant to any
// address, so the hash is keyed with the store's own secret: nobody outside can make collisions. A collision by chance does no
// harm, because every statement compares the full values too.

import { type Address, type DelegationKey, NO_RIGHTS } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import type { Engine, WriteTransaction } from './engine.ts';
import { decodeUint } from './rows/cells.ts';
import { columns } from './rows/columns.ts';

export type IndexHash = ReturnType<typeof createIndexHash>;

/** Leaves 52 of 64 bits, which are exact in a JavaScript number. */
const DROPPED_BITS = 12n;
/** More than any hash. */
export const HASHES = 2 ** 52;

export function createIndexHash(secret: bigint) {
  const hash = (text: string) => Number(Bun.hash.wyhash(text, secret) >> DROPPED_BITS);
  /** Of grants of everything, by version: every check asks for one. */
  const unrestricted = new Map<Version, number>();
  return {
    /** Of the wallet that grants. It differs by chain: a wallet's rows on two chains are no neighbours in an index. */
    cold: (chainId: number, from: Address) => hash(`${chainId} from ${from}`),
    /** Of the wallet that is granted to. It differs by chain too. */
    hot: (chainId: number, to: Address) => hash(`${chainId} to ${to}`),
    /** Of everything that distinguishes the delegations of a pair. */
    key: ({ version, kind, contract, tokenId, rights }: DelegationKey) =>
      kind === 'ALL' && rights === NO_RIGHTS
        ? unrestricted.getOrInsertComputed(version, () => hash(`${version},ALL,null,null,${NO_RIGHTS}`))
        : hash(`${version},${kind},${contract},${tokenId},${rights}`),
  };
}

const ROW = columns('id', 'secret');

const randomBytes = () => crypto.getRandomValues(new Uint8Array(8));

export async function fillIdentity(tx: WriteTransaction): Promise<void> {
  await tx.run(`INSERT INTO identity (${ROW.sql}) VALUES ($1, $2)`, [randomBytes(), randomBytes()]);
}

/** The id that no other store has, and the secret of its index hashes. */
export async function readIdentity(engine: Engine) {
  const [row = []] = await engine.rows(`SELECT ${ROW.sql} FROM identity`, []);
  return { id: decodeUint(row[ROW.col.id]).toString(36), secret: decodeUint(row[ROW.col.secret]) };
}

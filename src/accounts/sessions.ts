// Sign-in nonces and sessions, in the database: any replica can finish what another began.

import { createHash, randomBytes } from 'node:crypto';
import type { Engine } from '../store/engine.ts';

export interface Sessions {
  /** A text that can be signed once. */
  createNonce(now: number): Promise<string>;
  /** True the first time, and only while it is fresh. */
  useNonce(nonce: string, now: number): Promise<boolean>;
  /** Gives the token for the cookie; what is kept is its hash. */
  open(wallet: string, now: number): Promise<string>;
  /** The wallet that is signed in, or null. */
  walletOf(token: string, now: number): Promise<string | null>;
  close(token: string): Promise<void>;
}

/** Seconds within which a sign-in must be finished. */
export const NONCE_SECONDS = 600;
export const SESSION_SECONDS = 86_400;
/** More sign-ins than this at a time are not begun by people: the oldest are forgotten. */
const MOST_NONCES = 10_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest();
const randomText = (bytes: number) => randomBytes(bytes).toString('hex');

export function createSessions(engine: Engine): Sessions {
  return {
    createNonce: (now) =>
      engine.transaction(async (tx) => {
        const nonce = randomText(16);
        await tx.run('DELETE FROM sign_in_nonce WHERE created_at <= $1', [now - NONCE_SECONDS]);
        await tx.run(`DELETE FROM sign_in_nonce WHERE id <= (SELECT max(id) FROM sign_in_nonce) - $1`, [MOST_NONCES]);
        await tx.run('INSERT INTO sign_in_nonce (nonce, created_at) VALUES ($1, $2)', [nonce, now]);
        return nonce;
      }),
    useNonce: (nonce, now) =>
      engine.transaction(async (tx) => {
        const rows = await tx.rows('DELETE FROM sign_in_nonce WHERE nonce = $1 AND created_at > $2 RETURNING id', [
          nonce,
          now - NONCE_SECONDS,
        ]);
        return rows.length === 1;
      }),
    open: (wallet, now) =>
      engine.transaction(async (tx) => {
        const token = randomText(32);
        await tx.run('DELETE FROM session WHERE expires_at <= $1', [now]);
        await tx.run('INSERT INTO session (hash, wallet, expires_at) VALUES ($1, $2, $3)', [
          hashOf(token),
          wallet,
          now + SESSION_SECONDS,
        ]);
        return token;
      }),
    async walletOf(token, now) {
      const [row] = await engine.rows('SELECT wallet FROM session WHERE hash = $1 AND expires_at > $2', [
        hashOf(token),
        now,
      ]);
      return row === undefined ? null : String(row[0]);
    },
    close: (token) =>
      engine.transaction(async (tx) => {
        await tx.run('DELETE FROM session WHERE hash = $1', [hashOf(token)]);
      }),
  };
}

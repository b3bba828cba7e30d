// Sign-in nonces and sessions. A nonce needs no row until it is used, and sessions are in the database: any replica can
// finish what another began.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Engine } from '../store/engine.ts';

export interface Sessions {
  /** A text that can be signed once. */
  createNonce(now: number): string;
  /** True the first time, and only while it is fresh and our own. */
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
/** The newest sessions of a wallet; older ones end. */
const SESSIONS_PER_WALLET = 10;

const hashOf = (token: string) => createHash('sha256').update(token).digest();
const randomText = (bytes: number) => randomBytes(bytes).toString('hex');
/** The time in ten digits, sixteen random ones, and twenty-four that only we can make. */
const NONCE = /^(\d{10})([0-9a-f]{16})([0-9a-f]{24})$/;

export function createSessions(engine: Engine, secret: Uint8Array): Sessions {
  const signOf = (text: string) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 24);
  return {
    createNonce(now) {
      const text = `${String(now).padStart(10, '0')}${randomText(8)}`;
      return text + signOf(text);
    },
    async useNonce(nonce, now) {
      const [, time = '', random = '', sign = ''] = NONCE.exec(nonce) ?? [];
      if (sign === '' || !timingSafeEqual(Buffer.from(sign), Buffer.from(signOf(time + random)))) return false;
      const age = now - Number(time);
      if (age < 0 || age >= NONCE_SECONDS) return false;
      return engine.transaction(async (tx) => {
        await tx.run('DELETE FROM used_nonce WHERE used_at <= $1', [now - NONCE_SECONDS]);
        const rows = await tx.rows(
          'INSERT INTO used_nonce (nonce, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING nonce',
          [nonce, now],
        );
        return rows.length === 1;
      });
    },
    open: (wallet, now) =>
      engine.transaction(async (tx) => {
        const token = randomText(32);
        const expiresAt = now + SESSION_SECONDS;
        await tx.run('DELETE FROM session WHERE expires_at <= $1', [now]);
        await tx.run('INSERT INTO session (hash, wallet, expires_at) VALUES ($1, $2, $3)', [
          hashOf(token),
          wallet,
          expiresAt,
        ]);
        await tx.run(
          `DELETE FROM session WHERE wallet = $1 AND hash NOT IN
            (SELECT hash FROM session WHERE wallet = $1 ORDER BY expires_at DESC, hash LIMIT $2)`,
          [wallet, SESSIONS_PER_WALLET],
        );
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

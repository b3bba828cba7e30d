// Creates sign-in nonces and sessions. A nonce has no row until it is used, and sessions are in the database, so any process can
// finish a sign-in that another started.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Engine } from '../store/engine.ts';
import { decodeTextOrNull } from '../store/rows/cells.ts';

export type Sessions = ReturnType<typeof createSessions>;

/** How long a nonce is valid. */
export const NONCE_SECONDS = 600;
export const SESSION_SECONDS = 86_400;
/** A wallet keeps its newest sessions; older ones end. */
const SESSIONS_PER_WALLET = 10;

const hashToken = (token: string) => createHash('sha256').update(token).digest();
const randomText = (bytes: number) => randomBytes(bytes).toString('hex');
/** Unix seconds in ten digits, sixteen random hex digits, and a signature of twenty-four. */
const NONCE = /^(\d{10})([0-9a-f]{16})([0-9a-f]{24})$/;

export function createSessions(engine: Engine, secret: Uint8Array) {
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 24);
  return {
    /** A text that can be used for one sign-in. */
    createNonce(now: number): string {
      const text = `${String(now).padStart(10, '0')}${randomText(8)}`;
      return text + sign(text);
    },
    /** True the first time, if the nonce is fresh and ours. */
    async useNonce(nonce: string, now: number): Promise<boolean> {
      const [, time = '', random = '', signature = ''] = NONCE.exec(nonce) ?? [];
      if (signature === '' || !timingSafeEqual(Buffer.from(signature), Buffer.from(sign(time + random)))) return false;
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
    /** Returns the token for the cookie. Only its hash is stored. */
    open: (wallet: string, now: number): Promise<string> =>
      engine.transaction(async (tx) => {
        const token = randomText(32);
        const session = [hashToken(token), wallet, now + SESSION_SECONDS];
        await tx.run('DELETE FROM session WHERE expires_at <= $1', [now]);
        await tx.run('INSERT INTO session (hash, wallet, expires_at) VALUES ($1, $2, $3)', session);
        await tx.run(
          `DELETE FROM session WHERE wallet = $1 AND hash NOT IN
            (SELECT hash FROM session WHERE wallet = $1 ORDER BY expires_at DESC, hash LIMIT $2)`,
          [wallet, SESSIONS_PER_WALLET],
        );
        return token;
      }),
    /** The signed-in wallet, or null. */
    async walletOf(token: string, now: number): Promise<string | null> {
      const open = 'SELECT wallet FROM session WHERE hash = $1 AND expires_at > $2';
      const [[wallet] = []] = await engine.rows(open, [hashToken(token), now]);
      return decodeTextOrNull(wallet);
    },
    close: (token: string): Promise<void> =>
      engine.transaction(async (tx) => {
        await tx.run('DELETE FROM session WHERE hash = $1', [hashToken(token)]);
      }),
  };
}

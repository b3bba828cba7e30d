// What the endpoints of the developer page send. They are not part of the API: only that page's scripts use them.

/** Who is signed in. */
export interface SessionJson {
  /** The wallet with its checksum; null if nobody is signed in. */
  readonly wallet: string | null;
  /** The chain of a contract wallet. Other wallets are the same on every chain. */
  readonly chainId: number | null;
}

/** What a sign-in message must say. */
export interface NonceJson {
  readonly nonce: string;
  /** With its checksum. */
  readonly wallet: string;
  /** ISO 8601, by the clock of the service: that of the browser may be wrong. */
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/**
 * - `active`: works
 * - `replaced`: a rotation made a new key, and this one works until `endsAt`
 * - `revoked` and `expired`: has stopped working
 */
export type KeyState = 'active' | 'replaced' | 'revoked' | 'expired';

export interface KeyJson {
  readonly id: number;
  /** The same for a key and all keys that replaced it. */
  readonly group: number;
  /** The first characters of the key. */
  readonly shown: string;
  readonly label: string;
  readonly state: KeyState;
  /** Unix seconds, like all times of a key. */
  readonly createdAt: number;
  /** When it stops working, or stopped; null for never. */
  readonly endsAt: number | null;
  readonly lastUsedAt: number | null;
  /** `<requests>/<seconds>s`, `off` for no limit, null for the default of the service. */
  readonly rateLimit: string | null;
  /** The requests of each of the last 30 days, those of today last. */
  readonly uses: readonly number[];
}

export interface KeyListJson {
  /** How many keys may work at the same time. */
  readonly quota: number;
  /** Newest first. */
  readonly keys: readonly KeyJson[];
  /** What to send as `after` for the next page; null on the last one. */
  readonly next: number | null;
}

export interface NewKeyJson {
  /** The key itself, which is sent only once. */
  readonly key: string;
  readonly record: KeyJson;
}

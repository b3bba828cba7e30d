// Signs deliveries as Standard Webhooks specifies: HMAC-SHA256 of id, timestamp and body.

import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

export const createSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** One signature for each secret: a receiver accepts the delivery if one of them matches. */
export async function signatureOf(secrets: readonly string[], id: string, time: Date, body: string): Promise<string> {
  // Loaded on first use: most processes sign nothing.
  const { Webhook } = await import('standardwebhooks');
  return secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' ');
}

// The body of a test or a challenge. All of it but the challenge follows from its attempt, so it is not stored to be shown.

import type { Attempt } from './webhooks.ts';

export const testPayload = (
  type: Exclude<Attempt['type'], 'changes'>,
  webhook: number,
  at: number,
  challenge?: string,
): string =>
  JSON.stringify({ type: `webhook.${type}`, timestamp: new Date(at).toISOString(), data: { webhook, challenge } });

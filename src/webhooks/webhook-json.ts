// A webhook and its attempts as the developer page and the command line show them. Times are ISO 8601.

import { testPayload } from './test-payload.ts';
import type { Attempt, WebhookRecord } from './webhooks.ts';

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

export const webhookJson = (record: WebhookRecord) => ({
  id: record.id,
  owner: record.owner,
  label: record.label,
  url: record.url,
  ...record.filter,
  at: record.at,
  createdAt: timeOf(record.createdAt),
  state: record.paused === null ? 'active' : 'paused',
  pausedAt: timeOf(record.paused?.at ?? null),
  reason: record.paused?.reason ?? null,
  pending: record.pending && { ...record.pending, createdAt: timeOf(record.pending.createdAt) },
  failures: record.failures,
  nextAttemptAt: timeOf(record.nextAttemptAt),
  testRequestedAt: timeOf(record.testRequestedAt),
  previousSecretUntil: timeOf(record.previousSecretUntil),
  cursor: record.cursor,
});

/** Of a test, with its payload. A challenge is not kept. */
export const attemptJson = (webhook: number, { type, at, ...rest }: Attempt) => ({
  type,
  at: timeOf(at),
  ...rest,
  payload: type === 'changes' ? null : testPayload(type, webhook, at, type === 'challenge' ? '…' : undefined),
});

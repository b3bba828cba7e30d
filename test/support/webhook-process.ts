// Runs an API process whose webhooks are retried within milliseconds, until it is killed or stopped.

import { runService } from '../../src/service/run-service.ts';
import { LOCAL, startListening } from './serve-process.ts';

/** Pauses of 2 ms, 15 ms, 60 ms, 0.3 s, …, and attempts of at most 0.5 s. */
const PACE = { retryScale: 0.0005, leaseMs: 1500, pollMs: 20, timeoutMs: 500 };

export const startWebhookProcess = (databaseUrl: string) =>
  startListening([process.execPath, import.meta.path], {
    environment: { ...process.env, ...LOCAL, DATABASE_URL: databaseUrl, WEBHOOK_NETWORKS: 'loopback' },
  });

if (import.meta.main) await runService(process.env, { sandbox: true, follows: false, delivery: PACE });

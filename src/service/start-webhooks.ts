// Starts delivering webhooks in this process. All processes that serve the API share the work.

import type { Service } from '../http/context/service.ts';
import { type Deliverer, type DelivererOptions, startDeliverer } from '../webhooks/deliverer.ts';
import { createSender, TIMEOUT_MS } from '../webhooks/send.ts';
import { signatureOf } from '../webhooks/sign.ts';
import { createWebhookSource } from '../webhooks/source.ts';
import type { TargetRules } from '../webhooks/target.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export type DeliveryPace = Partial<Pick<DelivererOptions, 'retryScale' | 'leaseMs' | 'pollMs' | 'timeoutMs'>>;

export interface WebhookOptions {
  readonly service: Pick<Service, 'store' | 'chainIds' | 'sandbox' | 'longLists'>;
  readonly webhooks: Webhooks;
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  readonly pace?: DeliveryPace | undefined;
}

export const targetRules = ({ webhookNetworks }: Config, sandbox = false): TargetRules => ({
  networks: webhookNetworks,
  allowsHttp: sandbox,
});

export function startWebhooks(options: WebhookOptions): Deliverer {
  const { service, webhooks, config, log, metrics, onError, pace = {} } = options;
  const { timeoutMs = TIMEOUT_MS } = pace;
  return startDeliverer({
    ...pace,
    timeoutMs,
    webhooks,
    source: createWebhookSource(service),
    send: createSender(targetRules(config, service.sandbox), { timeoutMs }),
    sign: signatureOf,
    onAttempt: metrics.countDelivery,
    onPause: ({ id, owner }, reason) => log('warn', 'webhook paused', { webhookId: id, owner, reason }),
    onError,
  });
}

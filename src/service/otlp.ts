// Sends traces and metrics to an OpenTelemetry collector as OTLP over HTTP, in JSON.

import { version } from '../../package.json' with { type: 'json' };
import type { TelemetryConfig } from './telemetry-config.ts';

const TIMEOUT_MS = 10_000;

type Value = { readonly stringValue: string } | { readonly intValue: string };
export interface Attribute {
  readonly key: string;
  readonly value: Value;
}

export const attributes = (values: Readonly<Record<string, string | number>>): Attribute[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));

export const resourceOf = ({ resource }: TelemetryConfig) => ({
  attributes: attributes({ 'service.version': version, ...resource }),
});

export const SCOPE = { name: 'delegations', version };

/** Unix nanoseconds as text: they are more than a number holds. */
export const nanos = (milliseconds: number): string => `${Math.round(milliseconds * 1000)}000`;

/** Rejects if the collector does not accept it. The error names neither the path nor the headers, which can contain secrets. */
export async function post(url: string, { headers }: TelemetryConfig, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error) => {
    const { code, name } = error as Error & { code?: string };
    throw new Error(`OpenTelemetry collector ${new URL(url).host} unreachable: ${code ?? name}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`OpenTelemetry collector ${new URL(url).host} answered HTTP ${response.status}`);
}

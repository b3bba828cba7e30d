// Reads the standard OTEL_* variables. Without an endpoint, nothing is exported and no exporter is loaded.

import type { ReportFault } from './chain-config.ts';

export interface TelemetryConfig {
  /** Null if that signal is not exported. Both can contain secrets: never log or show them. */
  readonly tracesUrl: string | null;
  readonly metricsUrl: string | null;
  /** Can contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** What describes this service, `service.name` included. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether the caller's sampling decision is followed, and the share of traces that are sampled otherwise. */
  readonly sampler: { readonly isParentBased: boolean; readonly ratio: number };
  readonly metricsIntervalMs: number;
}

/** Name, default and description of every variable, for `--help`. */
export const TELEMETRY_VARIABLES = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'none', 'OpenTelemetry collector for traces and metrics: http://localhost:4318'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'none', 'headers for the collector: name=value,name=value'],
  ['OTEL_SERVICE_NAME', 'delegations', 'name of this service in traces and metrics'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'none', 'more attributes of this service: name=value,name=value'],
  ['OTEL_TRACES_EXPORTER', 'otlp', 'otlp or none'],
  ['OTEL_METRICS_EXPORTER', 'otlp', 'otlp or none'],
  ['OTEL_TRACES_SAMPLER', 'parentbased_always_on', 'always_on, always_off or traceidratio, or parentbased_ before it'],
  ['OTEL_TRACES_SAMPLER_ARG', '1', 'share of traces for traceidratio, 0 to 1'],
  ['OTEL_METRIC_EXPORT_INTERVAL', '60000', 'milliseconds between exports of metrics'],
  ['OTEL_SDK_DISABLED', 'false', 'true: export nothing'],
] as const;

const SAMPLER = /^(parentbased_)?(always_on|always_off|traceidratio)$/;
const LEAST_INTERVAL_MS = 1000;
const MOST_INTERVAL_MS = 3_600_000;

export function readTelemetry(
  environment: Readonly<Record<string, string | undefined>>,
  fault: ReportFault,
): TelemetryConfig | null {
  const text = (name: string, otherwise: string) => environment[name] || otherwise;
  const endpoint = text('OTEL_EXPORTER_OTLP_ENDPOINT', '');
  if (endpoint === '' || text('OTEL_SDK_DISABLED', 'false').toLowerCase() === 'true') return null;

  const isUrl = /^https?:\/\//.test(endpoint) && URL.canParse(endpoint);
  if (!isUrl) fault('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https URL', 'http://localhost:4318');
  const pairs = (name: string): Record<string, string> => {
    const given = text(name, '')
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '')
      .map((pair) => /^([^=\s]+)\s*=\s*(.*)$/.exec(pair));
    if (given.includes(null)) fault(name, 'must be a list of name=value', 'team=indexing,region=eu');
    return Object.fromEntries(given.flatMap((pair) => (pair === null ? [] : [[pair[1], decode(pair[2] ?? '')]])));
  };
  const urlOf = (exporter: string, path: string): string | null => {
    const chosen = text(exporter, 'otlp');
    if (chosen !== 'otlp' && chosen !== 'none') fault(exporter, 'must be otlp or none', 'otlp');
    return chosen === 'otlp' && isUrl ? `${endpoint.replace(/\/+$/, '')}${path}` : null;
  };
  const sampler = SAMPLER.exec(text('OTEL_TRACES_SAMPLER', 'parentbased_always_on'));
  if (sampler === null) fault('OTEL_TRACES_SAMPLER', 'must be a sampler of OpenTelemetry', 'parentbased_traceidratio');
  const [, parentBased, kind] = sampler ?? [];
  const share = Number(text('OTEL_TRACES_SAMPLER_ARG', '1'));
  if (!(share >= 0 && share <= 1)) fault('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1', '0.01');
  const metricsIntervalMs = Number(text('OTEL_METRIC_EXPORT_INTERVAL', '60000'));
  if (!(metricsIntervalMs >= LEAST_INTERVAL_MS && metricsIntervalMs <= MOST_INTERVAL_MS))
    fault('OTEL_METRIC_EXPORT_INTERVAL', `must be a number from ${LEAST_INTERVAL_MS} to ${MOST_INTERVAL_MS}`, '60000');
  const resource = pairs('OTEL_RESOURCE_ATTRIBUTES');
  return {
    tracesUrl: urlOf('OTEL_TRACES_EXPORTER', '/v1/traces'),
    metricsUrl: urlOf('OTEL_METRICS_EXPORTER', '/v1/metrics'),
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS'),
    resource: { ...resource, 'service.name': text('OTEL_SERVICE_NAME', resource['service.name'] ?? 'delegations') },
    sampler: {
      isParentBased: parentBased !== undefined,
      ratio: kind === 'always_off' ? 0 : kind === 'always_on' ? 1 : share,
    },
    metricsIntervalMs,
  };
}

/** Values are percent-encoded, but many people do not know that. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

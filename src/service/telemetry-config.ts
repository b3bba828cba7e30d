// Reads the standard OTEL_* variables. Without an endpoint, nothing is exported and no exporter is loaded.

import { decodePercent } from '../chain/rpc/rpc.ts';
import * as v from './variable.ts';

export type TelemetryConfig = NonNullable<ReturnType<typeof readTelemetry>>;

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

const COLLECTOR = v.textWith(
  'an http or https URL',
  (text) => /^https?:\/\//.test(text) && URL.canParse(text),
  'http://localhost:4318',
);
const PAIRS: v.Kind<Readonly<Record<string, string>>> = {
  rule: 'a list of name=value',
  example: 'team=indexing,region=eu',
  read(text) {
    const pairs = text.split(',').flatMap((pair) => pair.trim() || []);
    const given = pairs.map((pair) => /^([^=\s]+)\s*=\s*(.*)$/.exec(pair));
    return given.includes(null)
      ? undefined
      : // Values are percent-encoded, but many people do not know that.
        Object.fromEntries(given.map((one) => [one?.[1], decodePercent(one?.[2] ?? '')]));
  },
  absent: {},
};
const SAMPLER = /^(parentbased_)?(always_on|always_off|traceidratio)$/;
const numberFrom = (least: number, most: number): v.Kind<number> => ({
  rule: `a number from ${least} to ${most}`,
  read: (text) => (Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
});

export function readTelemetry(environment: v.Environment, fault: v.ReportFault) {
  const read = v.variableReader(TELEMETRY_VARIABLES, environment, fault);
  const isDisabled = read('OTEL_SDK_DISABLED', v.anyText).toLowerCase() === 'true';
  const endpoint = isDisabled ? null : read('OTEL_EXPORTER_OTLP_ENDPOINT', v.orNull(COLLECTOR));
  if (endpoint === null) return null;
  const urlOf = (exporter: 'OTEL_TRACES_EXPORTER' | 'OTEL_METRICS_EXPORTER', path: string) =>
    read(exporter, v.oneOf('otlp', 'none')) === 'none' ? null : `${endpoint?.replace(/\/+$/, '')}${path}`;
  const sampler = v.textWith('a sampler of OpenTelemetry', (text) => SAMPLER.test(text), 'parentbased_traceidratio');
  const [, parentBased, kind] = SAMPLER.exec(read('OTEL_TRACES_SAMPLER', sampler)) ?? [];
  const share = read('OTEL_TRACES_SAMPLER_ARG', numberFrom(0, 1));
  const resource = read('OTEL_RESOURCE_ATTRIBUTES', PAIRS);
  const name = read('OTEL_SERVICE_NAME', v.orNull(v.anyText)) ?? resource?.['service.name'] ?? 'delegations';
  return {
    /** Null if that signal is not exported. Both can contain secrets: never log or show them. */
    tracesUrl: urlOf('OTEL_TRACES_EXPORTER', '/v1/traces'),
    metricsUrl: urlOf('OTEL_METRICS_EXPORTER', '/v1/metrics'),
    /** Can contain secrets. */
    headers: read('OTEL_EXPORTER_OTLP_HEADERS', PAIRS),
    /** What describes this service, `service.name` included. */
    resource: { ...resource, 'service.name': name },
    /** Whether the caller's sampling decision is followed, and the share of traces that are sampled otherwise. */
    sampler: {
      isParentBased: parentBased !== undefined,
      ratio: kind === 'always_off' ? 0 : kind === 'always_on' ? 1 : share,
    },
    metricsIntervalMs: read('OTEL_METRIC_EXPORT_INTERVAL', numberFrom(1000, 3_600_000)),
  };
}

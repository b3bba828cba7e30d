// Sends traces and metrics to an OpenTelemetry collector as OTLP over HTTP, in JSON. Loaded only if there is one.

import { version } from '../../package.json' with { type: 'json' };
import { onBodySent } from '../api/sized-response.ts';
import type { Answered } from '../http/server/app.ts';
import { readTraceParent } from '../http/wire/request-headers.ts';
import type { OnError } from './log.ts';
import type { Family, Histogram, Labels } from './metrics.ts';
import { askedOf } from './request-log.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

const TIMEOUT_MS = 10_000;

const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));

const resourceOf = ({ resource }: TelemetryConfig) => ({
  attributes: attributes({ 'service.version': version, ...resource }),
});

const SCOPE = { name: 'delegations', version };

/** Unix nanoseconds as text: they are more than a number holds. */
const nanos = (milliseconds: number): string => `${Math.round(milliseconds * 1000)}000`;

/** Rejects if the collector does not accept it. The error names neither the path nor the headers, which can contain secrets. */
async function post(url: string, { headers }: TelemetryConfig, body: object): Promise<void> {
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

// Metrics

/** Resolves when the last export has been sent. */
export function startMetricsExport(
  url: string,
  config: TelemetryConfig,
  list: () => Promise<readonly Family[]>,
  onError: OnError,
) {
  const startedAt = Date.now();
  const exportOnce = async () => {
    const times = { startTimeUnixNano: nanos(startedAt), timeUnixNano: nanos(Date.now()) };
    const metrics = (await list()).filter(({ samples }) => samples.length > 0).map((family) => toOtlp(family, times));
    await post(url, config, {
      resourceMetrics: [{ resource: resourceOf(config), scopeMetrics: [{ scope: SCOPE, metrics }] }],
    });
  };
  const timer = setInterval(() => void exportOnce().catch(onError), config.metricsIntervalMs);
  return {
    async stop() {
      clearInterval(timer);
      await exportOnce().catch(onError);
    },
  };
}

/** AGGREGATION_TEMPORALITY_CUMULATIVE: counts since the process started. */
const CUMULATIVE = 2;

function toOtlp({ name, type, help, samples }: Family, times: object): object {
  // JSON has no infinity, which is the lag of a chain that has no block yet.
  const finite = samples.filter(([, value]) => typeof value !== 'number' || Number.isFinite(value));
  const dataPoints = finite.map(([labels, value]) => ({
    attributes: textAttributes(labels),
    ...times,
    ...(typeof value === 'number' ? { asDouble: value } : histogramPoint(value)),
  }));
  const data = {
    counter: { sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } },
    gauge: { gauge: { dataPoints } },
    histogram: { unit: 's', histogram: { dataPoints, aggregationTemporality: CUMULATIVE } },
  };
  return { name, description: help, ...data[type] };
}

/** As text, like the labels of Prometheus. */
const textAttributes = (labels: Labels) =>
  attributes(Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)])));

const histogramPoint = ({ bounds, counts, sum, total }: Histogram) => ({
  // The last bucket has what is above the last bound.
  bucketCounts: [...counts, total - counts.reduce((all, one) => all + one, 0)].map(String),
  explicitBounds: bounds,
  sum,
  count: String(total),
});

// Traces: a span for each request

// As the batch processor of OpenTelemetry.
const EXPORT_MS = 5000;
const MAX_WAITING = 2048;
const BATCH = 512;
const SERVER_KIND = 2;
const ERROR_STATUS = 2;

export function createTraces(url: string, config: TelemetryConfig, onError: OnError) {
  const { sampler } = config;
  let waiting: object[] = [];
  let exporting: Promise<void> = Promise.resolve();

  const exportAll = async () => {
    while (waiting.length > 0) {
      const spans = waiting.splice(0, BATCH);
      await post(url, config, {
        resourceSpans: [{ resource: resourceOf(config), scopeSpans: [{ scope: SCOPE, spans }] }],
      }).catch(onError);
    }
  };
  const flush = () => {
    exporting = exporting.then(exportAll);
    return exporting;
  };
  const timer = setInterval(flush, EXPORT_MS);

  return {
    record(answered: Answered, request: Request, response: Response): void {
      const parent = readTraceParent(request);
      const isSampled =
        parent !== null && sampler.isParentBased
          ? parent.isSampled
          : sampler.ratio > 0 && Math.random() < sampler.ratio;
      if (!isSampled) return;
      const { id, method, route, status, seconds, problem } = answered;
      const { chainId, block } = askedOf(answered, request);
      const startedAt = Date.now() - 1000 * seconds;
      const add = (bytes: number) => {
        if (waiting.length >= MAX_WAITING) return;
        waiting.push({
          traceId: parent?.traceId ?? randomHex(16),
          spanId: randomHex(8),
          ...(parent === null ? {} : { parentSpanId: parent.spanId }),
          name: `${method} ${route}`,
          kind: SERVER_KIND,
          startTimeUnixNano: nanos(startedAt),
          endTimeUnixNano: nanos(Date.now()),
          attributes: attributes({
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
            'http.response.body.size': bytes,
            'delegations.request.id': id,
            ...(chainId === undefined ? {} : { 'delegations.chain.id': chainId }),
            ...(block === undefined ? {} : { 'delegations.block': block }),
            ...(problem === undefined ? {} : { 'error.type': problem }),
          }),
          status: status >= 500 ? { code: ERROR_STATUS } : {},
        });
      };
      onBodySent(method, response, add);
    },
    /** Exports what is left. */
    async stop() {
      clearInterval(timer);
      await flush();
      waiting = [];
    },
  };
}

const randomHex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex();

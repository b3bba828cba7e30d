// Exports all metrics to an OpenTelemetry collector.

import type { Family, Histogram, Labels } from './metrics.ts';
import { attributes, nanos, post, resourceOf, SCOPE } from './otlp.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/** Resolves when the last export has been sent. */
export function startMetricsExport(
  url: string,
  config: TelemetryConfig,
  list: () => Promise<readonly Family[]>,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
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
  const dataPoints = samples.map(([labels, value]) => ({
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

// Exports all metrics, as they are rendered for Prometheus.

import { attributes, nanos, post, resourceOf, SCOPE } from './otlp.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/** Resolves when the last export has been sent. */
export function startMetricsExport(
  url: string,
  config: TelemetryConfig,
  render: () => Promise<string>,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const startedAt = Date.now();
  const exportOnce = async () => {
    const metrics = toOtlp(await render(), startedAt, Date.now());
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

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Only what our own metrics use of the Prometheus text format. */
export function toOtlp(text: string, startedAt: number, now: number): object[] {
  const times = { startTimeUnixNano: nanos(startedAt), timeUnixNano: nanos(now) };
  const families = text.split(/^(?=# HELP )/m).filter((part) => part !== '');
  return families.flatMap((part): object[] => {
    const [, name = '', description = ''] = /^# HELP (\S+) (.*)$/m.exec(part) ?? [];
    const [, type] = /^# TYPE \S+ (\S+)$/m.exec(part) ?? [];
    const samples = [...part.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)].map(
      ([, sample = '', labels = '', value]): Sample => ({
        name: sample,
        labels: readLabels(labels),
        value: Number(value),
      }),
    );
    if (samples.length === 0) return [];
    const points = () =>
      samples
        .filter(({ value }) => Number.isFinite(value))
        .map(({ labels, value }) => ({ attributes: attributes(labels), ...times, asDouble: value }));
    if (type === 'counter')
      return [
        { name, description, sum: { dataPoints: points(), aggregationTemporality: CUMULATIVE, isMonotonic: true } },
      ];
    if (type === 'gauge') return [{ name, description, gauge: { dataPoints: points() } }];
    const dataPoints = histograms(samples).map((point) => ({ ...point, ...times }));
    return [{ name, description, unit: 's', histogram: { dataPoints, aggregationTemporality: CUMULATIVE } }];
  });
}

const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

function histograms(samples: readonly Sample[]): object[] {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series].map(([labels, all]) => {
    const buckets = all.filter(({ name }) => name.endsWith('_bucket'));
    const totalOf = (suffix: string) => all.find(({ name }) => name.endsWith(suffix))?.value ?? 0;
    return {
      attributes: attributes(JSON.parse(labels) as Record<string, string>),
      // Prometheus counts everything up to a bound, OpenTelemetry what is between two.
      bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
      explicitBounds: buckets.slice(0, -1).map((bucket) => Number(bucket.labels['le'])),
      sum: totalOf('_sum'),
      count: String(totalOf('_count')),
    };
  });
}

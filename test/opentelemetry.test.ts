// Traces and metrics at a collector, and nothing without one.

import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { readConfig } from '../src/service/config.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { removeServed, startServe } from './support/serve-process.ts';

afterAll(removeServed);

const ROUTE = '/registry/v2/check/all';
const CHECK = `${ROUTE}?to=${HOT}&from=${COLD}`;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

type Json = Readonly<Record<string, unknown>>;
interface Span extends Json {
  readonly attributes: readonly { readonly key: string; readonly value: Json }[];
}
interface Metric extends Json {
  readonly name: string;
}

interface Exported {
  readonly resourceSpans?: readonly {
    readonly resource: Json;
    readonly scopeSpans: readonly { readonly spans: Span[] }[];
  }[];
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly { readonly metrics: Metric[] }[] }[];
}

/** A collector that keeps what it gets. */
function startCollector(status = 200) {
  const spans: Span[] = [];
  const metrics = new Map<string, Metric>();
  const resources: string[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      headers.push(request.headers);
      const body = (await request.json()) as Exported;
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        resources.push(JSON.stringify(resource));
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      for (const { scopeMetrics } of body.resourceMetrics ?? [])
        for (const scope of scopeMetrics) for (const one of scope.metrics) metrics.set(one.name, one);
      return Response.json({}, { status });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, spans, metrics, resources, headers, stop: () => server.stop(true) };
}

async function filled(): Promise<string> {
  const url = `sqlite:${temporaryPath('otel.db')}`;
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const head = { ...block(101, [granted('ALL')]), timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  await store.close();
  return url;
}

const valuesOf = ({ attributes }: Span) => Object.fromEntries(attributes.map(({ key, value }) => [key, value]));

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  for (const workers of [[], ['serve', '--workers', '2']]) {
    test(`gets a span for each request and all metrics${workers.length > 0 ? ', from workers' : ''}`, async () => {
      const collector = startCollector();
      const environment = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
        MAX_LAG_1: '600',
      };
      const served = await startServe(await filled(), environment, ...workers);
      const traceparent = (flags: string) => ({ traceparent: `00-${TRACE}-${SPAN}-${flags}`, 'x-request-id': 'mine' });
      await fetch(served.url + CHECK, { headers: traceparent('01') });
      // The caller does not sample this one.
      await fetch(served.url + CHECK, { headers: traceparent('00') });
      await fetch(served.url + ROUTE);
      // A stop exports the rest.
      expect(await served.stop()).toBe(0);
      collector.stop();

      expect(collector.headers.every((one) => one.get('authorization') === 'Bearer secret')).toBe(true);
      expect(collector.resources[0]).toContain('"service.name","value":{"stringValue":"delegations"}');
      expect(collector.resources[0]).toContain('deployment.environment');
      const { spans } = collector;
      expect(spans.length).toBe(2);
      const first = spans.find(({ traceId }) => traceId === TRACE) as Span;
      const second = spans.find(({ traceId }) => traceId !== TRACE) as Span;
      expect(first).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, name: `GET ${ROUTE}`, kind: 2 });
      expect(valuesOf(first)).toEqual({
        'http.request.method': { stringValue: 'GET' },
        'http.route': { stringValue: ROUTE },
        'http.response.status_code': { intValue: '200' },
        'http.response.body.size': { intValue: '4' },
        'delegations.request.id': { stringValue: 'mine' },
        'delegations.chain.id': { intValue: '1' },
        'delegations.block': { stringValue: '101' },
      });
      expect(Number(first['startTimeUnixNano'])).toBeLessThanOrEqual(Number(first['endTimeUnixNano']));
      expect(second['traceId']).toMatch(/^[0-9a-f]{32}$/);
      expect(JSON.stringify(spans)).not.toContain(HOT);

      const head = collector.metrics.get('delegations_chain_head') as unknown as { gauge: { dataPoints: Json[] } };
      expect(head.gauge.dataPoints).toMatchObject([{ asDouble: 101 }]);
      if (workers.length > 0) return;
      const requests = collector.metrics.get('delegations_requests_total') as unknown as {
        sum: { dataPoints: Json[] };
      };
      expect(requests.sum.dataPoints.map(({ asDouble }) => asDouble)).toEqual([2, 1]);
      const latency = collector.metrics.get('delegations_request_duration_seconds') as unknown as {
        histogram: { dataPoints: { count: string; bucketCounts: string[]; explicitBounds: number[] }[] };
      };
      const [point] = latency.histogram.dataPoints;
      expect(point?.count).toBe('3');
      expect(point?.bucketCounts.reduce((sum, one) => sum + Number(one), 0)).toBe(3);
      expect(point?.bucketCounts.length).toBe((point?.explicitBounds.length ?? 0) + 1);
    });
  }

  test('that fails changes nothing for callers, and no secret is logged', async () => {
    const collector = startCollector(503);
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/secret-path`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-header',
      MAX_LAG_1: '600',
    };
    const served = await startServe(await filled(), environment);
    expect((await fetch(served.url + CHECK)).status).toBe(200);
    expect(await served.stop()).toBe(0);
    collector.stop();
    const lines = [];
    for await (const line of served.lines) lines.push(JSON.stringify(line));
    expect(lines.join('\n')).toMatch(
      /"level":"warn","message":"(traces|metrics) not exported","times":1,"error":"OpenTelemetry collector 127.0.0.1:\d+ answered HTTP 503"/,
    );
    expect(lines.join('\n')).not.toContain('secret');
  });
});

describe('without a collector', () => {
  test('no exporter is loaded: it is only imported dynamically', async () => {
    const folder = `${import.meta.dir}/../src/service`;
    const importers = [];
    for (const name of readdirSync(folder).filter((one) => !/^otlp|\.test\.ts$/.test(one)))
      if (/^import .*'\.\/otlp/m.test(await Bun.file(`${folder}/${name}`).text())) importers.push(name);
    expect(importers).toEqual([]);
  });

  test('or with OTEL_SDK_DISABLED, nothing is configured', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318';
    expect(readConfig({}).telemetry).toBeNull();
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' }).telemetry).toBeNull();
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }).telemetry).toMatchObject({
      tracesUrl: null,
      metricsUrl: 'http://localhost:4318/v1/metrics',
    });
  });
});

test('invalid OTEL_ variables are reported by name', () => {
  const bad = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret',
    OTEL_TRACES_EXPORTER: 'jaeger',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_METRIC_EXPORT_INTERVAL: 'often',
  };
  let message = '';
  try {
    readConfig(bad);
  } catch (error) {
    message = (error as Error).message;
  }
  for (const name of Object.keys(bad)) expect(message).toContain(`${name} must be`);
  expect(message).not.toContain('secret');
});

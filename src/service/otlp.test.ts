import { expect, test } from 'bun:test';
import { readConfig } from './config.ts';
import { startMetricsExport } from './otlp.ts';

test('a number that JSON does not have is left out, and the others are exported', async () => {
  const sent: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      sent.push(await request.text());
      return Response.json({});
    },
  });
  const { telemetry } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: String(server.url) });
  const samples = [
    [{ chain_id: 1 }, Number.POSITIVE_INFINITY],
    [{ chain_id: 10 }, 3],
  ] as const;
  const list = async () => [{ name: 'lag', type: 'gauge', help: 'Lag.', samples }] as const;
  const url = String(server.url);
  await startMetricsExport(url, telemetry as NonNullable<typeof telemetry>, list as never, () => {}).stop();
  expect(sent.join('').match(/"asDouble":\w+/g)).toEqual(['"asDouble":3']);
  await server.stop(true);
});

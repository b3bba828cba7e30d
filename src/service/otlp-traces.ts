// Exports a span for each request.

import { onBodySent } from '../api/sized-response.ts';
import type { Answered } from '../http/server/app.ts';
import { readTraceParent } from '../http/wire/request-headers.ts';
import { attributes, nanos, post, resourceOf, SCOPE } from './otlp.ts';
import { askedOf } from './request-log.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

export interface Traces {
  record(answered: Answered, request: Request, response: Response): void;
  /** Exports what is left. */
  stop(): Promise<void>;
}

// As the batch processor of OpenTelemetry.
const EXPORT_MS = 5000;
const MAX_WAITING = 2048;
const BATCH = 512;
const SERVER_KIND = 2;
const ERROR_STATUS = 2;

export function createTraces(url: string, config: TelemetryConfig, onError: (error: unknown) => void): Traces {
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
    record(answered, request, response) {
      const parent = readTraceParent(request);
      const isSampled =
        parent !== null && sampler.isParentBased
          ? parent.isSampled
          : sampler.ratio > 0 && Math.random() < sampler.ratio;
      if (!isSampled) return;
      const { id, method, route, status, seconds, problem } = answered;
      const { chainId, block } = askedOf(route, request, response);
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
    async stop() {
      clearInterval(timer);
      await flush();
      waiting = [];
    },
  };
}

const randomHex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex();

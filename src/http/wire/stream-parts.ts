// Sends a body in parts, one after another, each made when the one before was taken.

import { type StreamedBody, streamResponse } from '../../api/sized-response.ts';

interface PartsOptions {
  /** Until then everything must have been sent. */
  readonly seconds: number;
  readonly status?: number;
  readonly headers: NonNullable<ResponseInit['headers']>;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Called once: when everything was sent, on an error, or when the caller has gone. */
  readonly onEnd: () => void;
}

/** Returns false if they end before they are complete. */
export type Parts = AsyncGenerator<string | Uint8Array, unknown, void>;

/** On an error the body ends without its last chunk, so that it does not look complete. */
export function streamParts(parts: Parts, { seconds, status = 200, headers, onError, onEnd }: PartsOptions): Response {
  const encoder = new TextEncoder();
  const deadline = performance.now() + 1000 * seconds;
  const sent: StreamedBody = { bytes: 0, onEnd };
  let hasEnded = false;
  const end = (isComplete: boolean) => {
    if (!hasEnded) sent.onEnd(isComplete);
    hasEnded = true;
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        if (performance.now() > deadline) throw new Error('Not sent within the answer timeout.');
        const { value, done } = await parts.next();
        if (hasEnded) return;
        if (done) {
          controller.close();
          end(value !== false);
          return;
        }
        const bytes = typeof value === 'string' ? encoder.encode(value) : value;
        sent.bytes += bytes.length;
        controller.enqueue(bytes);
      } catch (error) {
        if (hasEnded) return;
        onError?.(error);
        controller.error(error);
        end(false);
      }
    },
    cancel() {
      end(false);
      void parts.return(undefined).catch(() => {});
    },
  });
  return streamResponse(stream, sent, { status, headers });
}

// Sends a body in parts, one after another, each made when the one before was taken.

import { type StreamedBody, streamResponse } from '../../api/sized-response.ts';

interface Sender {
  /** Seconds until everything must have been sent. */
  readonly answerTimeout: number;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Returns false if they end before they are complete. */
export type Parts = AsyncGenerator<string | Uint8Array, unknown, void>;

/**
 * On an error the body ends without its last chunk, so that it does not look complete. `onEnd` is called once: when everything was
 * sent, on an error, or when the caller has gone.
 */
export function streamParts(parts: Parts, init: ResponseInit, onEnd: () => void, { answerTimeout, onError }: Sender) {
  const encoder = new TextEncoder();
  const deadline = performance.now() + 1000 * answerTimeout;
  const sent: StreamedBody = { bytes: 0, onEnd };
  let hasEnded = false;
  const end = (isComplete: boolean) => {
    if (!hasEnded) sent.onEnd(isComplete);
    hasEnded = true;
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await parts.next();
        if (hasEnded) return;
        if (done) {
          controller.close();
          end(value !== false);
          return;
        }
        if (performance.now() > deadline) throw new Error('Not sent within the answer timeout.');
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
  return streamResponse(stream, sent, init);
}

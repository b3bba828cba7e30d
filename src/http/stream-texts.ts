// Sends texts one after another, each made when the one before was taken.

import type { StreamedBody } from '../api/sized-response.ts';

export interface TextStream {
  readonly parts: AsyncGenerator<string, void, void>;
  readonly sent: StreamedBody;
  /** Until then everything must have been sent. */
  readonly seconds: number;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** On an error the body ends without its last chunk, so that it does not look complete. */
export function streamTexts({ parts, sent, seconds, onError }: TextStream): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const deadline = performance.now() + 1000 * seconds;
  return new ReadableStream({
    async pull(controller) {
      try {
        if (performance.now() > deadline) throw new Error('Not sent within the answer timeout.');
        const { value, done } = await parts.next();
        if (done) {
          controller.close();
          sent.onEnd(true);
          return;
        }
        const bytes = encoder.encode(value);
        sent.bytes += bytes.length;
        controller.enqueue(bytes);
      } catch (error) {
        onError?.(error);
        controller.error(error);
        sent.onEnd(false);
      }
    },
    async cancel() {
      sent.onEnd(false);
      await parts.return();
    },
  });
}

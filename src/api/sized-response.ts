// Makes responses that know the size of their body, for the request log.

/** A body that is sent in parts. */
export interface StreamedBody {
  /** Sent so far. */
  bytes: number;
  /** Called once, when the stream ends or the caller disconnects. */
  onEnd: (isComplete: boolean) => void;
}

const BODY = Symbol('body');
type Sized = Response & { [BODY]?: string | Uint8Array | StreamedBody };

const isStreamedBody = (body: Sized[typeof BODY]): body is StreamedBody =>
  typeof body === 'object' && !(body instanceof Uint8Array);

export function textResponse(body: string | Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  const response: Sized = new Response(body, init);
  response[BODY] = body;
  return response;
}

export function streamResponse(stream: ReadableStream<Uint8Array>, body: StreamedBody, init: ResponseInit): Response {
  const response: Sized = new Response(stream, init);
  response[BODY] = body;
  return response;
}

/** Of a body that is sent at once. */
export function bodyLength(response: Response): number {
  const body = (response as Sized)[BODY];
  return body === undefined || isStreamedBody(body) ? 0 : body.length;
}

/** Whether its body is sent in parts. */
export const isStreamed = (response: Response): boolean => isStreamedBody((response as Sized)[BODY]);

/** Calls back when the body has been sent: at once, or at the end of a stream. The body of a HEAD is not sent. */
export function onBodySent(
  method: string,
  response: Response,
  onSent: (bytes: number, isComplete: boolean) => void,
): void {
  const body = method === 'HEAD' ? undefined : (response as Sized)[BODY];
  if (!isStreamedBody(body)) {
    onSent(body === undefined ? 0 : Buffer.byteLength(body), true);
    return;
  }
  const { onEnd } = body;
  body.onEnd = (isComplete) => {
    onEnd(isComplete);
    onSent(body.bytes, isComplete);
  };
}

const PART_BYTES = 64 * 1024;

/** The same response in parts: `onEnd` is called when it was sent, its caller has gone, or the seconds are over. */
export function inParts(response: Response, seconds: number, onEnd: () => void): Response {
  const body = (response as Sized)[BODY];
  if (body === undefined || isStreamedBody(body)) return response;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const deadline = performance.now() + 1000 * seconds;
  const sent: StreamedBody = { bytes: 0, onEnd };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (performance.now() > deadline) {
        controller.error(new Error('Answer not read within the answer timeout.'));
        sent.onEnd(false);
        return;
      }
      const part = bytes.subarray(sent.bytes, sent.bytes + PART_BYTES);
      controller.enqueue(part);
      sent.bytes += part.length;
      if (sent.bytes < bytes.length) return;
      controller.close();
      sent.onEnd(true);
    },
    cancel: () => sent.onEnd(false),
  });
  return streamResponse(stream, sent, response);
}

/** Bun sends a longer response that was not ready at once in dozens of pieces, unless its body is a stream. */
const SENT_AT_ONCE = 12_000;
/** Of UTF-8, for a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/** The same response, in a form that is sent as one piece. The body of a HEAD is not sent, only measured. */
export function inOnePiece(method: string, response: Response): Response {
  const body = (response as Sized)[BODY];
  if (method === 'HEAD' || body === undefined || isStreamedBody(body) || body.length <= SENT_AT_ONCE) return response;
  return new Response(bufferedStream(body), response);
}

/** A stream that is buffered whole is sent with its length. */
function bufferedStream(body: string | Uint8Array): ReadableStream {
  const source: Bun.DirectUnderlyingSource = {
    type: 'direct',
    pull(controller) {
      controller.write(body as Uint8Array<ArrayBuffer>);
      controller.close();
    },
  };
  return new ReadableStream(source, { highWaterMark: MAX_BYTES_PER_UNIT * body.length + 1 });
}

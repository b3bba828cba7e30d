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

/** A body that is sent at once; empty if there is none. */
export function wholeBody(response: Response): string | Uint8Array {
  const body = (response as Sized)[BODY];
  return body === undefined || isStreamedBody(body) ? '' : body;
}

/** Whether its body is sent in parts. */
export const isStreamed = (response: Response): boolean => isStreamedBody((response as Sized)[BODY]);

/** Calls back when the body has been sent: at once, or at the end of a stream. The body of a HEAD is not sent. */
export function onBodySent(method: string, response: Response, onSent: (bytes: number, isComplete: boolean) => void) {
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

/** Bun sends a longer response that was not ready at once in dozens of pieces, unless its body is a stream. */
const SENT_AT_ONCE = 12_000;
/** Of UTF-8, for a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/** The same response, in a form that is sent as one piece. The body of a HEAD is not sent, only measured. */
export function inOnePiece(method: string, response: Response): Response {
  const body = wholeBody(response);
  return method === 'HEAD' || body.length <= SENT_AT_ONCE ? response : new Response(bufferedStream(body), response);
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

// Reads the body of a request: bounded in size and in time.

import { Problem } from '../../api/problems.ts';

/** What a request may have where no operation takes a body. Wallets send less on /developers. */
export const MAX_PLAIN_BYTES = 16 * 1024;
/** A caller that sends more slowly is cut off. */
export const BODY_SECONDS = 30;

const CLOSE = { connection: 'close' };

const tooLarge = (maxBytes: number) =>
  new Problem('content-too-large', `The body is larger than ${maxBytes / 1024} KiB.`, { headers: CLOSE });

/** The length that the request announces; null if the body is sent in chunks. */
export function announcedBytes(request: Request): number | null {
  const length = request.headers.get('content-length');
  return length === null ? null : Number(length);
}

/** Throws a problem if the request announces a larger body. */
export function requireBodyWithin(request: Request, maxBytes: number): void {
  if ((announcedBytes(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** The whole body as text. Throws a problem if it is too large, too slow, cut off, or not UTF-8. `onBytes` may throw one too. */
export async function readBody(
  request: Request,
  maxBytes: number,
  seconds = BODY_SECONDS,
  onBytes: (bytes: number) => void = () => {},
): Promise<string> {
  requireBodyWithin(request, maxBytes);
  const reader = request.body?.getReader();
  if (reader === undefined) return '';
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const detail = `The body did not arrive within ${seconds} seconds.`;
    reject(new Problem('request-timeout', detail, { headers: CLOSE }));
  }, 1000 * seconds);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, bytes] = ['', 0];
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      onBytes(value.length);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof Problem) throw error;
    const isEncoding = error instanceof TypeError;
    throw new Problem('bad-request', isEncoding ? 'The body is not valid UTF-8.' : 'The body was cut off.');
  } finally {
    clearTimeout(timer);
    late.catch(() => {});
  }
}

/** The body of a request that takes JSON alone; undefined if it is not JSON. Throws a problem also if it is of another type. */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  answerTimeout: number,
  onBytes: (bytes: number) => void,
): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Problem('unsupported-media-type', `Content-Type must be application/json, not ${JSON.stringify(type)}.`);
  return parseJson(await readBody(request, maxBytes, Math.min(BODY_SECONDS, answerTimeout), onBytes));
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Texts that callers can get compressed. Only for texts without a secret: the length of a compressed body tells whether something
// that the caller sent is in it too (the BREACH attack).

import { textResponse } from './sized-response.ts';

const TEXT = Symbol('text');
const IS_FIXED = Symbol('is fixed');
type Compressible = Response & { [TEXT]?: string; [IS_FIXED]?: boolean };

interface TextInit {
  readonly status?: number;
  readonly headers: Record<string, string>;
}

/** For a text that is made for one request. */
export function compressibleResponse(text: string, init: TextInit): Response {
  const response: Compressible = textResponse(text, { ...init, headers: { ...init.headers, vary: 'Accept-Encoding' } });
  response[TEXT] = text;
  return response;
}

/** For a text that many requests get. It is compressed once. */
export function fixedResponse(text: string, init: TextInit): Response {
  const response: Compressible = compressibleResponse(text, init);
  response[IS_FIXED] = true;
  return response;
}

/** Makes a text at the first request for it: the commands that only ask questions do not need it. */
export function atFirstUse(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}

/** A shorter one fits into one packet anyway. */
const MIN_LENGTH = 1000;

export const isCompressible = (response: Response): boolean =>
  ((response as Compressible)[TEXT]?.length ?? 0) >= MIN_LENGTH;

/** The same response, compressed if it can be. For callers that accept gzip. */
export function compressed(response: Response): Response {
  const { [TEXT]: text, [IS_FIXED]: isFixed, headers } = response as Compressible;
  if (text === undefined || !isCompressible(response)) return response;
  headers.set('content-encoding', 'gzip');
  return textResponse(isFixed ? compressedOnce(text) : Bun.gzipSync(text), { status: response.status, headers });
}

/** More than there are. Pages name the host that the caller used, which can be any. */
const MAX_KEPT = 40;
const kept = new Map<string, Uint8Array<ArrayBuffer>>();

function compressedOnce(text: string): Uint8Array<ArrayBuffer> {
  const found = kept.get(text);
  const bytes = found ?? Bun.gzipSync(text, { level: 9 });
  // The one that was used longest ago is the first.
  kept.delete(text);
  kept.set(text, bytes);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return bytes;
}

// Sends raw HTTP requests that no HTTP library would send, and reads one response to each.

import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Keeps the connection open as long as the server does. Latin-1, so that each character is one byte. */
export function rawClient(url: string) {
  const { hostname, port } = new URL(url);
  let socket: Socket | null = null;
  let received = '';
  let wake = () => {};

  const open = () => {
    received = '';
    const opened = connect(Number(port), hostname).setEncoding('latin1');
    opened.on('data', (text) => {
      received += text;
      wake();
    });
    opened.on('error', () => {});
    opened.on('close', () => {
      if (socket === opened) socket = null;
      wake();
    });
    socket = opened;
    return opened;
  };

  return {
    /** Null if the server closes the connection without a response. */
    async send(request: string, { head = false } = {}): Promise<RawAnswer | null> {
      const used = socket ?? open();
      received = '';
      used.write(request, 'latin1');
      for (;;) {
        const answer = parse(received, head, socket !== used);
        if (answer !== undefined) return answer;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => void socket?.destroy(),
  };
}

/** Undefined until the response is complete. */
function parse(text: string, head: boolean, closed: boolean): RawAnswer | null | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return closed ? null : undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = text.slice(end + 4);
  if (status === 100) return parse(rest, head, closed);
  const answer = (body: string) => ({ status, headers, body });
  if (head || status === 204 || status === 304) return answer('');
  const length = headers.get('content-length');
  if (length !== undefined) return rest.length >= Number(length) ? answer(rest.slice(0, Number(length))) : undefined;
  if (headers.get('transfer-encoding') !== 'chunked') return closed ? answer(rest) : undefined;
  return rest.endsWith('0\r\n\r\n') ? answer(dechunked(rest)) : undefined;
}

function dechunked(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (!(size > 0)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

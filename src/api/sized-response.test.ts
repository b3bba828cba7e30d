import { describe, expect, test } from 'bun:test';
import { inOnePiece, onBodySent, streamResponse, textResponse } from './sized-response.ts';

/** What a server answers that responds after a turn of the event loop. */
async function answerOf(body: string | Uint8Array<ArrayBuffer>, method: string) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await Bun.sleep(0);
      return inOnePiece(request.method, textResponse(body, { status: 201, headers: { 'x-name': 'value' } }));
    },
  });
  const response = await fetch(server.url, { method });
  const answer = { status: response.status, headers: response.headers, bytes: await response.bytes() };
  await server.stop(true);
  return answer;
}

describe('a response whose body is known', () => {
  const bodies = ['', 'true', 'a'.repeat(12_001), '€ '.repeat(50_000), 'x'.repeat(3_000_000)];
  test.each(bodies.map((body) => [body.length, body]))(
    'of %p characters is sent whole, with its length',
    async (_, body) => {
      const bytes = Buffer.from(body);
      for (const sent of [body, new Uint8Array(bytes)]) {
        const answer = await answerOf(sent, 'GET');
        expect(answer.headers.get('content-length')).toBe(String(bytes.length));
        expect([answer.status, answer.headers.get('x-name')]).toEqual([201, 'value']);
        expect(bytes.equals(answer.bytes)).toBe(true);
      }
    },
  );

  test('tells its length when only its headers are asked for', async () => {
    for (const body of ['true', 'a'.repeat(20_000)]) {
      const { headers, bytes } = await answerOf(body, 'HEAD');
      expect([headers.get('content-length'), bytes.length]).toEqual([String(body.length), 0]);
    }
  });
});

test('what was sent of an answer to a HEAD is nothing, whatever a GET would send', () => {
  const sent: unknown[][] = [];
  const part = { bytes: 5, onEnd() {} };
  for (const response of [textResponse('four', {}), streamResponse(new ReadableStream(), part, {})])
    for (const method of ['GET', 'HEAD']) onBodySent(method, response, (...what) => sent.push([method, ...what]));
  part.onEnd();
  expect(sent).toEqual([
    ['GET', 4, true],
    ['HEAD', 0, true],
    ['HEAD', 0, true],
    ['GET', 5],
  ]);
});

import { describe, expect, spyOn, test } from 'bun:test';
import { compressed, compressibleResponse, fixedResponse } from './compressed-response.ts';
import { textResponse } from './sized-response.ts';

const LONG = 'A line that repeats, with a € sign.\n'.repeat(1000);
const unzipped = (bytes: Uint8Array) => Buffer.from(Bun.gunzipSync(Buffer.from(bytes))).toString();
const INIT = { headers: { 'content-type': 'text/html; charset=utf-8' } };

describe.each([
  ['a text of one request', compressibleResponse],
  ['a text of many requests', fixedResponse],
])('%s', (_, respond) => {
  test('says that its body depends on Accept-Encoding', () => {
    expect(respond(LONG, INIT).headers.get('vary')).toBe('Accept-Encoding');
  });

  test('is compressed, with all its headers, and can be read again', async () => {
    for (const time of ['first', 'again']) {
      const response = compressed(respond(LONG, INIT));
      expect([time, response.status, Object.fromEntries(response.headers)]).toEqual([
        time,
        200,
        { ...INIT.headers, vary: 'Accept-Encoding', 'content-encoding': 'gzip' },
      ]);
      const bytes = await response.bytes();
      expect(bytes.length).toBeLessThan(LONG.length / 10);
      expect(unzipped(bytes)).toBe(LONG);
    }
  });

  test('is sent as it is if it is short', async () => {
    const response = compressed(respond('short', INIT));
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toBe('short');
  });
});

test('more texts than are kept are all compressed to themselves, and 40 are kept', async () => {
  const gzip = spyOn(Bun, 'gzipSync');
  const texts = Array.from({ length: 100 }, (_, number) => `${number} ${LONG}`);
  for (const text of [...texts, ...texts]) {
    const bytes = await compressed(fixedResponse(text, INIT)).bytes();
    expect(unzipped(bytes) === text).toBe(true);
  }
  expect(gzip).toHaveBeenCalledTimes(200);
  for (const text of texts.slice(60)) compressed(fixedResponse(text, INIT));
  expect(gzip).toHaveBeenCalledTimes(200);
  gzip.mockRestore();
});

test('an answer that may hold a secret is never compressed', async () => {
  const response = textResponse(LONG, INIT);
  expect(compressed(response)).toBe(response);
});

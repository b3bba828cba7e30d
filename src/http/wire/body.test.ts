import { expect, spyOn, test } from 'bun:test';
import { readBody } from './body.ts';

const requestOf = (...chunks: readonly Uint8Array[]) =>
  new Request('http://localhost/', {
    method: 'POST',
    body: new ReadableStream({
      pull(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    }),
  });

test('a body that does not announce its length is read up to the limit', async () => {
  const half = new Uint8Array(512).fill(0x61);
  expect(await readBody(requestOf(half, half), 1024)).toBe('a'.repeat(1024));
  await expect(readBody(requestOf(half, half, half), 1024)).rejects.toMatchObject({
    type: 'content-too-large',
    message: 'The body is larger than 1 KiB.',
  });
});

test('a body that does not arrive is waited for 30 seconds', async () => {
  const timer = spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void) => end()) as never);
  const request = new Request('http://localhost/', { method: 'POST', body: new ReadableStream() });
  try {
    await expect(readBody(request, 1024)).rejects.toMatchObject({ type: 'request-timeout' });
    expect(timer.mock.calls.map(([, ms]) => ms)).toEqual([30_000]);
  } finally {
    timer.mockRestore();
  }
});

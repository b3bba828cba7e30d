import { expect, test } from 'bun:test';
import { onBodySent } from '../../api/sized-response.ts';
import { type Parts, streamParts } from './stream-parts.ts';

async function* made(isComplete: boolean): Parts {
  yield 'one';
  yield new Uint8Array(4);
  return isComplete;
}
async function* broken(): Parts {
  yield 'one';
  throw new Error('broken');
}

test.each([
  ['is complete at the end of its parts', made(true), 60, [7, true]],
  ['is not complete if its parts say so', made(false), 60, [7, false]],
  ['is not complete if a part fails, nor does it look so', broken(), 60, [3, false]],
  ['is cut off after the answer timeout', made(true), -1, [0, false]],
])('a body in parts %s', async (_, parts, answerTimeout, expected) => {
  const ends: unknown[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const response = streamParts(parts, {}, () => ends.push('end'), { answerTimeout, onError });
  onBodySent('GET', response, (...sent) => ends.push(...sent));
  const text = await response.text().catch((error) => error);
  expect(ends).toEqual(['end', ...expected]);
  expect(errors).toEqual(text instanceof Error ? [text] : []);
  expect(text instanceof Error).toBe(expected[0] !== 7);
});

test('a body in parts is not complete if its caller has gone, though all parts were taken', async () => {
  const ends: unknown[] = [];
  const response = streamParts(made(true), {}, () => ends.push('end'), { answerTimeout: 60 });
  onBodySent('GET', response, (...sent) => ends.push(...sent));
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  await reader?.cancel();
  expect(ends).toEqual(['end', 7, false]);
});

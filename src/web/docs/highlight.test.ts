import { describe, expect, test } from 'bun:test';
import { EXAMPLES } from '../../api/examples.ts';
import { highlight, tokensOf } from './highlight.ts';
import { answerText, SAMPLE_LANGUAGES, sampleOf } from './samples.ts';

describe('the tokens of code', () => {
  test('are the whole code, for every sample and answer', () => {
    for (const example of EXAMPLES) {
      for (const { id, name } of SAMPLE_LANGUAGES) {
        const text = sampleOf(id, example) ?? '';
        expect([
          name,
          tokensOf(id, text)
            .map(([, part]) => part)
            .join(''),
        ]).toEqual([name, text]);
      }
      const answer = answerText(example);
      expect(
        tokensOf('json', answer)
          .map(([, part]) => part)
          .join(''),
      ).toBe(answer);
    }
  });

  test('of a shell', () => {
    expect(tokensOf('sh', "curl 'http://x/-d?a=1' -H 'A: b'")).toEqual([
      ['k', 'curl'],
      [null, ' '],
      ['s', "'http://x/-d?a=1'"],
      [null, ' '],
      ['p', '-H'],
      [null, ' '],
      ['s', "'A: b'"],
    ]);
  });

  test('of TypeScript', () => {
    expect(tokensOf('ts', "const a = f({ id: 7n, to: '0x1 // 2' }); // true")).toEqual([
      ['k', 'const'],
      [null, ' a = f({ '],
      ['p', 'id'],
      [null, ': '],
      ['n', '7n'],
      [null, ', '],
      ['p', 'to'],
      [null, ': '],
      ['s', "'0x1 // 2'"],
      [null, ' }); '],
      ['c', '// true'],
    ]);
  });

  test('of Python', () => {
    expect(tokensOf('python', 'import json\nx = {"a": "b"}  # ok')).toEqual([
      ['k', 'import'],
      [null, ' json\nx = {'],
      ['p', '"a"'],
      [null, ': '],
      ['s', '"b"'],
      [null, '}  '],
      ['c', '# ok'],
    ]);
  });

  test('of JSON, with quotes and digits in texts', () => {
    expect(tokensOf('json', '{"a \\" 1": [12, "3 \\"x\\" true", true]}')).toEqual([
      [null, '{'],
      ['p', '"a \\" 1"'],
      [null, ': ['],
      ['n', '12'],
      [null, ', '],
      ['s', '"3 \\"x\\" true"'],
      [null, ', '],
      ['n', 'true'],
      [null, ']}'],
    ]);
  });
});

test('highlighted code is escaped', () => {
  expect(highlight('ts', "'<b>' & x").text).toBe('<span class="s">&#39;&lt;b&gt;&#39;</span> &amp;<wbr> x');
});

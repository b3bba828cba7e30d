// The strict JSON reader against JSON.parse, and what JSON.parse hides: digits and repeated names.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createJsonReader, isObject, JsonError, JsonNumber, type JsonValue, MAX_OBJECT } from './json-reader.ts';

const read = (text: string): JsonValue => {
  const reader = createJsonReader(text);
  const value = reader.readValue();
  reader.requireEnd();
  return value;
};

/** As JSON.parse would return it. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(value.names.map((name, place) => [name, plain(value.values[place] ?? null)]));
}

const scalar = fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
/** What the reader reads, as JSON. */
const flat = fc.oneof(scalar, fc.dictionary(fc.string(), scalar)).map((value) => JSON.stringify(value));

/** What a reader makes of a text; null if it is not JSON. */
const attempt = (parse: () => unknown) => {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonError) return null;
    throw error;
  }
};

describe('the JSON reader', () => {
  test('reads what JSON.parse reads, with any spaces', () => {
    fc.assert(
      fc.property(flat, fc.constantFrom(0, 1, '\t'), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        for (const one of [text, spaced]) expect(plain(read(one))).toEqual(JSON.parse(one));
      }),
      { numRuns: 1000 },
    );
  });

  test('accepts a broken text exactly if JSON.parse does', () => {
    const pieces = [
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '0',
      '1',
      '-',
      '.',
      'e',
      'n',
      '\n',
      '\0',
      '\u00e9',
      '\\u00',
    ];
    const edit = fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom('', ...pieces));
    fc.assert(
      fc.property(flat, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
        let broken = text;
        for (const [place, removed, added] of edits) {
          const at = place % (broken.length + 1);
          broken = broken.slice(0, at) + added + broken.slice(at + removed);
        }
        const [ours, theirs] = [attempt(() => read(broken)), attempt(() => JSON.parse(broken))];
        const isNested =
          theirs !== null && /^\[|[:,]\s*[[{]/.test(JSON.stringify(theirs.value).replaceAll(/"(\\.|[^"\\])*"/g, '""'));
        expect([broken, ours === null]).toEqual([broken, theirs === null || isNested]);
      }),
      { numRuns: 5000 },
    );
  });

  test('keeps every digit of a number', () => {
    for (const text of ['9007199254740993', '-0', '1.0000000000000000001', '1e400', '9'.repeat(5000)])
      expect(read(text)).toEqual(new JsonNumber(text));
  });

  test('reads objects that are written alike, or nearly so, as it reads each alone', () => {
    const name = fc.constantFrom('a', 'b', 'to', '\u00e9', '"');
    const field = fc.tuple(name, scalar, fc.constantFrom('', ' ', '\n'));
    const object = fc
      .array(field, { maxLength: 4 })
      .map(
        (fields) =>
          `{${fields.map(([key, value, space]) => `${space}${JSON.stringify(key)}:${space}${JSON.stringify(value)}`)}}`,
      );
    /** As a reader of its own makes of each. */
    const seen = (value: JsonValue) =>
      isObject(value) ? [value.names, value.values, value.repeated, value.names.map((one) => value.get(one))] : value;
    fc.assert(
      fc.property(
        fc.array(object, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (some, turns) => {
          const texts = turns.map((turn) => some[turn % some.length] as string);
          const reader = createJsonReader(texts.join(','));
          const together = texts.map((_, turn) => {
            if (turn > 0) reader.require(',');
            return seen(reader.readValue());
          });
          reader.requireEnd();
          expect(together).toEqual(texts.map((text) => seen(read(text))));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('refuses a broken object after others as it refuses it alone, but for the position', () => {
    const good = '{"a":1,"b":"x"}';
    const long = `{"a":1,"b":"${'x'.repeat(MAX_OBJECT)}"}`;
    for (const bad of [
      '{"a":1,"b":',
      '{"a":[1],"b":2}',
      '{"a":1,"b":NaN}',
      '{"a":1,"b":"x"',
      '{"a":1,"b":"x",}',
      '{"a":1 "b":2}',
      '{"a":1,"b:2}',
      '{"a" :1,b:2}',
      long,
    ]) {
      const messageOf = (before: string) => {
        const reader = createJsonReader(before + bad);
        try {
          if (before !== '') reader.readValue();
          reader.take(',');
          reader.readValue();
        } catch (error) {
          return (error as JsonError).message.replace(/\d+/, (digits) => String(Number(digits) - before.length));
        }
        return null;
      };
      const alone = messageOf('');
      expect([bad, alone]).not.toEqual([bad, null]);
      expect([bad, messageOf(`${good},`)]).toEqual([bad, alone]);
    }
  });

  test('shows repeated names, and keeps their first value', () => {
    const value = read('{"to":"a","from":"b","to":"c"}');
    expect(isObject(value) && [value.get('to'), value.repeated]).toEqual(['a', ['to']]);
  });

  test('takes __proto__ for a name like any other', () => {
    const value = read('{"__proto__":"a"}');
    expect(isObject(value) && value.names).toEqual(['__proto__']);
  });

  test('refuses what is nested where it begins, and what is long', () => {
    for (const [text, position] of [
      ['['.repeat(1_000_000), 0],
      [`{"a":${'[1,'.repeat(1_000_000)}`, 5],
      ['{"a":'.repeat(1_000_000), 5],
    ] as const)
      expect(() => read(text)).toThrow(
        `expected a string or a number, found "${text[position]}" at position ${position}`,
      );
    const ofLength = (length: number) => `{"a":"${'b'.repeat(length - 8)}"}`;
    expect(isObject(read(ofLength(MAX_OBJECT)))).toBe(true);
    for (const length of [MAX_OBJECT + 2, 1_000_000])
      expect(() => read(ofLength(length))).toThrow('the object at position 0 is longer than 4096 characters');
  });

  test('says where the text is wrong', () => {
    for (const [text, message] of [
      ['{"a":NaN}', 'expected a value, found "N" at position 5'],
      ['{"a":1', 'expected "}", found the end'],
      ['{a:1}', 'expected a string, found "a" at position 1'],
      ['"abc', 'the string at position 0 is not closed'],
      ['"a\nb"', 'the string at position 0 has an invalid character or escape'],
      ['1 2', 'expected the end, found "2" at position 2'],
    ])
      expect(() => read(text as string)).toThrow(message as string);
  });

  test('takes time that grows with the length only', () => {
    const began = performance.now();
    for (const text of [`"${'\\"'.repeat(1_000_000)}"`, `"${'\\\\'.repeat(1_000_000)}"`])
      expect(() => read(text)).not.toThrow();
    console.log(`6 MB of hostile strings: ${(performance.now() - began).toFixed(0)} ms`);
  });
});

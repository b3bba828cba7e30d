// Reads JSON strictly, a value at a time: keeps the text of numbers, and shows repeated names.

/** A number as it was written: its digits may not fit a float. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface JsonObject {
  readonly values: ReadonlyMap<string, JsonValue>;
  /** Names that the object has more than once. */
  readonly repeated: readonly string[];
}

export type JsonValue = string | JsonNumber | boolean | null | readonly JsonValue[] | JsonObject;

export const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && 'repeated' in value;

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

export interface JsonReader {
  /** Takes this character if it is the next one. */
  take(character: string): boolean;
  /** Takes this character, which must be the next one. */
  require(character: string): void;
  readString(): string;
  readValue(): JsonValue;
  /** Only spaces may follow. */
  requireEnd(): void;
  /** Where the next value starts, or where reading failed. */
  position(): number;
}

/** Far deeper than any valid body. */
const MAX_DEPTH = 8;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPECIAL = /[\\\p{Cc}]/u;
const BACKSLASH = 0x5c;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export function createJsonReader(text: string): JsonReader {
  let at = 0;

  function fail(expected: string): never {
    const found = at < text.length ? `${JSON.stringify(text[at])} at position ${at}` : 'the end';
    throw new JsonError(`expected ${expected}, found ${found}`);
  }

  function take(character: string): boolean {
    while (isSpace(text.charCodeAt(at))) at++;
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function require(character: string): void {
    if (!take(character)) fail(`"${character}"`);
  }

  function isEscaped(position: number): boolean {
    let slashes = 0;
    while (text.charCodeAt(position - 1 - slashes) === BACKSLASH) slashes++;
    return slashes % 2 === 1;
  }

  function readString(): string {
    if (!take('"')) fail('a string');
    const start = at;
    let end = text.indexOf('"', start);
    while (end >= 0 && isEscaped(end)) end = text.indexOf('"', end + 1);
    if (end < 0) throw new JsonError(`the string at position ${start - 1} is not closed`);
    at = end + 1;
    const plain = text.slice(start, end);
    if (!SPECIAL.test(plain)) return plain;
    try {
      return JSON.parse(text.slice(start - 1, at)) as string;
    } catch {
      throw new JsonError(`the string at position ${start - 1} has an invalid character or escape`);
    }
  }

  function readObject(depth: number): JsonObject {
    const values = new Map<string, JsonValue>();
    const repeated: string[] = [];
    require('{');
    if (take('}')) return { values, repeated };
    do {
      const name = readString();
      require(':');
      const value = readValue(depth + 1);
      if (values.has(name)) repeated.push(name);
      else values.set(name, value);
    } while (take(','));
    require('}');
    return { values, repeated };
  }

  function readArray(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    require('[');
    if (take(']')) return items;
    do items.push(readValue(depth + 1));
    while (take(','));
    require(']');
    return items;
  }

  function readValue(depth = 0): JsonValue {
    if (depth > MAX_DEPTH) throw new JsonError(`it is nested more than ${MAX_DEPTH} deep`);
    while (isSpace(text.charCodeAt(at))) at++;
    switch (text[at]) {
      case '"':
        return readString();
      case '{':
        return readObject(depth);
      case '[':
        return readArray(depth);
    }
    for (const [word, value] of LITERALS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return value;
    }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text)?.[0];
    if (number === undefined) fail('a value');
    at += number.length;
    return new JsonNumber(number);
  }

  return {
    take,
    require,
    readString,
    readValue: () => readValue(),
    requireEnd() {
      while (isSpace(text.charCodeAt(at))) at++;
      if (at < text.length) fail('the end');
    },
    position() {
      while (isSpace(text.charCodeAt(at))) at++;
      return at;
    },
  };
}

// Reads JSON strictly, a flat object at a time: keeps the text of numbers, and shows repeated names. What is nested or long is refused
// where it begins, so that a caller cannot send much that is read for nothing.

/** A number as it was written: its digits may not fit a float. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonScalar = string | JsonNumber | boolean | null;

export interface JsonObject {
  readonly values: Map<string, JsonScalar>;
  /** Names that the object has more than once. */
  readonly repeated: readonly string[];
}

export type JsonValue = JsonScalar | JsonObject;

export const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && 'repeated' in value;

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** Characters of an object: far more than any question has. */
export const MAX_OBJECT = 4096;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPECIAL = /[\\\p{Cc}]/u;
const BACKSLASH = 0x5c;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export function createJsonReader(text: string) {
  let at = 0;
  /** Most texts have none: then their strings need not be looked at one by one. */
  const hasSpecial = SPECIAL.test(text);

  function fail(expected: string): never {
    const found = at < text.length ? `${JSON.stringify(text[at])} at position ${at}` : 'the end';
    throw new JsonError(`expected ${expected}, found ${found}`);
  }

  function skipSpaces(): void {
    while (isSpace(text.charCodeAt(at))) at++;
  }

  /** Takes this character if it is the next one. */
  function take(character: string): boolean {
    skipSpaces();
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  /** Takes this character, which must be the next one. */
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
    if (!hasSpecial || !SPECIAL.test(plain)) return plain;
    try {
      return JSON.parse(text.slice(start - 1, at)) as string;
    } catch {
      throw new JsonError(`the string at position ${start - 1} has an invalid character or escape`);
    }
  }

  function readObject(): JsonObject {
    const values = new Map<string, JsonScalar>();
    const repeated: string[] = [];
    const start = at;
    require('{');
    if (take('}')) return { values, repeated };
    do {
      const name = readString();
      require(':');
      const value = readScalar();
      if (at - start > MAX_OBJECT)
        throw new JsonError(`the object at position ${start} is longer than ${MAX_OBJECT} characters`);
      if (values.has(name)) repeated.push(name);
      else values.set(name, value);
    } while (take(','));
    require('}');
    return { values, repeated };
  }

  function readScalar(): JsonScalar {
    skipSpaces();
    if (text[at] === '"') return readString();
    if (text[at] === '{' || text[at] === '[') fail('a string or a number');
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
    /** A value that stands alone, or an object of such values. */
    readValue(): JsonValue {
      skipSpaces();
      return text[at] === '{' ? readObject() : readScalar();
    },
    /** Only spaces may follow. */
    requireEnd(): void {
      skipSpaces();
      if (at < text.length) fail('the end');
    },
    /** Where the next value starts, or where reading failed. */
    position(): number {
      skipSpaces();
      return at;
    },
  };
}

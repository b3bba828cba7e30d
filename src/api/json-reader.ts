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

export class JsonObject {
  readonly #form: Form;
  /** In the order of its names. */
  readonly values: JsonScalar[];
  /** Names that it has more than once: the first value counts. */
  readonly repeated: readonly string[];
  constructor(form: Form, values: JsonScalar[], repeated: readonly string[]) {
    this.#form = form;
    this.values = values;
    this.repeated = repeated;
  }
  get names(): readonly string[] {
    return this.#form.names;
  }
  /** Null is the same as absent. */
  get(name: string): Exclude<JsonScalar, null> | undefined {
    const place = this.#form.places.get(name);
    return place === undefined ? undefined : (this.values[place] ?? undefined);
  }
}

export type JsonValue = JsonScalar | JsonObject;

export const isObject = (value: JsonValue): value is JsonObject => value instanceof JsonObject;

/** How an object is written. Most objects of a text are written as the one before: then only their values are read. */
interface Form {
  /** What stands before each value, from the end of the one before. */
  readonly leads: readonly string[];
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

/** For the readers of texts whose objects are alike. */
export const createForms = () => ({ last: { leads: [], names: [], places: new Map() } as Form });

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** Characters of an object: far more than any question has. */
export const MAX_OBJECT = 4096;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPECIAL = /[\\\p{Cc}]/u;
const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;
const NONE: readonly string[] = [];

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export function createJsonReader(text: string, forms = createForms()) {
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
    const start = at;
    const values: JsonScalar[] = [];
    const form = forms.last;
    for (const lead of form.leads) {
      if (!text.startsWith(lead, at)) return readNewForm(start, values);
      at += lead.length;
      values.push(readScalar());
      requireShort(start);
    }
    if (values.length === 0 || !take('}')) return readNewForm(start, values);
    return new JsonObject(form, values, NONE);
  }

  /** The rest of an object whose first values were read. */
  function readNewForm(start: number, values: JsonScalar[]): JsonObject {
    const { last } = forms;
    const leads = last.leads.slice(0, values.length);
    const places = new Map(last.names.slice(0, values.length).map((name, place) => [name, place]));
    const repeated: string[] = [];
    for (;;) {
      const end = at;
      if (end === start) {
        require('{');
        if (take('}')) break;
      } else if (!take(',')) {
        require('}');
        break;
      }
      const name = readString();
      require(':');
      skipSpaces();
      leads.push(text.slice(end, at));
      const value = readScalar();
      requireShort(start);
      if (places.has(name)) {
        repeated.push(name);
        continue;
      }
      places.set(name, values.length);
      values.push(value);
    }
    const form: Form = { leads, names: [...places.keys()], places };
    if (repeated.length === 0) forms.last = form;
    return new JsonObject(form, values, repeated);
  }

  function requireShort(start: number): void {
    if (at - start > MAX_OBJECT)
      throw new JsonError(`the object at position ${start} is longer than ${MAX_OBJECT} characters`);
  }

  function readScalar(): JsonScalar {
    skipSpaces();
    const code = text.charCodeAt(at);
    if (code === QUOTE) return readString();
    if (code === 0x7b || code === 0x5b) fail('a string or a number');
    NUMBER.lastIndex = at;
    if (NUMBER.test(text)) {
      const number = text.slice(at, NUMBER.lastIndex);
      at = NUMBER.lastIndex;
      return new JsonNumber(number);
    }
    for (const [word, value] of LITERALS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return value;
    }
    return fail('a value');
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

// Assertions that run in every runtime.

const written = (value: unknown) =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' || one === undefined ? `${typeof one} ${one}` : one), 1);

/** Compares values with everything inside, except the order of names. */
export function equal(actual: unknown, expected: unknown): void {
  if (written(sorted(actual)) !== written(sorted(expected)))
    throw new Error(`expected ${written(expected)}, found ${written(actual)}`);
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [name, sorted(one)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
};

export function ensure(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`expected ${what}`);
}

/** Returns the error of a call. Throws if it has another class, or none: an answer is the worst outcome. */
export async function rejects<E extends Error>(
  promise: Promise<unknown>,
  Class: abstract new (...args: never[]) => E,
): Promise<E> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) throw new Error(`expected ${Class.name}, got the answer ${written(outcome.value)}`);
  const { error } = outcome;
  if (error instanceof Class && error.constructor === Class) return error;
  throw new Error(`expected ${Class.name}, found ${error}`, { cause: error });
}

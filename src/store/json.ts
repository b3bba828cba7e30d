// JSON that preserves bigints.

export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? { bigint: String(one) } : one));
export const readJson = (text: string): unknown =>
  JSON.parse(text, (_, one) => (typeof one?.bigint === 'string' ? BigInt(one.bigint) : one));

// The ABI encoding of what has no fixed length, in words of 32 bytes.

const numberWord = (value: number) => value.toString(16).padStart(64, '0');

/** Bytes: their number, and the bytes themselves up to a whole word. */
export function encodeBytes(data: string): string {
  const digits = data.slice(2);
  return `${numberWord(digits.length / 2)}${digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')}`;
}

/** A single argument that is an array of elements without a fixed length. */
export function encodeArray(elements: readonly string[]): string {
  let at = 32 * elements.length;
  const offsets = elements.map((element) => {
    const offset = numberWord(at);
    at += element.length / 2;
    return offset;
  });
  return `${numberWord(32)}${numberWord(elements.length)}${offsets.join('')}${elements.join('')}`;
}

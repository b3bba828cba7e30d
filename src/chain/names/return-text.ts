// A text that a contract returned. Anybody can deploy a contract, so it is data to show and nothing more.

const utf8 = new TextDecoder('utf-8');

/** Null if the data is no text of at most so many bytes. */
export function decodeText(data: string, maxBytes: number): string | null {
  const bytes = bytesOfText(data);
  return bytes !== null && bytes.length <= maxBytes ? utf8.decode(bytes) : null;
}

/** A contract of before ERC-20 was final returns one word, with zeros at its end. */
function bytesOfText(data: string): Uint8Array | null {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(data)) return null;
  const bytes = Uint8Array.fromHex(data.slice(2));
  if (bytes.length === 32) return bytes.subarray(0, bytes.indexOf(0) < 0 ? 32 : bytes.indexOf(0));
  const [offset, length] = [wordAt(bytes, 0), wordAt(bytes, 32)];
  return offset === 32 && length !== null && 64 + length <= bytes.length ? bytes.subarray(64, 64 + length) : null;
}

/** Null for a number that is not a length. */
function wordAt(bytes: Uint8Array, at: number): number | null {
  const word = bytes.subarray(at, at + 32);
  if (word.length < 32 || word.subarray(0, 28).some((byte) => byte !== 0)) return null;
  return new DataView(word.buffer, word.byteOffset).getUint32(28);
}

/** What is read of a text before it is shortened. */
const MAX_READ = 1000;
export const MAX_SHOWN = 32;

/**
 * The text on one line and shortened, without what changes how the text around it is read: characters of control, of format and of
 * direction, those that are not seen, heaps of accents, and quotes, which end what it is shown in.
 */
export function harmless(text: string): string {
  const line = text
    .slice(0, MAX_READ)
    .normalize('NFC')
    .replace(/[\p{Z}\t\n\r]+/gu, ' ')
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}\ufffd]/gu, '')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .replace(/["“”„‟«»]/gu, "'")
    .trim();
  const characters = [...line];
  return characters.length <= MAX_SHOWN
    ? line
    : `${characters
        .slice(0, MAX_SHOWN - 1)
        .join('')
        .trimEnd()}…`;
}

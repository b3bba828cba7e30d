// Validates the label of a key: a short text that is safe to show anywhere.

const MAX_LENGTH = 100;
/** Control characters, direction marks and lone surrogates, which a terminal or page could act on. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export const LABEL_RULE = `1 to ${MAX_LENGTH} characters without control characters`;

/** Null if the text is not a valid label. */
export function readLabel(text: unknown): string | null {
  const label = typeof text === 'string' ? text.trim() : '';
  return label === '' || label.length > MAX_LENGTH || UNSAFE.test(label) ? null : label;
}

// What a key may be called: a short text that is safe to show anywhere.

const LONGEST = 100;
/** Controls, direction marks, halves of characters: nothing that a terminal or a page would act on. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export const LABEL_RULE = `1 to ${LONGEST} characters without control characters`;

/** Null where the text can be no label. */
export function readLabel(text: unknown): string | null {
  const label = typeof text === 'string' ? text.trim() : '';
  return label === '' || label.length > LONGEST || UNSAFE.test(label) ? null : label;
}

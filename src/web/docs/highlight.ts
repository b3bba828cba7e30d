// Splits code into the parts that are coloured. Small and approximate: it knows the code of the examples.

import { Html, html } from '../html.ts';

export type Language = 'sh' | 'ts' | 'python' | 'json';

/** Keyword, string, number, comment, or property. */
type Kind = 'k' | 's' | 'n' | 'c' | 'p';
export type Token = readonly [kind: Kind | null, text: string];

const keywords = (words: string) => `\\b(?:${words.replaceAll(' ', '|')})\\b`;
const SINGLE = "'(?:[^'\\\\]|\\\\.)*'";
const DOUBLE = '"(?:[^"\\\\]|\\\\.)*"';

/** The first that matches wins. */
const RULES: Readonly<Record<Language, readonly (readonly [Kind, string])[]>> = {
  sh: [
    ['s', "'[^']*'"],
    ['k', '^curl\\b'],
    ['p', '(?<=\\s)--?[A-Za-z][\\w-]*'],
  ],
  ts: [
    ['c', '//[^\\n]*'],
    ['s', SINGLE],
    ['k', keywords('import from const for await of if else')],
    ['n', '\\b\\d[\\d_]*n?\\b|\\b(?:true|false|null)\\b'],
    ['p', '\\b\\w+(?=:)'],
  ],
  python: [
    ['c', '#[^\\n]*'],
    ['p', `${DOUBLE}(?=:)`],
    ['s', DOUBLE],
    ['k', keywords('import from with as for in if else')],
    ['n', '\\b\\d+\\b|\\b(?:True|False|None)\\b'],
  ],
  json: [
    ['p', `${DOUBLE}(?=:)`],
    ['s', DOUBLE],
    ['n', '-?\\b\\d[\\d.eE+-]*|\\b(?:true|false|null)\\b'],
  ],
};

/** The parts of the code, in order. Together they are the code. */
export function tokensOf(language: Language, code: string): Token[] {
  const rules = RULES[language];
  const tokens: Token[] = [];
  let end = 0;
  for (const match of code.matchAll(new RegExp(rules.map(([, rule]) => `(${rule})`).join('|'), 'gm'))) {
    const [text, ...groups] = match;
    if (match.index > end) tokens.push([null, code.slice(end, match.index)]);
    tokens.push([rules[groups.findIndex((group) => group !== undefined)]?.[0] ?? null, text]);
    end = match.index + text.length;
  }
  if (end < code.length) tokens.push([null, code.slice(end)]);
  return tokens;
}

/** A long URL is broken between its parameters rather than within an address. */
const breakable = (text: string) => new Html(html`${text}`.text.replaceAll('&amp;', '&amp;<wbr>'));

export const highlight = (language: Language, code: string): Html =>
  html`${tokensOf(language, code).map(([kind, text]) =>
    kind === null ? breakable(text) : html`<span class="${kind}">${breakable(text)}</span>`,
  )}`;

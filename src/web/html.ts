// A template tag for HTML that escapes every value that is not already HTML.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What is null, undefined or false is left out. */
type Part = string | number | Html | readonly Html[] | null | undefined | false;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');

const renderPart = (part: Part): string => {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escaped(String(part));
};

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, next, position) => text + renderPart(parts[position - 1]) + next));
}

/** Escapes text, and makes elements of `code` and of [links](/path) within this site. */
export const prose = (text: string): Html =>
  new Html(
    escaped(text)
      .replace(/`([^`]+)`/g, (_, code: string) => `<code>${code}</code>`)
      .replace(
        /\[([^\]]+)\]\((#[\w-]+|\/(?!\/)[\w./#-]*)\)/g,
        (_, name: string, href: string) => `<a href="${href}">${name}</a>`,
      ),
  );

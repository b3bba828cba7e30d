// Reads what a caller accepts and prefers from its Accept headers.

/** The quality that the header gives a type by name; 0 if it does not name the type. */
function qualityOf(accept: string, type: string): number {
  for (const part of accept.toLowerCase().split(',')) {
    const [name, ...params] = part.split(';').map((one) => one.trim());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith('q='))?.slice(2) ?? '1';
    return /^[01](\.\d{0,3})?$/.test(quality) ? Number(quality) : 0;
  }
  return 0;
}

/** Browsers name HTML when they open an address. What programs and scripts send names JSON, or nothing. */
export function prefersHtml({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  const json = Math.max(qualityOf(accept, 'application/json'), qualityOf(accept, 'application/problem+json'));
  return qualityOf(accept, 'text/html') > json;
}

/** Browsers do not name Markdown. A caller that does wants it, unless it prefers HTML. */
export function prefersMarkdown({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? '';
  const quality = qualityOf(accept, 'text/markdown');
  return quality > 0 && quality >= qualityOf(accept, 'text/html');
}

/** A caller that does not name gzip may not know it. */
export const acceptsGzip = ({ headers }: Request): boolean =>
  qualityOf(headers.get('accept-encoding') ?? '', 'gzip') > 0;

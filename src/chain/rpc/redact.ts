// Removes the parts of provider URLs from texts: a URL can contain a key.

export type Redact = (text: string) => string;

export function createRedactor(urls: readonly string[]): Redact {
  const parts = urls.flatMap((text) => {
    const url = new URL(text);
    const values = [...url.searchParams.values(), ...url.pathname.split('/'), url.username, url.password];
    return [text, url.host, url.hostname, ...values, ...values.map(decode)];
  });
  // Longest first, because one can contain another.
  const secrets = [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length);
  // In any letter case: libraries change that of hosts.
  const anyCase = secrets.map((secret) => new RegExp(RegExp.escape(secret), 'gi'));
  return (text) => anyCase.reduce((left, secret) => left.replaceAll(secret, '…'), text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

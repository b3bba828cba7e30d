// Runs servers that only the fetch of this process can reach. There is no socket, and a response that never comes is reported
// at once as a timeout.

type Respond = (body: never) => Promise<unknown>;

const servers = new Map<string, (body: string) => Promise<Response>>();
let count = 0;
const DOMAIN = '.in-process';

export function serveInProcess(respond: Respond, noAnswer: symbol) {
  install();
  const url = `http://node-${++count}${DOMAIN}`;
  servers.set(url, async (body) => {
    const result = await respond(JSON.parse(body) as never);
    if (result === noAnswer) throw new DOMException('The operation timed out.', 'TimeoutError');
    return result instanceof Response ? result : answerOf(JSON.stringify(result));
  });
  return { url, port: 0, stop: async () => void servers.delete(url) };
}

const NO_HEADERS = new Headers({ 'content-length': '0' });

/** The part of a Response that callers read. Creating a real Response takes longer than everything else. */
const answerOf = (text: string) =>
  ({ ok: true, status: 200, headers: NO_HEADERS, text: async () => text }) as unknown as Response;

let isInstalled = false;

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { fetch } = globalThis;
  const fetchHere = (url: string | URL | Request, options?: RequestInit): Promise<Response> => {
    if (typeof url !== 'string' || !url.endsWith(DOMAIN)) return fetch(url, options);
    return servers.get(url)?.(String(options?.body)) ?? Promise.reject(new TypeError('No such server'));
  };
  globalThis.fetch = Object.assign(fetchHere, { preconnect: fetch.preconnect });
}

// A server that fails as the path of a request says. /<faults>/<run>/… meets the faults one after another, and the last one from
// then on: /reset+ok/7/networks cuts the first response, and answers the second request. /requests/<run> lists what has arrived.

import type { Socket } from 'bun';
import { PROBLEMS, type ProblemType, problemUri } from '../../src/api/problems.ts';
import { ADA, BEN } from './suite/world.ts';

interface Response {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the connection, or stays silent, in the middle of the body. */
  readonly ending?: 'reset' | 'silence';
}

const JSON_TYPE = 'application/json; charset=utf-8';
const html = (status: number): Response => ({
  status,
  body: `<html><h1>${status} from a proxy</h1></html>`,
  headers: { 'content-type': 'text/html' },
});
const json = (value: unknown, status = 200): Response => ({
  status,
  body: JSON.stringify(value),
  headers: { 'content-type': JSON_TYPE },
});
function problem(type: ProblemType, retryAfter?: string): Response {
  const { status, title } = PROBLEMS[type];
  const contentType = { 'content-type': 'application/problem+json' };
  return {
    ...json({ type: problemUri(type), title, status, detail: 'as the path says' }, status),
    headers: retryAfter === undefined ? contentType : { ...contentType, 'retry-after': retryAfter },
  };
}

const BLOCK = { number: 5, hash: null, timestamp: null };
const CHAINS = [{ chainId: 1, block: BLOCK }];
const tomorrow = () => new Date(Date.now() + 86_400_000).toUTCString();
const yesterday = () => new Date(Date.now() - 86_400_000).toUTCString();

const FAULTS: Readonly<Record<string, () => Response | null>> = {
  ok: () => json(true),
  'ok-batch': () => json({ answers: [{ result: true }], chains: CHAINS }),
  vaults: () => json({ vaults: [ADA, BEN].map((vault) => ({ vault, chainId: 1 })), chains: CHAINS, next: null }),
  'no-vaults': () => json({ vaults: [], chains: CHAINS, next: null }),
  silence: () => null,
  'silence-in-body': () => ({ ...json(true), ending: 'silence' }),
  reset: () => ({ ...json(true), ending: 'reset' }),
  'html-502': () => html(502),
  'html-503': () => html(503),
  'html-504': () => html(504),
  'html-200': () => html(200),
  'html-404': () => html(404),
  cut: () => ({ ...json(true), body: '{"result":' }),
  empty: () => ({ ...json(true), body: '' }),
  null: () => json(null),
  text: () => json('false'),
  number: () => json(0),
  object: () => json({}),
  list: () => json([null]),
  redirect: () => ({ status: 307, body: '', headers: { location: '/ok/redirected/' } }),
  stale: () => problem('chain-stale'),
  'stale-3': () => problem('chain-stale', '3'),
  slow: () => problem('request-timeout'),
  'stale-0': () => problem('chain-stale', '0'),
  'limited-0': () => problem('too-many-requests', '0'),
  'limited-5': () => problem('too-many-requests', '5'),
  'limited-yesterday': () => problem('too-many-requests', yesterday()),
  'limited-3600': () => problem('too-many-requests', '3600'),
  'limited-tomorrow': () => problem('too-many-requests', tomorrow()),
  'limited-nonsense': () => problem('too-many-requests', 'soon'),
  'unknown-problem': () => json({ type: '/docs#problem-brand-new', title: 'New', detail: 'later' }, 422),
  // As long as the start of ours, so that cutting it off would leave the name of a class.
  'foreign-problem': () => json({ type: '/errors/internal', title: 'Foreign', detail: 'of a proxy' }, 400),
  'no-answers': () => json({ answers: [], chains: CHAINS }),
  'two-answers': () => json({ answers: [{ result: true }, { result: true }], chains: CHAINS }),
  'answer-null': () => json({ answers: [null], chains: CHAINS }),
  'answer-of-no-chain': () => json({ answers: [{ result: true }], chains: [] }),
  'answer-of-other-type': () => json({ answers: [{ result: '1' }], chains: CHAINS }),
  'problem-null': () => json({ answers: [{ problem: null }], chains: CHAINS }),
  'same-page': () =>
    json({ vaults: [], holders: [], holds: null, chainId: 1, block: BLOCK, chains: CHAINS, next: 'same' }),
  'chain-without-block': () => json({ vaults: [], chains: [{ chainId: 1 }], next: null }),
  'chain-null': () => json({ vaults: [], chains: [null], next: null }),
  'chain-problem-null': () => json({ vaults: [], chains: [{ chainId: 1, problem: null }], next: null }),
  'same-changes': () => json({ changes: [], chains: CHAINS, end: false, cursor: 'same' }),
};

const faultOf = (name: string): Response | null => {
  const [, type] = /^problem-of-(.+)$/.exec(name) ?? [];
  if (type !== undefined) return problem(type as ProblemType, '3600');
  const fault = FAULTS[name];
  if (fault === undefined) throw new Error(`no such fault: ${name}`);
  return fault();
};

export interface FaultyServer {
  readonly url: string;
  stop(): void;
}

/** `grant` is called for each request of /grant. */
export function startFaultyServer(grant: () => Promise<void>): FaultyServer {
  /** The method and the body of each request, by run. */
  const requests = new Map<string, string[]>();

  async function respond(method: string, path: string, body: string): Promise<Response | null> {
    const [, faults = '', run = ''] = path.split(/[/?]/);
    if (method === 'OPTIONS') return { status: 204, body: '' };
    if (faults === 'page')
      return {
        status: 200,
        body: '<!doctype html><html lang="en"><title>suite</title><div id="root"></div></html>',
        headers: { 'content-type': 'text/html' },
      };
    if (faults === 'favicon.ico') return html(404);
    if (faults === 'requests') return json(requests.get(run) ?? []);
    if (faults === 'grant') return grant().then(() => json(null));
    const arrived = requests.get(run) ?? [];
    requests.set(run, [...arrived, `${method} ${body}`.trim()]);
    const names = faults.split('+');
    return faultOf(names[Math.min(arrived.length, names.length - 1)] as string);
  }

  const server = Bun.listen<{ text: string }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: '' };
      },
      data(socket, chunk) {
        socket.data.text += chunk.toString();
        const [, method = '', path = '', head = ''] = /^(\S+) (\S+) ([\s\S]*?)\r\n\r\n/.exec(socket.data.text) ?? [];
        const body = socket.data.text.slice(socket.data.text.indexOf('\r\n\r\n') + 4);
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
        if (method === '' || body.length < length) return;
        socket.data.text = '';
        void respond(method, path, body).then((response) => response !== null && write(socket, response));
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** Each response has a connection of its own: a runtime may repeat a request by itself if a reused one ends. */
function write(socket: Socket<{ text: string }>, { status, body, headers = {}, ending }: Response): void {
  const lines = Object.entries({
    connection: 'close',
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    'access-control-expose-headers': '*',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} x\r\n${lines.join('')}\r\n`;
  if (ending === undefined) socket.end(head + body);
  else socket.write(head + body.slice(0, body.length / 2));
  if (ending === 'reset') socket.terminate();
}

import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { temporaryPath } from '../../test/support/engines.ts';
import type { SendFailure } from './connect.ts';
import { type Networks, parseNetworks } from './networks.ts';
import { createSender, type SendOptions } from './send.ts';

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const read = (path: string) => readFileSync(path, 'utf8');

/** A self-signed certificate. */
function selfSigned(name: string): Certificate {
  const [key, cert] = [temporaryPath('key'), temporaryPath('cert')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, ...subject, '-days', '2');
  return { key: read(key), cert: read(cert) };
}

function createAuthority() {
  const authority = selfSigned('authority.example');
  const [caKey, ca] = [temporaryPath('key'), temporaryPath('cert')];
  writeFileSync(caKey, authority.key);
  writeFileSync(ca, authority.cert);
  return {
    ca: authority.cert,
    /** `names` are such as DNS:hooks.example or IP:127.0.0.1. A negative number of days makes an expired certificate. */
    issue(names: string, days = 2): Certificate {
      const paths = ['key', 'request', 'cert', 'extensions'].map(temporaryPath);
      const [key = '', request = '', cert = '', extensions = ''] = paths;
      writeFileSync(extensions, `subjectAltName=${names}`);
      openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', '/CN=receiver');
      const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', String(days), '-extfile', extensions];
      openssl('x509', '-req', '-in', request, '-out', cert, ...signing);
      return { key: read(key), cert: read(cert) };
    },
  };
}

const authority = createAuthority();
const { ca } = authority;
const HOOKS = authority.issue('DNS:hooks.example');

const LOCAL = { networks: parseNetworks('loopback') as Networks, allowsHttp: true };
const PUBLIC = { networks: parseNetworks('') as Networks, allowsHttp: true };
const OK = 'HTTP/1.1 204 No Content\r\n\r\n';
const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'msg_1' };

const servers: { server: Server; sockets: Set<Socket> }[] = [];
afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

type Answer = string | ((socket: Socket, request: string) => void);

/** A receiver that answers once the request is complete. `connections` counts those that were accepted. */
async function receive(answer: Answer, certificate?: Certificate, host = '127.0.0.1', port = 0) {
  const receiver = { port: 0, connections: 0, requests: [] as string[] };
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      receiver.requests.push(text);
      if (typeof answer === 'string') socket.end(answer);
      else answer(socket, text);
    });
  };
  const server = certificate === undefined ? createServer(accept) : (createTlsServer(certificate, accept) as Server);
  server.on('connection', (socket) => {
    receiver.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  servers.push({ server, sockets });
  await new Promise<void>((listening) => server.listen(port, host, listening));
  receiver.port = (server.address() as { port: number }).port;
  return receiver;
}

const send = (url: string, options: SendOptions = {}, rules = LOCAL, body = '{}') =>
  createSender(rules, { ca, resolve: async () => ['127.0.0.1'], ...options })(url, HEADERS, body);

const failed = (reason: SendFailure, status: number | null = null) => ({
  type: 'failed' as const,
  reason,
  status,
  ms: expect.any(Number),
});

describe('a delivery', () => {
  test('is one POST over TLS with exactly the given bytes', async () => {
    const receiver = await receive(OK, HOOKS);
    const body = '{"text":"größer ✓"}';
    const outcome = await send(`https://hooks.example:${receiver.port}/a/b?c=d%20e`, {}, LOCAL, body);
    expect(outcome).toEqual({ type: 'delivered', status: 204, ms: expect.any(Number) });
    expect(receiver.requests).toEqual([
      [
        'POST /a/b?c=d%20e HTTP/1.1',
        `host: hooks.example:${receiver.port}`,
        'user-agent: delegations-webhooks',
        'connection: close',
        `content-length: ${Buffer.byteLength(body)}`,
        'content-type: application/json',
        'webhook-id: msg_1',
        '',
        body,
      ].join('\r\n'),
    ]);
  });

  test('of 256 kB arrives whole', async () => {
    const receiver = await receive(OK, HOOKS);
    const body = JSON.stringify('x'.repeat(256 * 1024));
    expect(await send(`https://hooks.example:${receiver.port}/`, {}, LOCAL, body)).toMatchObject({ status: 204 });
    expect(receiver.requests[0]?.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test.each([200, 201, 202, 204, 299])('with status %d is delivered', async (status) => {
    const { port } = await receive(`HTTP/1.1 ${status} Fine\r\ncontent-length: 0\r\n\r\n`);
    expect(await send(`http://hooks.example:${port}/`)).toMatchObject({ type: 'delivered', status });
  });

  test.each([400, 401, 404, 410, 429, 500, 503, 600, 999])('with status %d fails', async (status) => {
    const { port } = await receive(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('status', status));
  });

  test.each([300, 301, 302, 303, 304, 307, 308])('does not follow a redirect with status %d', async (status) => {
    const other = await receive(OK);
    const { port } = await receive(`HTTP/1.1 ${status} Moved\r\nlocation: http://127.0.0.1:${other.port}/\r\n\r\n`);
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('redirect', status));
    expect(other.connections).toBe(0);
  });

  test('ignores interim answers', async () => {
    const { port } = await receive(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    );
    expect(await send(`http://hooks.example:${port}/`)).toMatchObject({ type: 'delivered', status: 200 });
  });

  test('accepts an answer in single bytes', async () => {
    const { port } = await receive(async (socket) => {
      for (const byte of 'HTTP/1.1 200 OK\r\nserver: slow\r\n\r\n') {
        socket.write(byte);
        await Bun.sleep(1);
      }
    });
    expect(await send(`http://hooks.example:${port}/`)).toMatchObject({ type: 'delivered', status: 200 });
  });

  test('does not read the body: it closes the connection after the headers', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { port } = await receive((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'.repeat(1000)), 1);
      socket.on('close', () => {
        clearInterval(timer);
        resolve();
      });
    });
    expect(await send(`http://hooks.example:${port}/`)).toMatchObject({ type: 'delivered', status: 200 });
    await promise;
  });

  test('with a header that could add a line is not sent', async () => {
    const sender = createSender(LOCAL, { resolve: async () => ['127.0.0.1'] });
    const { port, requests } = await receive(OK);
    await expect(sender(`http://hooks.example:${port}/`, { 'webhook-id': 'a\r\nx: y' }, '{}')).rejects.toThrow(
      'Invalid header',
    );
    expect(requests).toEqual([]);
  });
});

describe('the certificate', () => {
  const refuse = async (certificate: Certificate, options: SendOptions = {}, host = 'hooks.example') => {
    const receiver = await receive(OK, certificate);
    expect(await send(`https://${host}:${receiver.port}/`, options)).toEqual(failed('tls'));
    expect(receiver.requests).toEqual([]);
  };

  test('of another name is refused', () => refuse(authority.issue('DNS:other.example')));
  test('of another subdomain is refused', () => refuse(authority.issue('DNS:*.hooks.example')));
  test('of the address instead of the name is refused', () => refuse(authority.issue('IP:127.0.0.1')));
  test('of the name instead of the address is refused', () => refuse(HOOKS, {}, '127.0.0.1'));
  test('that has expired is refused', () => refuse(authority.issue('DNS:hooks.example', -1)));
  test('that is self-signed is refused', () => refuse(selfSigned('hooks.example')));
  test('of another authority is refused', () => refuse(HOOKS, { ca: selfSigned('hooks.example').cert }));
  test('of an authority that the system does not know is refused', async () => {
    const receiver = await receive(OK, HOOKS);
    const sender = createSender(LOCAL, { resolve: async () => ['127.0.0.1'] });
    expect(await sender(`https://hooks.example:${receiver.port}/`, HEADERS, '{}')).toEqual(failed('tls'));
  });

  test('is checked also if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await refuse(selfSigned('hooks.example'));
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  test('of the address in the URL is accepted', async () => {
    const { port } = await receive(OK, authority.issue('IP:127.0.0.1'));
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ type: 'delivered' });
  });

  test('is checked without the final dot of the name', async () => {
    const { port } = await receive(OK, HOOKS);
    expect(await send(`https://hooks.example.:${port}/`)).toMatchObject({ type: 'delivered' });
  });

  test('is required: a receiver without TLS is refused', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end(OK));
    servers.push({ server, sockets: new Set() });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as { port: number };
    expect(await send(`https://hooks.example:${port}/`)).toEqual(failed('tls'));
  });
});

describe('an address', () => {
  test.each([
    ['127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['0.0.0.0'],
    ['224.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::1'],
    ['2001:0:1::1'],
    ['fe80::1'],
    ['fe80::1%lo'],
    ['fd00::1'],
    ['not an address'],
  ])('%s of a name is refused without a connection', async (address) => {
    const receiver = await receive(OK, HOOKS);
    const options = { resolve: async () => [address] };
    expect(await send(`https://hooks.example:${receiver.port}/`, options, PUBLIC)).toEqual(failed('address-refused'));
    expect(receiver.connections).toBe(0);
  });

  test('of a name is refused also if another address of it is public', async () => {
    const receiver = await receive(OK);
    for (const addresses of [
      ['8.8.8.8', '127.0.0.1'],
      ['127.0.0.1', '8.8.8.8'],
    ]) {
      const outcome = await send(`http://hooks.example:${receiver.port}/`, { resolve: async () => addresses }, PUBLIC);
      expect(outcome).toEqual(failed('address-refused'));
    }
    expect(receiver.connections).toBe(0);
  });

  test('of a name that the system resolves is checked: localhost', async () => {
    const receiver = await receive(OK);
    const sender = createSender(PUBLIC);
    for (const name of ['localhost', 'LOCALHOST', 'localhost.'])
      expect(await sender(`http://${name}:${receiver.port}/`, HEADERS, '{}')).toMatchObject({
        type: 'failed',
        status: null,
      });
    expect(await sender(`http://localhost:${receiver.port}/`, HEADERS, '{}')).toEqual(failed('address-refused'));
    expect(receiver.connections).toBe(0);
    expect(await createSender(LOCAL)(`http://localhost:${receiver.port}/`, HEADERS, '{}')).toMatchObject({
      status: 204,
    });
  });

  test.each(['http://127.0.0.1', 'http://2130706433', 'http://0x7f.1', 'http://0177.0.0.1', 'http://127.1'])(
    'in the URL %s is refused without a connection',
    async (origin) => {
      const receiver = await receive(OK);
      expect(await send(`${origin}:${receiver.port}/`, {}, PUBLIC)).toEqual(failed('address-refused'));
      expect(receiver.connections).toBe(0);
    },
  );

  test('is looked up once: a name that changes it afterwards has no effect', async () => {
    const [checked, internal] = [await receive(OK), await receive(OK, undefined, '127.0.0.2')];
    // As a name server with a time to live of 0: the second look-up would give another address.
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2']];
    let lookups = 0;
    const rules = { networks: parseNetworks('127.0.0.1') as Networks, allowsHttp: true };
    const options = { resolve: async () => answers[lookups++] ?? [] };
    expect(await send(`http://rebind.example:${checked.port}/`, options, rules)).toMatchObject({ type: 'delivered' });
    expect(lookups).toBe(1);
    // The next delivery looks it up again, and refuses it.
    expect(await send(`http://rebind.example:${internal.port}/`, options, rules)).toEqual(failed('address-refused'));
    expect([checked.connections, internal.connections]).toEqual([1, 0]);
  });

  test('is the next one if the first does not answer', async () => {
    const { port } = await receive(OK, HOOKS, '127.0.0.1');
    const options = { resolve: async () => ['127.0.0.3', '::1', '127.0.0.1'] };
    expect(await send(`https://hooks.example:${port}/`, options)).toMatchObject({ type: 'delivered' });
  });

  test('is the next one in time if the first accepts a connection and then hangs', async () => {
    const { port } = await receive(OK, HOOKS, '127.0.0.1');
    await receive(() => {}, undefined, '127.0.0.2', port);
    const options = { timeoutMs: 3000, resolve: async () => ['127.0.0.2', '127.0.0.1'] };
    expect(await send(`https://hooks.example:${port}/`, options)).toMatchObject({ type: 'delivered' });
  });

  test('is one of the first four', async () => {
    const receiver = await receive(OK, undefined, '127.0.0.1');
    const others = [2, 3, 4, 5].map((last) => `127.0.0.${last}`);
    const options = { resolve: async () => [...others, '127.0.0.1'] };
    expect(await send(`http://hooks.example:${receiver.port}/`, options)).toEqual(failed('connect'));
    expect(receiver.connections).toBe(0);
  });
});

describe('proxy variables', () => {
  const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  afterAll(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test('have no effect', async () => {
    const proxy = await receive(OK);
    for (const name of NAMES) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    const [plain, secure] = [await receive(OK), await receive(OK, HOOKS)];
    expect(await send(`http://hooks.example:${plain.port}/`)).toMatchObject({ type: 'delivered' });
    expect(await send(`https://hooks.example:${secure.port}/`)).toMatchObject({ type: 'delivered' });
    expect(proxy.connections).toBe(0);
  });
});

test('http is refused if the rules do not allow it', async () => {
  const receiver = await receive(OK);
  const rules = { ...LOCAL, allowsHttp: false };
  expect(await send(`http://hooks.example:${receiver.port}/`, {}, rules)).toEqual(failed('address-refused'));
  expect(receiver.connections).toBe(0);
});

describe('a delivery fails', () => {
  /** Shorter than the real time, for cases that end with it. */
  const SOON = { timeoutMs: 300 };

  test('if the name has no address', async () => {
    expect(await send('https://hooks.example/', { resolve: async () => [] })).toEqual(failed('dns'));
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await send('https://hooks.example/', { resolve })).toEqual(failed('dns'));
  });

  test('if nothing listens', async () => {
    const { port } = await receive(OK);
    for (const { server } of servers.splice(0)) server.close();
    for (const scheme of ['http', 'https'])
      expect(await send(`${scheme}://hooks.example:${port}/`)).toEqual(failed('connect'));
  });

  test('if the look-up hangs, and connects to nothing afterwards', async () => {
    const receiver = await receive(OK);
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const outcome = await send(`http://hooks.example:${receiver.port}/`, { ...SOON, resolve: () => promise });
    expect(outcome).toEqual(failed('timeout'));
    resolve(['127.0.0.1']);
    await Bun.sleep(50);
    expect(receiver.connections).toBe(0);
  });

  test('if the TLS handshake hangs', async () => {
    const { port } = await receive(() => {});
    expect(await send(`https://hooks.example:${port}/`, SOON)).toEqual(failed('timeout'));
  });

  test('if no answer comes', async () => {
    const { port } = await receive(() => {});
    expect(await send(`http://hooks.example:${port}/`, SOON)).toEqual(failed('timeout'));
  });

  test('if the headers come too slowly', async () => {
    const { port } = await receive((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(`http://hooks.example:${port}/`, SOON)).toEqual(failed('timeout'));
  });

  test.each([
    ['endless header lines', 'x: y\r\n'],
    ['an endless header', 'y'],
    ['endless interim answers', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('if the answer has %s', async (_, part) => {
    const { port } = await receive((socket) => {
      socket.write(part.startsWith('HTTP') ? part : 'HTTP/1.1 200 OK\r\nx: y\r\n');
      const timer = setInterval(() => socket.write(part.repeat(1000)), 1);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('protocol'));
  });

  test.each([
    ['nothing', ''],
    ['half a status line', 'HTTP/1.1 20'],
    ['half of the headers', 'HTTP/1.1 200 OK\r\nserver: x\r\n'],
    ['a body alone', '<html>ok</html>'],
    ['HTTP/0.9', 'ok\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['a status line without a status', 'HTTP/1.1 OK\r\n\r\n'],
    ['only an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['bytes', '\u0000\u0001\u0002'],
  ])('if the answer is %s', async (_, answer) => {
    const { port } = await receive(answer);
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('protocol'));
  });

  test('at once if the answer does not begin as HTTP/1', async () => {
    const { port } = await receive((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('protocol'));
  });

  test('if the receiver resets the connection', async () => {
    const { port } = await receive((socket) => socket.resetAndDestroy());
    expect(await send(`http://hooks.example:${port}/`)).toEqual(failed('protocol'));
  });

  test('if it is aborted, and its connection is closed', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const aborting = new AbortController();
    const { port } = await receive((socket) => {
      socket.on('close', () => resolve());
      aborting.abort();
    });
    const sender = createSender(LOCAL, { resolve: async () => ['127.0.0.1'] });
    const url = `http://hooks.example:${port}/`;
    expect(await sender(url, HEADERS, '{}', { signal: aborting.signal })).toEqual(failed('timeout'));
    await closed;
    expect(await sender(url, HEADERS, '{}', { signal: aborting.signal })).toEqual(failed('timeout'));
  });
});

describe('a challenge', () => {
  const CHALLENGE = 'x7Jk2-_Qm4';
  const head = (more = '') => `HTTP/1.1 200 OK\r\n${more}\r\n`;
  const later = (socket: Socket, ...parts: readonly string[]) => {
    for (const [turn, part] of parts.entries()) setTimeout(() => socket.write(part), 20 * turn);
  };
  const answers: readonly (readonly [what: string, answer: Answer, outcome: 'delivered' | SendFailure])[] = [
    ['is the body', `${head()}${CHALLENGE}`, 'delivered'],
    ['is the body, with its length', `${head('Content-Length: 11\r\n')}${CHALLENGE}\n`, 'delivered'],
    ['is a chunk', `${head('Transfer-Encoding: chunked\r\n')}a\r\n${CHALLENGE}\r\n0\r\n\r\n`, 'delivered'],
    ['comes in parts', (socket) => later(socket, head(), CHALLENGE.slice(0, 4), CHALLENGE.slice(4)), 'delivered'],
    ['comes on a connection that stays open', (socket) => void socket.write(head() + CHALLENGE), 'delivered'],
    ['is missing', 'HTTP/1.1 204 No Content\r\n\r\n', 'challenge'],
    [
      'is missing, and the connection stays open',
      (socket) => void socket.write(`${head('content-length: 2\r\n')}ok`),
      'challenge',
    ],
    [
      'is missing in an answer without a body, and the connection stays open',
      (socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
      'challenge',
    ],
    ['is missing in a body that ends', `${head()}ok`, 'challenge'],
    ['is another', `${head()}${CHALLENGE.toLowerCase()}`, 'challenge'],
    ['is only in the request that is sent back', (socket, request) => void socket.end(head() + request), 'challenge'],
    ['is in a header', `${head(`X: ${CHALLENGE}\r\n`)}`, 'challenge'],
    ['comes with a failure', `HTTP/1.1 404 Not Found\r\n\r\n${CHALLENGE}`, 'status'],
    ['is in an endless body', (socket) => void socket.write(head() + 'x'.repeat(100_000) + CHALLENGE), 'challenge'],
  ];
  test.each(answers)('that %s', async (_, answer, outcome) => {
    const { port } = await receive(answer);
    const sender = createSender(LOCAL, { resolve: async () => ['127.0.0.1'], timeoutMs: 2000 });
    const body = JSON.stringify({ data: { challenge: CHALLENGE } });
    const sent = await sender(`http://hooks.example:${port}/`, HEADERS, body, { challenge: CHALLENGE });
    expect(sent.type === 'failed' ? sent.reason : sent.type).toBe(outcome);
  });
});

// The floor of this runtime: a contract check written by hand for SQLite, with nothing but what a check needs. Run by checks.ts as
// its own process: by-hand.ts <file> <key> <port>. It reads one shape of one query, knows one chain, and never says why it refuses.

import { Database } from 'bun:sqlite';
import type { Address } from '../src/registry/delegation.ts';
import { createLogOutput } from '../src/service/log-output.ts';
import { createIndexHash } from '../src/store/index-hash.ts';
import { decodeUint, encodeHex } from '../src/store/rows/cells.ts';

const [file = '', key = '', port = ''] = process.argv.slice(2);
const database = new Database(file, { readonly: true });
for (const pragma of ['mmap_size = 2147418112', 'cache_size = -262144']) database.run(`PRAGMA ${pragma}`);
const [secret] = database.query('SELECT secret FROM identity').values()[0] as [Uint8Array];
const hash = createIndexHash(decodeUint(secret));
const HELD = 'FROM span INDEXED BY span_open_vault WHERE until_block IS NULL AND hot = ?2 AND from_addr = ?3';
const STATEMENT = database.query(`SELECT commits + stamp, NULL, NULL, NULL FROM chain WHERE chain = 1
  UNION ALL SELECT NULL, to_addr, contract, kind ${HELD} AND key = ?4 AND version = 2 AND chain = 1
  UNION ALL SELECT NULL, to_addr, contract, kind ${HELD} AND key = ?5 AND version = 2 AND chain = 1`);
const HEAD = database.query('SELECT head_number, head_hash, head_timestamp FROM chain WHERE chain = 1');

const whole = { version: 2, kind: 'ALL', contract: null, tokenId: null, rights: `0x${'0'.repeat(64)}` } as const;
const wholeKey = hash.key({ ...whole, from: '0x', to: '0x' });
const output = createLogOutput(1, () => {});
const QUERY =
  /^https?:\/\/[^/]+\/registry\/v2\/check\/contract\?to=(0x[0-9a-f]{40})&from=(0x[0-9a-f]{40})&contract=(0x[0-9a-f]{40})$/;

let [commit, made, block] = [-1, 0, ''];
let headers = new Headers();

function prepareHeaders(): void {
  const [number, blockHash, timestamp] = HEAD.values()[0] as [number, Uint8Array, number];
  block = String(number);
  headers = new Headers({
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'X-Block-Number, X-Block-Hash, X-Block-Timestamp, X-As-Of-Timestamp, X-Indexed-From, Link, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, X-Sandbox',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, no-cache',
    vary: 'X-API-KEY',
    'x-block-number': block,
    'x-block-hash': `0x${blockHash.toHex()}`,
    'x-block-timestamp': String(timestamp),
    'x-content-type-options': 'nosniff',
  });
}

function answer(request: Request): Response {
  const began = performance.now();
  const [, to, from, contract] = (QUERY.exec(request.url) ?? []) as [string, Address?, Address?, Address?];
  if (to === undefined || from === undefined || contract === undefined) return new Response(null, { status: 400 });
  if (request.headers.get('x-api-key') !== key) return new Response(null, { status: 401 });
  const keyHash = hash.key({ ...whole, kind: 'CONTRACT', contract, from, to });
  const [chain = [], ...spans] = STATEMENT.values(1, hash.hot(1, to), encodeHex(from), wholeKey, keyHash);
  if (chain[0] !== commit) {
    commit = chain[0] as number;
    prepareHeaders();
  }
  const isHeld = spans.some(([, held]) => (held as Uint8Array).toHex() === to.slice(2));
  const body = isHeld ? 'true' : 'false';
  const id = (++made).toString(36);
  headers.set('x-request-id', id);
  headers.set('etag', isHeld ? '"yes"' : '"no"');
  const seconds = (performance.now() - began) / 1000;
  output.write(
    `{"time":"${new Date().toISOString()}","level":"info","message":"request","id":"${id}","method":"GET","route":"/registry/v2/check/contract","status":200,"chainId":1,"block":"${block}","seconds":${seconds},"bytes":${body.length},"keyId":1}\n`,
  );
  return new Response(body, { status: 200, headers });
}

Bun.serve({ hostname: '127.0.0.1', port: Number(port), development: false, fetch: answer });

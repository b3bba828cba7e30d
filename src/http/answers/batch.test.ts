// A batch gives the answers of single checks, all of one block per chain, and refuses what they refuse, row by row.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ENGINES, temporaryPath } from '../../../test/support/engines.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  ended,
  granted,
  HOT,
  revocation,
  timeOf,
} from '../../../test/support/fixtures.ts';
import { createRandom } from '../../../test/support/random.ts';
import { appOf } from '../../../test/support/serving.ts';
import type { Kind } from '../../registry/delegation.ts';
import { openStore } from '../../store/open.ts';
import type { BlockInput, Store } from '../../store/store.ts';
import type { App, AppOptions } from '../server/app.ts';

const PATH = '/registry/any/check';
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const BIG = 2n ** 255n + 1n;

type Row = Readonly<Record<string, unknown>>;
interface Answer {
  readonly result?: unknown;
  readonly problem?: { readonly type: string; readonly detail: string; readonly errors?: unknown };
}
interface Whole {
  readonly complete: boolean;
  readonly chains: readonly Readonly<Record<string, unknown>>[];
  readonly answers: readonly Answer[];
}

const sendTo = (app: App, body: string | Uint8Array<ArrayBuffer>, query = '', headers: Record<string, string> = {}) =>
  app.fetch(
    new Request(`http://localhost${PATH}${query}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    }),
  );
const bodyOf = (questions: readonly unknown[]) => JSON.stringify({ questions });
const wholeOf = async (app: App, questions: readonly unknown[], query = '') =>
  (await (await sendTo(app, bodyOf(questions), query)).json()) as Whole;
const NDJSON = { 'content-type': 'application/x-ndjson' };
const linesOf = async (response: Response) =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const PAIR = { from: COLD, to: HOT };

for (const engine of ENGINES) {
  describe(`a batch on ${engine.name}`, () => {
    let store: Store;
    let app: App;
    const [colds, hots, contracts] = [0xc000, 0x4000, 0xcc00].map((base) =>
      Array.from({ length: 12 }, (_, turn) => address(base + turn)),
    ) as [`0x${string}`[], `0x${string}`[], `0x${string}`[]];
    const HEADS = { 1: 140, 137: 140, 8453: 140 };

    beforeAll(async () => {
      store = await openStore(await engine.fresh());
      const random = createRandom(16);
      const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
      for (const chainId of Object.keys(HEADS).map(Number)) {
        const { epoch } = await store.claim(chainId, 100);
        const kinds: readonly Kind[] = ['ALL', 'CONTRACT', 'ERC721', 'ERC20', 'ERC1155'];
        const event = () => {
          const version = chainId === 8453 || random() < 0.6 ? 2 : 1;
          const kind = version === 2 ? pick(kinds) : pick(['ALL', 'CONTRACT', 'TOKEN'] as const);
          const fields = { version, from: pick(colds), to: pick(hots), contract: pick(contracts) } as const;
          const token = ['ERC721', 'ERC1155', 'TOKEN'].includes(kind) ? { tokenId: pick([0n, 7n, BIG]) } : {};
          const more = {
            ...fields,
            ...(kind === 'ALL' ? { contract: null } : {}),
            ...token,
            ...(version === 2 && random() < 0.3 ? { rights: VOTE } : {}),
          };
          return random() < 0.75 ? granted(kind, more) : ended(kind, more);
        };
        const blocks = Array.from({ length: 41 }, (_, turn) => block(100 + turn, Array.from({ length: 40 }, event)));
        // One wallet has a revocation that is not settled.
        if (chainId !== 8453) blocks[20] = revocation(120, colds[0]);
        await store.apply({ chainId, epoch, after: null, blocks, head: blocks.at(-1) as BlockInput, verified: 130 });
      }
      app = appOf(store, timeOf(140), { chainIds: new Set([1, 137, 8453]) });
    });
    afterAll(() => store.close());

    /** Questions of every kind, version and chain, some of which are wrong. */
    function mixedRows(count: number, seed: number, chainIds: readonly unknown[] = [1, 137, '137', 8453, 10]): Row[] {
      const random = createRandom(seed);
      const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
      return Array.from({ length: count }, () => {
        const version = pick(['any', 1, 2, '1', '2'] as const);
        const check = pick(
          ['1'].includes(String(version))
            ? ['all', 'contract', 'token']
            : ['all', 'contract', 'erc721', 'erc20', 'erc1155'],
        );
        const usesSynonyms = String(version) === '1' || random() < 0.3;
        const [from, to] = [pick(colds), random() < 0.02 ? '0x12' : pick(hots)];
        const isToken = ['token', 'erc721', 'erc1155'].includes(check);
        return {
          ...(version === 'any' && random() < 0.5 ? {} : { version }),
          check,
          ...(random() < 0.3 ? {} : { chainId: pick(chainIds) }),
          ...(usesSynonyms ? { vault: from, delegate: to } : { from, to }),
          ...(check === 'all' || random() < 0.02 ? {} : { contract: pick(contracts) }),
          ...(isToken ? { tokenId: pick(['0', 7, '7', String(BIG), String(2n ** 256n)]) } : {}),
          ...(String(version) !== '1' && random() < 0.4 ? { rights: pick([VOTE, '', `0x${'0'.repeat(64)}`]) } : {}),
        };
      });
    }

    /** What the single check of a row answers. */
    async function single({ version = 'any', check, ...fields }: Row, query: string): Promise<Answer> {
      const segment = version === 'any' ? 'any' : `v${version}`;
      const params = new URLSearchParams(
        Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const response = await app.fetch(
        new Request(`http://localhost/registry/${segment}/check/${check}?${params}&${query}`),
      );
      const body = JSON.parse((await response.text()).replace(/^(\d+)$/, '"$1"'));
      return response.status === 200 ? { result: body } : { problem: body };
    }

    for (const [what, when] of [
      ['at the head', ''],
      ['at a block', 'block=115'],
      ['at a finalized block', 'block=finalized'],
      ['at a time', `timestamp=${timeOf(112) + 3}`],
    ] as const) {
      // A single check takes longer than its share of a batch.
      const count = when === '' && engine.name === 'SQLite' && !process.env['TEST_FAST'] ? 10_000 : 1500;
      test(`${count} mixed questions ${what} equal single checks, as JSON and as lines`, async () => {
        // A block number is of one chain.
        const isNumber = when === 'block=115';
        const rows = mixedRows(count, when.length + 1, ...(isNumber ? [[1, '1', 10]] : []));
        const singles: Answer[] = [];
        for (const row of rows) singles.push(await single(row, `${when}&numbers=string`));
        const { complete, chains, answers } = await wholeOf(app, rows, `?${when}&numbers=string`);
        const wrong = singles.flatMap((one, turn) =>
          Bun.deepEquals({ ...answers[turn], result: resultText(answers[turn]) }, { ...one, result: resultText(one) })
            ? []
            : [[rows[turn], one, answers[turn]]],
        );
        expect(wrong.slice(0, 3)).toEqual([]);
        expect([answers.length, complete]).toEqual([count, false]);
        expect(chains.map(({ chainId }) => chainId).toSorted()).toEqual(isNumber ? [1] : [1, 137, 8453]);
        const refused = answers.filter(({ problem }) => problem !== undefined);
        console.log(`${engine.name}, ${what}: ${count} rows, ${refused.length} refused, ${wrong.length} wrong`);
        const types = new Set(refused.map(({ problem }) => problem?.type));
        expect(types.has('/docs#problem-revocation-unread')).toBe(
          !when.includes('115') && !when.startsWith('timestamp'),
        );

        const body = rows.map((row) => JSON.stringify(row)).join('\n');
        const [first, ...lines] = await linesOf(await sendTo(app, body, `?${when}&numbers=string`, NDJSON));
        expect(first).toEqual({ chains });
        expect(lines.pop()).toEqual({ complete: false });
        expect(lines).toEqual(answers as never);
      });
    }

    const resultText = (answer: Answer | undefined) => (answer?.result === undefined ? null : String(answer.result));

    test('answers of one chain are never of two histories, if the chain is reorganized between two reads', async () => {
      const chainId = 10;
      const { epoch } = await store.claim(chainId, 100);
      /** On every second branch all of the wallets are granted, on the others none. */
      const tip = (branch: number) =>
        block(101, branch % 2 === 0 ? hots.map((to) => granted('ALL', { to })) : [], branch);
      let branch = 0;
      let state = await store.apply({ chainId, epoch, after: null, blocks: [block(100), tip(0)], head: tip(0) });
      let reads = 0;
      let reorgsBefore: readonly number[] = [];
      const moving = new Proxy(store, {
        get(target, name, receiver) {
          if (name !== 'checkMany') return Reflect.get(target, name, receiver);
          return async (...args: Parameters<Store['checkMany']>) => {
            if (reorgsBefore.includes(++reads)) {
              const head = tip(++branch);
              const after = { after: state.head, rollbackTo: 100 };
              state = await target.apply({ chainId, epoch, ...after, blocks: [head], head });
            }
            return target.checkMany(...args);
          };
        },
      });
      const live = appOf(moving, timeOf(101), { chainIds: new Set([chainId]) });
      const questions = Array.from({ length: 2000 }, (_, turn) => ({
        check: 'all',
        chainId,
        from: COLD,
        to: hots[turn % hots.length],
      }));
      const ask = (reorgs: readonly number[], headers = {}) => {
        [reads, reorgsBefore] = [0, reorgs];
        return sendTo(live, bodyOf(questions), '', headers);
      };
      const LINES = { accept: 'application/x-ndjson' };
      const isGranted = () => branch % 2 === 0;
      // A read of no questions proves the block, and each read of 500 follows.
      for (const reorgs of [[], [1], [3], [5], [2, 4, 6, 8]]) {
        const { chains, answers } = (await (await ask(reorgs)).json()) as Whole;
        expect(chains[0]).toMatchObject({ block: { hash: tip(branch).hash } });
        expect(answers.filter(({ result }) => result !== isGranted())).toEqual([]);
        expect(answers).toHaveLength(2000);
      }
      const everyRead = Array.from({ length: 100 }, (_, turn) => turn);
      for (const headers of [{}, LINES]) {
        const refused = await ask(everyRead, headers);
        expect([refused.status, ((await refused.json()) as { type: string }).type]).toEqual([
          503,
          '/docs#problem-not-yet-indexed',
        ]);
      }

      // Nothing is sent before the first 500 are answered; later the stream ends with an error.
      for (const [reorgs, count] of [
        [[2], 2000],
        [[3], 500],
        [[5], 1500],
      ] as const) {
        const before = isGranted();
        const [first, ...lines] = await linesOf(await ask(reorgs, LINES));
        const last = lines.pop();
        const answeredBy = count === 2000 ? isGranted() : before;
        expect(first).toMatchObject({ chains: [{ chainId }] });
        expect([lines.length, lines.filter(({ result }) => result !== answeredBy)]).toEqual([count, []]);
        expect(last).toEqual(
          count === 2000
            ? { complete: true }
            : { error: expect.objectContaining({ type: '/docs#problem-not-yet-indexed', status: 503 }) },
        );
      }
    });

    test('single checks are answered while a batch is', async () => {
      const rows = mixedRows(10_000, 99);
      let isOver = false;
      const batch = wholeOf(app, rows).finally(() => {
        isOver = true;
      });
      let checks = 0;
      while (!isOver) {
        await single({ version: 2, check: 'all', from: colds[1], to: hots[1] }, '');
        await new Promise(setImmediate);
        checks++;
      }
      expect((await batch).answers).toHaveLength(10_000);
      console.log(`${engine.name}: ${checks} checks while 10,000 rows were answered`);
      // At least one in each pause.
      expect(checks).toBeGreaterThan(20);
    });
  });
}

describe('a batch', () => {
  let store: Store;
  let app: App;
  const stores: Store[] = [];
  const failures: unknown[] = [];

  async function filled(chainIds: readonly number[], blocks: readonly BlockInput[], more: object = {}) {
    const opened = await openStore(`sqlite:${temporaryPath('batch.db')}`);
    stores.push(opened);
    for (const chainId of chainIds) {
      const { epoch } = await opened.claim(chainId, 100);
      await opened.apply({ chainId, epoch, after: null, blocks, head: blocks.at(-1) as BlockInput });
      await opened.report(chainId, epoch, more);
    }
    return opened;
  }
  const appWith = (of: Store, more: Partial<AppOptions> = {}) =>
    appOf(of, timeOf(105), { onError: (error) => failures.push(error), ...more });

  beforeAll(async () => {
    const grants = [granted('ALL'), granted('ERC721', { to: address(9), tokenId: BIG })];
    store = await filled([1], [block(100, grants), block(105)]);
    app = appWith(store);
  });
  afterAll(async () => {
    for (const one of stores) await one.close();
    expect(failures).toEqual([]);
  });

  const ask = { check: 'all', ...PAIR };
  const problemOf = async (response: Response) => {
    const { type, status, detail } = (await response.json()) as { type: string; status: number; detail: string };
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(status).toBe(response.status);
    return [status, type.replace('/docs#problem-', ''), detail];
  };
  const detailOf = async (row: unknown) => {
    const text = typeof row === 'string' ? `{"questions":[${row}]}` : bodyOf([row]);
    const response = await sendTo(app, text);
    expect(response.status).toBe(200);
    const { complete, answers } = (await response.json()) as Whole;
    expect([complete, answers.length]).toEqual([false, 1]);
    expect(answers[0]?.problem?.type).toBe('/docs#problem-bad-request');
    return answers[0]?.problem?.detail;
  };

  test('names the block of each chain, and is empty for no questions', async () => {
    expect(await wholeOf(app, [ask, { ...ask, to: address(5) }])).toEqual({
      complete: true,
      chains: [{ chainId: 1, block: { number: 105, hash: block(105).hash, timestamp: timeOf(105) } }],
      answers: [{ result: true }, { result: false }],
    });
    expect(await wholeOf(app, [])).toEqual({ complete: true, chains: [], answers: [] });
    expect(await linesOf(await sendTo(app, '', '', NDJSON))).toEqual([{ chains: [] }, { complete: true }]);
  });

  test('is JSON or lines, as the request or Accept says, and not cached', async () => {
    const line = JSON.stringify(ask);
    for (const [body, type, accept, expected] of [
      [bodyOf([ask]), 'application/json', '*/*', 'application/json; charset=utf-8'],
      [bodyOf([ask]), 'Application/JSON; charset=utf-8', '', 'application/json; charset=utf-8'],
      [bodyOf([ask]), 'application/json', 'application/x-ndjson', 'application/x-ndjson'],
      [line, 'application/x-ndjson', '*/*', 'application/x-ndjson'],
      [line, 'application/x-ndjson', 'application/json', 'application/json; charset=utf-8'],
    ] as const) {
      const response = await sendTo(app, body, '', { 'content-type': type, accept });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, expected]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.text()).toContain('{"result":true}');
    }
  });

  test('takes a POST and nothing else, and other sites may send it', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const response = await app.fetch(new Request(`http://localhost${PATH}`, { method }));
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS']);
    }
    const preflight = (path: string) => app.fetch(new Request(`http://localhost${path}`, { method: 'OPTIONS' }));
    const headers = (await preflight(PATH)).headers;
    expect([headers.get('allow'), headers.get('access-control-allow-methods')]).toEqual([
      'POST, OPTIONS',
      'POST, OPTIONS',
    ]);
    expect((await preflight('/registry/any/check/all')).headers.get('access-control-allow-methods')).toBe(
      'GET, HEAD, OPTIONS',
    );
    expect((await preflight('/developers/keys')).headers.get('access-control-allow-methods')).toBe(
      'GET, HEAD, OPTIONS',
    );
  });

  test('a token id is exact as a string and as a JSON number below 2^53, and refused beyond', async () => {
    const token = { check: 'erc721', from: COLD, to: address(9), contract: CONTRACT };
    const row = (tokenId: string) => `${JSON.stringify(token).slice(0, -1)},"tokenId":${tokenId}}`;
    const text = `{"questions":[${row(`"${BIG}"`)},${row(`"${BIG + 1n}"`)},${row('9007199254740991')}]}`;
    const { answers } = (await (await sendTo(app, text)).json()) as Whole;
    expect(answers).toEqual([{ result: true }, { result: false }, { result: false }]);
    const inexact = 'tokenId is a JSON number above 2^53-1, which JSON libraries round: send it as a string';
    for (const digits of ['9007199254740992', '9007199254740993', String(BIG), '9'.repeat(3000)])
      expect(await detailOf(row(digits))).toBe(inexact);
    const notDigits = (value: string) => `tokenId must be a token id in decimal digits, not "${value}"`;
    for (const value of ['1.5', '1e2', '-1', '7.0', '1.0000000000000000001'])
      expect(await detailOf(row(value))).toBe(notDigits(value));
    expect(await detailOf(row(`"${2n ** 256n}"`))).toBe('tokenId must be at most 2^256-1');
    expect(await detailOf(row('true'))).toBe('tokenId must be a string or a number');
  });

  test('a balance has every digit, or is a string', async () => {
    const of = { check: 'erc20', ...PAIR, contract: CONTRACT };
    expect(await (await sendTo(app, bodyOf([of]))).text()).toContain(`{"result":${2n ** 256n - 1n}}`);
    expect(await (await sendTo(app, bodyOf([of]), '?numbers=string')).text()).toContain(
      `{"result":"${2n ** 256n - 1n}"}`,
    );
  });

  test('a wrong question is refused by itself, with the words of a single check', async () => {
    for (const [row, detail] of [
      [{ check: 'all', from: COLD }, 'to is required'],
      [{ ...PAIR }, 'check is required'],
      [
        { ...ask, check: 'everything' },
        'check must be one of all, contract, token, erc721, erc1155, erc20, not "everything"',
      ],
      [
        { ...ask, check: 'token', version: 2 },
        'check must be one of all, contract, erc721, erc1155, erc20 in v2, not "token"',
      ],
      [{ ...ask, check: 'erc20', version: 1 }, 'check must be one of all, contract, token in v1, not "erc20"'],
      [{ ...ask, version: 3 }, 'version must be one of any, 1, 2, not "3"'],
      [{ ...ask, version: true }, 'version must be a string or a number'],
      [{ ...ask, version: 1, rights: VOTE }, expect.stringContaining('rights is not a known parameter')],
      [{ ...ask, chainid: 1 }, 'chainid is not a known parameter; did you mean chainId?'],
      [{ ...ask, block: 100 }, expect.stringContaining('block is not a known parameter')],
      [{ ...ask, vault: COLD }, expect.stringContaining('delegate is required')],
      [{ ...ask, chainId: 'mainnet' }, 'chainId must be a chain id in decimal digits, not "mainnet"'],
      [{ ...ask, to: `${HOT}0` }, expect.stringContaining('to must be an address')],
      [`{"check":"all","from":"${COLD}","to":"${HOT}","to":"${address(5)}"}`, 'to is given more than once'],
      ['"all"', 'The question must be a JSON object.'],
      ['null', 'The question must be a JSON object.'],
      [`{"check":"all","__proto__":"${HOT}","from":"${COLD}"}`, expect.stringContaining('to is required')],
      [
        { ...ask, ...Object.fromEntries(Array.from({ length: 300 }, (_, turn) => [`x${turn}`, 1])) },
        expect.any(String),
      ],
    ] as const)
      expect([row, await detailOf(row)]).toEqual([row, detail]);
  });

  test('is not complete if a question was refused, wherever it stands', async () => {
    for (const wrong of [0, 1000]) {
      const rows: unknown[] = Array.from({ length: 1001 }, () => ask);
      rows[wrong] = {};
      expect((await wholeOf(app, rows)).complete).toBe(false);
      const lines = await linesOf(await sendTo(app, rows.map((row) => JSON.stringify(row)).join('\n'), '', NDJSON));
      expect(lines.at(-1)).toEqual({ complete: false });
    }
  });

  test('null is the same as absent, and a wider check ignores contract and tokenId', async () => {
    const rows = [
      { ...ask, contract: null, tokenId: null, rights: null, chainId: null, version: null },
      { ...ask, contract: 'nonsense', tokenId: 1e300 },
      { ...ask, check: 'contract', contract: CONTRACT, tokenId: true },
    ];
    expect((await wholeOf(app, rows)).answers).toEqual([{ result: true }, { result: true }, { result: true }]);
  });

  test('a line that is not JSON is refused by itself; the end may be empty', async () => {
    const line = JSON.stringify(ask);
    const body = `${line}\r\n\n{"check":NaN}\n${line.slice(0, 30)}\n{"check":[1]}\n${line}\n\n`;
    const [, ...lines] = await linesOf(await sendTo(app, body, '', NDJSON));
    expect(lines.map((one) => (one as Answer).problem?.detail ?? one['result'] ?? one)).toEqual([
      true,
      'Not valid JSON: expected a value, found the end.',
      'Not valid JSON: expected a value, found "N" at position 9.',
      'Not valid JSON: the string at position 22 is not closed.',
      'Not valid JSON: expected a string or a number, found "[" at position 9.',
      true,
      { complete: false },
    ]);
  });

  test('an empty line before the first question is a question of its own', async () => {
    const [, empty, ...lines] = await linesOf(await sendTo(app, `\n${JSON.stringify(ask)}`, '', NDJSON));
    expect((empty as Answer).problem?.detail).toBe('Not valid JSON: expected a value, found the end.');
    expect(lines).toEqual([{ result: true }, { complete: false }]);
  });

  test('a wrong body is refused as a whole', async () => {
    const many = (count: number) => `{"questions":[${Array.from({ length: count }, () => '{}').join(',')}]}`;
    const refused = async (body: string | Uint8Array<ArrayBuffer>, query = '', headers = {}) =>
      problemOf(await sendTo(app, body, query, headers));
    const json = 'Not valid JSON: ';
    for (const [body, detail] of [
      ['', `${json}expected "{", found the end.`],
      ['[]', `${json}expected "{", found "[" at position 0.`],
      ['{}', 'questions is required'],
      ['{"questions":{}}', `${json}expected "[", found "{" at position 13.`],
      ['{"questions":[NaN]}', `${json}expected a value, found "N" at position 14.`],
      ['{"questions":[{}', `${json}expected "]", found the end.`],
      ['{"questions":[]}x', `${json}expected the end, found "x" at position 16.`],
      ['{"questions":[],"questions":[]}', 'questions is given more than once'],
      ['{"questions":[],"block":100}', 'block belongs in the query of the URL, not in the body'],
      ['{"numbers":"string","questions":[]}', 'numbers belongs in the query of the URL, not in the body'],
      ['{"rows":[]}', 'rows is not a known field of the body, which has only questions'],
      [`{"questions":${'['.repeat(1_000_000)}`, `${json}expected a string or a number, found "[" at position 14.`],
      [
        `{"questions":[{"check":[${'1,'.repeat(4_000_000)}1]}]}`,
        `${json}expected a string or a number, found "[" at position 23.`,
      ],
      [
        `{"questions":[{"check":"${'a'.repeat(5000)}"}]}`,
        `${json}the object at position 14 is longer than 4096 characters.`,
      ],
      [many(10_001), 'questions must be at most 10000: send several batches'],
      [new Uint8Array([0x7b, 0xff, 0xfe]), 'The body is not valid UTF-8.'],
      [new Uint8Array([0x7b, 0xe2, 0x82]), 'The body is not valid UTF-8.'],
    ] as const)
      expect([detail, await refused(body)]).toEqual([detail, [400, 'bad-request', detail]]);
    expect((await wholeOf(app, JSON.parse(many(10_000)).questions)).answers).toHaveLength(10_000);
    expect(await refused(' '.repeat(8 * 1024 * 1024 + 1))).toEqual([
      413,
      'content-too-large',
      'The body is larger than 8192 KiB.',
    ]);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
      expect(await refused(bodyOf([]), '', { 'content-type': type })).toEqual([
        415,
        'unsupported-media-type',
        `Content-Type must be application/json or application/x-ndjson, not "${type}".`,
      ]);
    for (const [query, detail] of [
      ['?chainId=1', expect.stringContaining('chainId is not a known parameter')],
      ['?block=1&timestamp=1', 'timestamp cannot be combined with block'],
      ['?block=x', expect.stringContaining('block must be a block number')],
    ] as const)
      expect(await refused(bodyOf([ask]), query)).toEqual([400, 'bad-request', detail]);
  });

  test('a chain that cannot answer spoils only its own questions; if none can, the response is the problem', async () => {
    const stale = await filled([1], [block(100), block(105)]);
    const { epoch } = await stale.claim(137, 100);
    await stale.apply({ chainId: 137, epoch, after: null, blocks: [block(100, [granted('ALL')])], head: block(100) });
    const both = appOf(stale, timeOf(105), { chainIds: new Set([1, 10, 137]), maxLag: () => 20 });
    const rows = [ask, { ...ask, chainId: 137 }, { ...ask, chainId: 10 }, { ...ask, chainId: 8453 }, ask];
    const { complete, chains, answers } = await wholeOf(both, rows);
    const types = answers.map(({ result, problem }) => problem?.type.replace('/docs#problem-', '') ?? result);
    expect([complete, types]).toEqual([false, [false, 'chain-stale', 'chain-not-ready', 'unknown-chain', false]]);
    expect(chains).toEqual([
      { chainId: 1, block: { number: 105, hash: block(105).hash, timestamp: timeOf(105) } },
      { chainId: 137, problem: answers[1]?.problem },
      { chainId: 10, problem: answers[2]?.problem },
    ]);
    for (const headers of [{}, { accept: 'application/x-ndjson' }]) {
      const one = await sendTo(both, bodyOf([{ ...ask, chainId: 137 }, {}]), '', headers);
      expect(one.headers.get('retry-after')).toBe('2');
      expect((await problemOf(one)).slice(0, 2)).toEqual([503, 'chain-stale']);
      const none = await sendTo(both, bodyOf([{ ...ask, chainId: 137 }, { ...ask, chainId: 10 }, {}]), '', headers);
      expect(none.headers.get('retry-after')).toBe('2');
      expect(await problemOf(none)).toEqual([503, 'no-chain-answered', 'None of the 2 chains answered.']);
    }
    const [before, after] = [
      await sendTo(app, bodyOf([ask]), '?block=99'),
      await sendTo(app, bodyOf([ask]), '?block=106'),
    ];
    expect([(await problemOf(before))[1], (await problemOf(after))[1]]).toEqual(['not-indexed', 'not-yet-indexed']);
    const number = await sendTo(both, bodyOf(rows), '?block=100');
    expect(await problemOf(number)).toEqual([
      400,
      'bad-request',
      'block must not be a number with several chains; use timestamp',
    ]);
    // Nothing but wrong questions: each has its problem.
    expect(await wholeOf(both, [{}])).toMatchObject({ complete: false, chains: [] });
  });

  test('what fails after the caller has gone is no error of the service', async () => {
    const [gate, asked] = [Promise.withResolvers<never>(), Promise.withResolvers<void>()];
    let reads = 0;
    const failing: Store = {
      ...store,
      checkMany: (chainId, questions, at) => {
        // The first 500 are answered before anything is sent.
        if (questions.length === 0 || ++reads === 1) return store.checkMany(chainId, questions, at);
        asked.resolve();
        return gate.promise;
      },
    };
    const reported: unknown[] = [];
    const gone = appWith(failing, { onError: (error) => reported.push(error) });
    const response = await sendTo(gone, bodyOf(Array(2000).fill(ask)), '', { accept: 'application/x-ndjson' });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await asked.promise;
    await reader.cancel();
    gate.reject(new Error('the connection is gone'));
    await new Promise(setImmediate);
    expect(reported).toEqual([]);
  });

  test('says so where the registries may be older than what is indexed, and names the requested time', async () => {
    const partial = appWith(await filled([1], [block(100), block(105)], { partial: true }));
    const { chains } = await wholeOf(partial, [ask]);
    expect(chains[0]?.['indexedFrom']).toBe(100);
    const response = await sendTo(app, bodyOf([ask]), `?timestamp=${timeOf(101)}`);
    expect(response.headers.get('x-as-of-timestamp')).toBe(String(timeOf(101)));
  });

  test('reports no and unresolved questions for the audit, as a single check does', async () => {
    const [other, stranger] = [address(5), address(6)];
    const grants = [granted('ALL', { version: 1 }), granted('ERC20', { from: HOT, to: other })];
    const unsettled = await filled([1], [block(100, grants), revocation(105)]);
    const [denied, unread]: [unknown[], unknown[]] = [[], []];
    const watched = appWith(unsettled, {
      onDenied: (chainId, { version, to }) => denied.push([chainId, version, to]),
      onUnread: (chainId, question) => unread.push([chainId, question]),
    });
    const amount = { check: 'erc20', version: 2, from: HOT, contract: CONTRACT };
    const amounts = [other, stranger].map((to) => ({ ...amount, to }));
    const rows = [ask, { ...ask, version: 2 }, { ...ask, from: HOT, to: other }, ...amounts];
    const { answers } = await wholeOf(watched, rows);
    expect(answers[0]?.problem?.type).toBe('/docs#problem-revocation-unread');
    expect(answers.slice(1).map(({ result }) => result)).toEqual([false, false, 100, 0]);
    expect(denied).toEqual([
      [1, 2, HOT],
      [1, 2, other],
      [1, 1, other],
      [1, 2, stranger],
    ]);
    expect(unread).toEqual([[1, { version: 1, scope: 'all', from: COLD, to: HOT }]]);
  });
});

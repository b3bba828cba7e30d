// Every row of a CSV answered as of one block, as fast as the store goes and in flat memory.

import { existsSync, statSync } from 'node:fs';
import * as p from '../http/params.ts';
import type { Question } from '../registry/check.ts';
import { NO_RIGHTS } from '../registry/delegation.ts';
import { readOr, rightsOf, scopeOf, versionOf, whenOf } from './asking.ts';
import { type Call, UsageError } from './command.ts';
import { type CsvRow, cellOf, readCsv } from './csv.ts';
import { problemOf, type Source } from './source.ts';

/** A row's question, or what is wrong with it. */
type Asked = { readonly chainId: number; readonly question: Question } | string;
interface Answered {
  readonly result: string;
  readonly error: string;
}

const COLUMNS: Readonly<Record<string, string>> = { vault: 'from', delegate: 'to', registry: 'version' };
const KNOWN = ['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'version', 'chainId'] as const;
type Columns = Readonly<Partial<Record<(typeof KNOWN)[number], number>>>;

export async function checkFile(call: Call, source: Source, file: string): Promise<void> {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  const stream = file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();
  const progress = startProgress(file === '-' ? null : statSync(file).size);
  const answers = source.store === null ? overHttp(call, source) : fromStore(call, source);
  const output = Bun.stdout.writer();
  let columns: Columns | null = null;
  let [rows, troubled] = [0, 0];
  for await (const { rows: batch, bytes } of readCsv(stream as unknown as AsyncIterable<Uint8Array>)) {
    let data = batch;
    let text = '';
    if (columns === null) {
      const [names, ...rest] = batch as [CsvRow, ...CsvRow[]];
      columns = columnsOf(names.cells);
      data = rest;
      text = `${names.text},result,error\n`;
    }
    const read = readerOf(columns, call);
    const answered = await answers(data.map(({ cells }) => read(cells)));
    for (const [position, row] of data.entries()) {
      const { result, error } = answered[position] as Answered;
      if (error !== '') troubled++;
      text += `${row.text},${result},${error === '' ? '' : cellOf(error)}\n`;
    }
    rows += data.length;
    output.write(text);
    await output.flush();
    progress.show(rows, bytes);
  }
  await output.end();
  progress.end(rows);
  if (columns === null) throw new UsageError('The CSV is empty: its first line must name the columns, such as from,to');
  if (troubled > 0) {
    process.stderr.write(`${troubled} of ${rows} rows have no answer: the column error says why.\n`);
    process.exitCode = 2;
  }
}

function columnsOf(names: readonly string[]): Columns {
  const columns: Partial<Record<(typeof KNOWN)[number], number>> = {};
  for (const [position, name] of names.entries()) {
    const plain = name.trim().replace(/^\uFEFF/, '');
    const known = KNOWN.find(
      (one) => one.toLowerCase() === (COLUMNS[plain.toLowerCase()] ?? plain).toLowerCase().replace('_', ''),
    );
    if (known !== undefined && columns[known] !== undefined)
      throw new UsageError(`The CSV names two columns ${known}.`);
    if (known !== undefined) columns[known] = position;
  }
  const missing = (['from', 'to'] as const).filter((name) => columns[name] === undefined);
  if (missing.length > 0)
    throw new UsageError(
      `The CSV's first line must name the columns; ${missing.join(' and ')} is missing in: ${names.join(',')}`,
    );
  return columns;
}

/** Reads rows by their columns; what a row does not say is as the options have it. */
function readerOf(columns: Columns, call: Call): (cells: readonly string[]) => Asked {
  const rights = rightsOf(call.text('rights') ?? NO_RIGHTS);
  const [version, chain] = [versionOf(call), call.number('chain') ?? 1];
  const given = { type: call.text('type'), contract: call.text('contract'), tokenId: call.text('token-id') };
  const { from: fromAt = 0, to: toAt = 0 } = columns;
  /** Where nothing but the wallets differs from row to row, nothing else need be read. */
  const isPlain =
    Object.keys(columns).length === 2 && version === 2 && Object.values(given).every((one) => one === undefined);
  return (cells) => {
    const from = readOr(p.from, cells[fromAt]?.trim() ?? '');
    if (!from.startsWith('0x')) return from;
    const to = readOr(p.to, cells[toAt]?.trim() ?? '');
    if (!to.startsWith('0x')) return to;
    const pair = { from, to } as Pick<Question, 'from' | 'to'>;
    if (isPlain)
      return { chainId: chain, question: { version: 2, scope: 'all', rights: rights as `0x${string}`, ...pair } };
    const cell = (name: keyof Columns) => {
      const at = columns[name];
      return at === undefined ? undefined : cells[at]?.trim() || undefined;
    };
    return readRest(pair, {
      version: cell('version') ?? String(version),
      chainId: cell('chainId') ?? String(chain),
      type: cell('type') ?? given.type,
      contract: cell('contract') ?? given.contract,
      tokenId: cell('tokenId') ?? given.tokenId,
      rights: cell('rights') ?? rights,
    });
  };
}

interface Rest {
  readonly version: string;
  readonly chainId: string;
  readonly type: string | undefined;
  readonly contract: string | undefined;
  readonly tokenId: string | undefined;
  readonly rights: string;
}

function readRest(pair: Pick<Question, 'from' | 'to'>, rest: Rest): Asked {
  try {
    const version = rest.version.replace(/^v/i, '') === '1' ? 1 : 2;
    if (!/^v?[12]$/i.test(rest.version)) return `version is neither 1 nor 2: ${rest.version}`;
    const chainId = readOr(p.chainId, rest.chainId);
    if (typeof chainId === 'string') return chainId;
    const scope = scopeOf(rest.type?.toLowerCase(), version, rest.contract, rest.tokenId);
    const question: Record<string, unknown> = { version, scope, ...pair };
    if (scope !== 'all') {
      const contract = readOr(p.contract, rest.contract ?? '');
      if (!contract.startsWith('0x')) return contract;
      question['contract'] = contract;
    }
    if (scope === 'token' || scope === 'erc721' || scope === 'erc1155') {
      const tokenId = readOr(p.tokenId, rest.tokenId ?? '');
      if (typeof tokenId === 'string') return tokenId;
      question['tokenId'] = tokenId;
    }
    if (version === 2) {
      const rights = readOr(p.rights, rightsOf(rest.rights));
      if (!rights.startsWith('0x')) return rights;
      question['rights'] = rights;
    }
    return { chainId, question: question as unknown as Question };
  } catch (error) {
    if (error instanceof UsageError) return error.message.replaceAll('--', '');
    throw error;
  }
}

type Answers = (asked: readonly Asked[]) => Promise<Answered[]>;

const fault = (error: string): Answered => ({ result: '', error });
const UNREAD = 'a revocation of this wallet could not be read from the registry';

/** Straight from a store, a batch at a time, every batch as of the same block of its chain. */
function fromStore(call: Call, { store, ask }: Source): Answers {
  const moments = new Map<number, { block: number; revision: number }>();
  const momentOf = async (chainId: number) => {
    const known = moments.get(chainId);
    if (known !== undefined || store === null) return known as { block: number; revision: number };
    const revision = (await store.chain(chainId))?.revision ?? 0;
    // The API itself says which block is meant, and whether the chain may answer at all.
    const block = Number((await askMoment(call, chainId, ask)).headers.get('x-block-number'));
    process.stderr.write(`Chain ${chainId}, as of block ${block}.\n`);
    moments.set(chainId, { block, revision });
    return { block, revision };
  };
  return async (asked) => {
    const answered: Answered[] = asked.map((one) => fault(typeof one === 'string' ? one : ''));
    const chains = new Map<number, { positions: number[]; questions: Question[] }>();
    for (const [position, one] of asked.entries()) {
      if (typeof one === 'string') continue;
      const chain = chains.get(one.chainId) ?? { positions: [], questions: [] };
      chains.set(one.chainId, chain);
      chain.positions.push(position);
      chain.questions.push(one.question);
    }
    for (const [chainId, { positions, questions }] of chains) {
      const found = await store?.checkMany(chainId, questions, await momentOf(chainId));
      for (const [turn, position] of positions.entries()) {
        const value = found?.[turn] ?? null;
        answered[position] = value === null ? fault(UNREAD) : { result: String(value), error: '' };
      }
    }
    return answered;
  };
}

const ZERO = `0x${'0'.repeat(40)}`;

async function askMoment(call: Call, chainId: number, ask: Source['ask']): Promise<Response> {
  const query = whenOf(call);
  query.set('chainId', String(chainId));
  query.set('from', ZERO);
  query.set('to', ZERO);
  const response = await ask(`/registry/v2/check/all?${query}`);
  if (!response.ok) throw new UsageError(await problemOf(response));
  return response;
}

const AT_ONCE = 16;
const TRIES = 6;

/** From a service, a few at a time. It says itself when it is to be asked again. */
function overHttp(call: Call, { ask }: Source): Answers {
  const when = whenOf(call);
  const answer = async (one: Asked): Promise<Answered> => {
    if (typeof one === 'string') return fault(one);
    const { version, scope, from, to } = one.question;
    const query = new URLSearchParams(when);
    query.set('chainId', String(one.chainId));
    query.set(version === 1 ? 'vault' : 'from', from);
    query.set(version === 1 ? 'delegate' : 'to', to);
    if ('contract' in one.question) query.set('contract', one.question.contract);
    if ('tokenId' in one.question) query.set('tokenId', String(one.question.tokenId));
    if (one.question.version === 2) query.set('rights', one.question.rights);
    for (let left = TRIES; ; left--) {
      const response = await ask(`/registry/v${version}/check/${scope}?${query}`);
      if (response.ok) return { result: await response.text(), error: '' };
      const wait = Number(response.headers.get('retry-after') ?? 0);
      if (left === 0 || ![429, 503].includes(response.status) || wait > 60) return fault(await problemOf(response));
      await Bun.sleep(1000 * Math.max(1, wait));
    }
  };
  return async (asked) => {
    const answered: Answered[] = [];
    for (let from = 0; from < asked.length; from += AT_ONCE) {
      answered.push(...(await Promise.all(asked.slice(from, from + AT_ONCE).map(answer))));
    }
    return answered;
  };
}

const BAR = 30;
const DRAW_MS = 200;

/** On a terminal, how far the file is read, how fast, and how long that will take. */
function startProgress(size: number | null) {
  const onTerminal = process.stderr.isTTY === true;
  const began = performance.now();
  let drawn = 0;
  return {
    show(rows: number, bytes: number) {
      if (!onTerminal || performance.now() - drawn < DRAW_MS) return;
      drawn = performance.now();
      const seconds = (drawn - began) / 1000;
      const share = size === null || size === 0 ? null : Math.min(1, bytes / size);
      const bar =
        share === null ? '' : `[${'#'.repeat(Math.round(share * BAR)).padEnd(BAR)}] ${Math.round(100 * share)} %  `;
      const left = share === null ? '' : `, ${Math.ceil((seconds / share) * (1 - share))} s left`;
      const rate = Math.round(rows / seconds).toLocaleString('en');
      process.stderr.write(`\r\x1b[K${bar}${rows.toLocaleString('en')} rows, ${rate}/s${left}`);
    },
    end(rows: number) {
      const seconds = (performance.now() - began) / 1000;
      const clear = onTerminal ? '\r\x1b[K' : '';
      const rate = Math.round(rows / Math.max(seconds, 0.001)).toLocaleString('en');
      process.stderr.write(`${clear}${rows.toLocaleString('en')} rows in ${seconds.toFixed(1)} s, ${rate}/s\n`);
    },
  };
}

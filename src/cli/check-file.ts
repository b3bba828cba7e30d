// Checks every row of a CSV file at one block, in constant memory.

import { existsSync, statSync } from 'node:fs';
import * as p from '../api/params.ts';
import { problemText } from '../api/problems.ts';
import { checkUrl } from '../api/url.ts';
import { missingRegistry } from '../http/served-chains.ts';
import type { Question } from '../registry/check.ts';
import { isBytes32, NO_RIGHTS } from '../registry/delegation.ts';
import { SCOPES } from '../registry/scopes.ts';
import { ALL_VERSIONS, hasRights, type Version } from '../registry/versions.ts';
import { showStatus } from '../service/status-line.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Store } from '../store/store.ts';
import type { Invocation } from './command.ts';
import { asBytes, type CsvRow, decodeCell, quoteCell, readCsv } from './csv.ts';
import { writeWhole } from './output.ts';
import { checkPinned, createPinnedBlocks, type PinnedBlocks } from './pinned-block.ts';
import { NO_SERVICE, type Source } from './query-target.ts';
import { askWithinLimit, chainIdOf, given, readOr, readRights, scopeOf, versionOf } from './question-options.ts';

/** A row's question, or what is wrong with the row. */
type Asked = { readonly chainId: number; readonly question: Question } | string;
interface Answered {
  readonly result: string;
  readonly error: string;
}

const KNOWN = ['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'version', 'chainId'] as const;
type ColumnName = (typeof KNOWN)[number];
type Columns = Readonly<Partial<Record<ColumnName, number>>>;

/** Column names in lower case, without separators. */
const NAMES = new Map<string, ColumnName>([
  ...KNOWN.map((name): [string, ColumnName] => [name.toLowerCase(), name]),
  ['vault', 'from'],
  ['delegate', 'to'],
  ['registry', 'version'],
  ['chain', 'chainId'],
]);

export async function checkFile(call: Invocation, source: Source, file: string): Promise<void> {
  const strange = ['from', 'to'].filter((name) => call.text(name) !== undefined);
  if (call.isSet('json')) strange.push('json');
  if (strange.length > 0) throw new UsageError(`--${strange[0]} cannot be combined with --csv.`);
  if (file !== '-' && !existsSync(file)) throw new UsageError(`File not found: ${file}`);
  if (file !== '-' && statSync(file).isDirectory()) throw new UsageError(`${file} is a directory.`);
  const stream = file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();
  const progress = startProgress(file === '-' ? null : statSync(file).size);
  const blocks = createPinnedBlocks(call, source);
  const answers = source.store === null ? overHttp(source, blocks) : fromStore(source.store, blocks);
  let read: ((cells: readonly string[]) => Asked) | null = null;
  let [width, rows, troubled] = [0, 0, 0];
  for await (const { rows: batch, bytes } of readCsv(stream as unknown as AsyncIterable<Uint8Array>)) {
    let data = batch;
    let text = '';
    if (read === null) {
      const [names, ...rest] = batch as [CsvRow, ...CsvRow[]];
      width = names.cells.length;
      read = readerOf(columnsOf(names.cells.map((name) => decodeCell(name) ?? name)), call);
      data = rest;
      text = `${names.text},result,error\n`;
    }
    const reader = read;
    const answered = await answers(
      data.map(({ cells }) =>
        cells.length > width ? `the row has ${cells.length} cells, but the header has ${width}` : reader(cells),
      ),
    );
    for (const [position, row] of data.entries()) {
      const { result, error } = answered[position] as Answered;
      if (error !== '') troubled++;
      const missing = ','.repeat(Math.max(0, width - row.cells.length));
      text += `${row.text}${missing},${result},${error === '' ? '' : quoteCell(asBytes(error))}\n`;
    }
    rows += data.length;
    await writeWhole(Buffer.from(text, 'latin1'));
    progress.show(rows, bytes);
  }
  if (read === null) throw new UsageError('The CSV is empty. Its header must name the columns, such as from,to');
  progress.end(rows);
  await blocks.confirm();
  if (troubled > 0) {
    process.stderr.write(`${troubled} of ${rows} rows failed. See the error column.\n`);
    process.exitCode = 2;
  }
}

function columnsOf(names: readonly string[]): Columns {
  const columns: Partial<Record<ColumnName, number>> = {};
  const copied: string[] = [];
  for (const [position, name] of names.entries()) {
    const plain = name.trim();
    const known = NAMES.get(plain.toLowerCase().replaceAll(/[-_ ]/g, ''));
    if (known === undefined) copied.push(plain);
    else if (columns[known] !== undefined) throw new UsageError(`The CSV header has two columns for ${known}.`);
    else columns[known] = position;
  }
  const missing = (['from', 'to'] as const).filter((name) => columns[name] === undefined);
  if (missing.length > 0)
    throw new UsageError(`The CSV header lacks ${missing.join(' and ')}. It is: ${names.join(',')}`);
  if (copied.length > 0) process.stderr.write(`Columns copied unchanged: ${copied.join(', ')}\n`);
  return columns;
}

/** Reads rows by their columns. The options are the defaults. */
function readerOf(columns: Columns, call: Invocation): (cells: readonly string[]) => Asked {
  const rights = given(call, 'rights');
  const defaultRights = readOr('--rights', p.rights, readRights(rights ?? NO_RIGHTS));
  if (!isBytes32(defaultRights)) throw new UsageError(defaultRights);
  const [version, chain] = [versionOf(call), chainIdOf(call)];
  const defaults = { type: call.text('type'), contract: given(call, 'contract'), tokenId: given(call, 'tokenId') };
  /** The fast path: rows differ in their wallets only. */
  const isPlain =
    Object.keys(columns).length === 2 && version === 2 && Object.values(defaults).every((one) => one === undefined);
  const read = (cells: readonly string[]): Asked => {
    const cell = (name: ColumnName) => {
      const at = columns[name];
      const text = at === undefined ? undefined : decodeCell(cells[at] ?? '');
      if (text === null) throw new UsageError(`${name} is not valid UTF-8`);
      return text?.trim() || undefined;
    };
    const from = readOr('from', p.coldWallet, cell('from') ?? '');
    if (!from.startsWith('0x')) return from;
    const to = readOr('to', p.hotWallet, cell('to') ?? '');
    if (!to.startsWith('0x')) return to;
    const pair = { from, to } as Pick<Question, 'from' | 'to'>;
    if (isPlain) return { chainId: chain, question: { version: 2, scope: 'all', rights: defaultRights, ...pair } };
    return readRest(pair, {
      version: cell('version') ?? String(version),
      chainId: cell('chainId') ?? String(chain),
      type: cell('type') ?? defaults.type,
      contract: cell('contract') ?? defaults.contract,
      tokenId: cell('tokenId') ?? defaults.tokenId,
      rights: cell('rights') ?? rights,
    });
  };
  return (cells) => {
    try {
      return read(cells);
    } catch (error) {
      if (error instanceof UsageError) return error.message.replaceAll('--', '');
      throw error;
    }
  };
}

interface Rest {
  readonly version: string;
  readonly chainId: string;
  readonly type: string | undefined;
  readonly contract: string | undefined;
  readonly tokenId: string | undefined;
  readonly rights: string | undefined;
}

function readRest(pair: Pick<Question, 'from' | 'to'>, rest: Rest): Asked {
  const version = ALL_VERSIONS.find((one) => `${one}` === rest.version.replace(/^v/i, ''));
  if (version === undefined) return `version must be ${ALL_VERSIONS.join(' or ')}, got ${rest.version}`;
  const chainId = readOr('chainId', p.chainId, rest.chainId);
  if (typeof chainId === 'string') return chainId;
  const scope = scopeOf(rest.type?.toLowerCase(), version, rest.contract, rest.tokenId);
  const { needsContract, needsTokenId } = SCOPES[scope];
  if (rest.rights !== undefined && !hasRights(version)) return `rights are not supported by v${version}`;
  const question: Record<string, unknown> = { version, scope, ...pair };
  if (needsContract) {
    const contract = readOr('contract', p.contract, rest.contract ?? '');
    if (!contract.startsWith('0x')) return contract;
    question['contract'] = contract;
  }
  if (needsTokenId) {
    const tokenId = readOr('tokenId', p.tokenId, rest.tokenId ?? '');
    if (typeof tokenId === 'string') return tokenId;
    question['tokenId'] = tokenId;
  }
  if (hasRights(version)) {
    const rights = readOr('rights', p.rights, readRights(rest.rights ?? NO_RIGHTS));
    if (!rights.startsWith('0x')) return rights;
    question['rights'] = rights;
  }
  return { chainId, question: question as unknown as Question };
}

type Answers = (asked: readonly Asked[]) => Promise<Answered[]>;

const fault = (error: string): Answered => ({ result: '', error });
const UNREAD = 'a v1 revocation of this wallet is not settled yet';

/** Answers from a store, a batch at a time. */
function fromStore(store: Store, blocks: PinnedBlocks): Answers {
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
      const pinned = await blocks.of(chainId);
      const found = typeof pinned === 'string' ? null : await checkPinned(store, pinned, questions);
      for (const [turn, position] of positions.entries()) {
        const { version } = questions[turn] as Question;
        const value = found?.[turn] ?? null;
        const refusal = typeof pinned === 'string' ? pinned : lackOf(chainId, version);
        answered[position] =
          refusal !== null || value === null ? fault(refusal ?? UNREAD) : { result: String(value), error: '' };
      }
    }
    return answered;
  };
}

/** Says as the API does that the chain has no registry of this version; null if it has one. */
function lackOf(chainId: number, version: Version): string | null {
  const lack = missingRegistry(chainId, version);
  return lack === null ? null : `chainId ${lack}`;
}

const AT_ONCE = 16;

/** Answers from a service, a few requests at a time. */
function overHttp({ ask }: Source, blocks: PinnedBlocks): Answers {
  const answer = async (one: Asked): Promise<Answered> => {
    if (typeof one === 'string') return fault(one);
    const pinned = await blocks.of(one.chainId);
    if (typeof pinned === 'string') return fault(pinned);
    const response = await askWithinLimit(ask, checkUrl(one.question, { chainId: one.chainId, block: pinned.block }));
    if (!response.ok) return fault(await problemText(response));
    const result = await response.text();
    if (!/^(true|false|\d{1,78})$/.test(result)) throw new UsageError(NO_SERVICE);
    await blocks.requireSame(pinned, response);
    return { result, error: '' };
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

/** Shows the progress on a terminal. */
function startProgress(size: number | null) {
  const began = performance.now();
  let drawn = 0;
  return {
    show(rows: number, bytes: number) {
      if (performance.now() - drawn < DRAW_MS) return;
      drawn = performance.now();
      const seconds = (drawn - began) / 1000;
      const share = size === null || size === 0 ? null : Math.min(1, bytes / size);
      const bar =
        share === null ? '' : `[${'#'.repeat(Math.round(share * BAR)).padEnd(BAR)}] ${Math.round(100 * share)} %  `;
      const left = share === null ? '' : `, ${Math.ceil((seconds / share) * (1 - share))} s left`;
      const rate = Math.round(rows / seconds).toLocaleString('en');
      showStatus(`${bar}${rows.toLocaleString('en')} rows, ${rate}/s${left}`);
    },
    end(rows: number) {
      const seconds = (performance.now() - began) / 1000;
      showStatus('');
      const rate = Math.round(rows / Math.max(seconds, 0.001)).toLocaleString('en');
      process.stderr.write(`${rows.toLocaleString('en')} rows in ${seconds.toFixed(1)} s, ${rate}/s\n`);
    },
  };
}

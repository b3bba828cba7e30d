// Checks every row of a CSV file at one block, in constant memory.

import { existsSync, statSync } from 'node:fs';
import { BATCH_OPERATION, MAX_QUESTIONS } from '../api/batch-operation.ts';
import type { ChainQuestion } from '../api/batch-question.ts';
import type { ResponseOf } from '../api/operation.ts';
import * as p from '../api/params.ts';
import { describeProblem, type ProblemBody } from '../api/problems.ts';
import { REGISTRIES, type Registry } from '../api/registries.ts';
import { urlFor } from '../api/url.ts';
import { missingRegistry } from '../http/context/served-chains.ts';
import type { Question } from '../registry/check.ts';
import { isBytes32, NO_RIGHTS } from '../registry/delegation.ts';
import { SCOPES } from '../registry/scopes.ts';
import { showStatus } from '../service/status-line.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Store } from '../store/store.ts';
import type { Invocation } from './command.ts';
import { asBytes, type CsvRow, decodeCell, quoteCell, readCsv } from './csv.ts';
import { writeWhole } from './output.ts';
import { checkPinned, createPinnedBlocks, type PinnedBlock, type PinnedBlocks } from './pinned-block.ts';
import { NO_SERVICE, type Source } from './query-target.ts';
import { askWithinLimit, chainIdOf, given, readOr, readRights, registryOf, scopeOf } from './question-options.ts';

/** A row's question, or what is wrong with the row. */
type Asked = ChainQuestion | string;
interface Answered {
  readonly result: string;
  readonly error: string;
}

/** Rows whose answers are on their way, while the next rows are read. */
interface AskedBatch {
  readonly data: readonly CsvRow[];
  readonly answered: Promise<Answered[]>;
  /** The header, before the first row. */
  readonly lead: string;
  /** Bytes of the file read so far. */
  readonly bytes: number;
}

const KNOWN = ['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'version', 'chainId'] as const;
type ColumnName = (typeof KNOWN)[number];
type Columns = Readonly<Partial<Record<ColumnName, number>>>;

/** Column names in lower case, without separators. */
const NAMES = new Map<string, ColumnName>([
  ...KNOWN.map((name): [string, ColumnName] => [name.toLowerCase(), name]),
  ...['vault', 'cold', 'coldwallet', 'owner', 'delegator', 'fromaddress'].map((name) => [name, 'from'] as const),
  ...['delegate', 'hot', 'hotwallet', 'toaddress'].map((name) => [name, 'to'] as const),
  ['contractaddress', 'contract'],
  ['collection', 'contract'],
  ['token', 'tokenId'],
  ['right', 'rights'],
  ['network', 'chainId'],
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
  let separator = ',';
  const write = async ({ data, answered, lead, bytes }: AskedBatch) => {
    let text = lead;
    for (const [position, { result, error }] of (await answered).entries()) {
      const row = data[position] as CsvRow;
      if (error !== '') troubled++;
      const missing = separator.repeat(Math.max(0, width - row.cells.length));
      const message = error === '' ? '' : quoteCell(asBytes(error));
      text += `${row.text}${missing}${separator}${result}${separator}${message}\n`;
    }
    rows += data.length;
    await writeWhole(Buffer.from(text, 'latin1'));
    progress.show(rows, bytes);
  };
  let written = Promise.resolve();
  let before = 0;
  for await (const { rows: batch, bytes, separator: found } of readCsv(
    stream as unknown as AsyncIterable<Uint8Array>,
  )) {
    let data = batch;
    let lead = '';
    if (read === null) {
      const [names, ...rest] = batch as [CsvRow, ...CsvRow[]];
      width = names.cells.length;
      read = readerOf(columnsOf(names.cells.map((name) => decodeCell(name) ?? name)), call);
      data = rest;
      separator = found;
      lead = [names.text, 'result', 'error\n'].join(separator);
    }
    const reader = read;
    let from = 0;
    do {
      const piece = data.slice(from, from + blocks.mostAtOnce());
      from += piece.length;
      const answered = answers(
        piece.map(({ cells }) =>
          cells.length > width ? `the row has ${cells.length} cells, but the header has ${width}` : reader(cells),
        ),
      );
      // If writing the rows before it fails, nobody waits for this one.
      answered.catch(() => {});
      await written;
      const share = data.length === 0 ? 1 : from / data.length;
      written = write({ data: piece, answered, lead, bytes: before + share * (bytes - before) });
      written.catch(() => {});
      lead = '';
    } while (from < data.length);
    before = bytes;
  }
  await written;
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
    throw new UsageError(
      `The CSV header lacks ${missing.join(' and ')}. It is: ${names.join(',')}. Name the cold wallet from (or vault, cold) and the hot wallet to (or delegate, hot).`,
    );
  if (copied.length > 0) process.stderr.write(`Columns copied unchanged: ${copied.join(', ')}\n`);
  return columns;
}

/** Reads rows by their columns. The options are the defaults. */
function readerOf(columns: Columns, call: Invocation): (cells: readonly string[]) => Asked {
  const rights = given(call, 'rights');
  const defaultRights = readOr('--rights', p.rights, readRights(rights ?? NO_RIGHTS));
  if (!isBytes32(defaultRights)) throw new UsageError(defaultRights);
  const [version, chain] = [registryOf(call), chainIdOf(call)];
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

const REGISTRY_NAMES = new Map<string, Registry>([
  ['1', 1],
  ['2', 2],
  ['any', 'any'],
]);

function readRest(pair: Pick<Question, 'from' | 'to'>, rest: Rest): Asked {
  const version = REGISTRY_NAMES.get(rest.version.toLowerCase().replace(/^v/, ''));
  if (version === undefined) return `version must be 1, 2 or any, got ${rest.version}`;
  const chainId = readOr('chainId', p.chainId, rest.chainId);
  if (typeof chainId === 'string') return chainId;
  const scope = scopeOf(rest.type?.toLowerCase(), version, rest.contract, rest.tokenId);
  const { needsContract, needsTokenId } = SCOPES[scope];
  const { hasRights } = REGISTRIES[version];
  if (rest.rights !== undefined && !hasRights) return `rights are not supported by v${version}`;
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
  if (hasRights) {
    const rights = readOr('rights', p.rights, readRights(rest.rights ?? NO_RIGHTS));
    if (!rights.startsWith('0x')) return rights;
    question['rights'] = rights;
  }
  return { chainId, question: question as unknown as ChainQuestion['question'] };
}

type Answers = (asked: readonly Asked[]) => Promise<Answered[]>;

const fault = (error: string): Answered => ({ result: '', error });
const UNREAD = 'a v1 revocation of this wallet is not settled yet';

interface OfChain {
  readonly positions: number[];
  readonly questions: ChainQuestion['question'][];
}

function groupByChain(asked: readonly Asked[]): ReadonlyMap<number, OfChain> {
  const chains = new Map<number, OfChain>();
  for (const [position, one] of asked.entries()) {
    if (typeof one === 'string') continue;
    const chain = chains.get(one.chainId) ?? { positions: [], questions: [] };
    chains.set(one.chainId, chain);
    chain.positions.push(position);
    chain.questions.push(one.question);
  }
  return chains;
}

/** Answers chain by chain, each at its pinned block. */
function byChain(
  blocks: PinnedBlocks,
  answerChain: (pinned: PinnedBlock, questions: OfChain['questions']) => Promise<Answered[]>,
): Answers {
  return async (asked) => {
    const answered: Answered[] = asked.map((one) => fault(typeof one === 'string' ? one : ''));
    for (const [chainId, { positions, questions }] of groupByChain(asked)) {
      const pinned = await blocks.of(chainId);
      const found = typeof pinned === 'string' ? null : await answerChain(pinned, questions);
      for (const [turn, position] of positions.entries()) answered[position] = found?.[turn] ?? fault(String(pinned));
    }
    return answered;
  };
}

/** Answers from a store, a batch at a time. */
const fromStore = (store: Store, blocks: PinnedBlocks): Answers =>
  byChain(blocks, async (pinned, questions) => {
    const values = await checkPinned(store, pinned, questions);
    return questions.map(({ version }, turn) => {
      const value = values[turn] ?? null;
      const lack = missingRegistry(pinned.chainId, version);
      // As the API says it.
      if (lack !== null) return fault(`chainId ${lack}`);
      return value === null ? fault(UNREAD) : { result: String(value), error: '' };
    });
  });

/** Answers from a service, as many questions at a time as it accepts. */
function overHttp({ ask }: Source, blocks: PinnedBlocks): Answers {
  let last: Promise<unknown> = Promise.resolve();
  return byChain(blocks, async (pinned, questions) => {
    const { chainId, block, batchSize } = pinned;
    const path = urlFor(BATCH_OPERATION, { block, numbers: 'string' });
    const answered: Answered[] = [];
    for (let from = 0; from < questions.length; from += batchSize) {
      const slice = questions.slice(from, from + batchSize);
      const body = `{"questions":[${slice.map((question) => questionText(chainId, question)).join(',')}]}`;
      // Within a limit one after another: two would take it from each other, and one of them might never get it.
      const before = batchSize < MAX_QUESTIONS ? last : null;
      const asked = (async () => {
        await before;
        return askWithinLimit(ask, path, body);
      })();
      last = asked.catch(() => {});
      answered.push(...(await readAnswers(await asked, slice.length, pinned, blocks)));
    }
    return answered;
  });
}

/** The JSON of a question: its values need no escapes. */
function questionText(chainId: number, question: ChainQuestion['question']): string {
  const { version, scope, from, to } = question;
  const contract = 'contract' in question ? `,"contract":"${question.contract}"` : '';
  const tokenId = 'tokenId' in question ? `,"tokenId":"${question.tokenId}"` : '';
  const rights = 'rights' in question && question.rights !== NO_RIGHTS ? `,"rights":"${question.rights}"` : '';
  return `{"version":"${version}","check":"${scope}","chainId":${chainId},"from":"${from}","to":"${to}"${contract}${tokenId}${rights}}`;
}

const NO_BATCHES = `The service at --url does not have POST ${BATCH_OPERATION.path}. Update the service, or query its database with DATABASE_URL.`;

async function readAnswers(
  response: Response,
  count: number,
  pinned: PinnedBlock,
  blocks: PinnedBlocks,
): Promise<Answered[]> {
  const body = (await response.json().catch(() => ({}))) as Partial<ProblemBody> & Partial<Batch>;
  if (!response.ok) {
    const isAbsent = response.status === 405 || (response.status === 404 && body.type?.endsWith('not-found'));
    if (isAbsent) throw new UsageError(NO_BATCHES);
    const error = describeProblem(body) ?? `HTTP status ${response.status}`;
    return Array.from({ length: count }, () => fault(error));
  }
  const { chains, answers } = body;
  if (!Array.isArray(answers) || answers.length !== count || !Array.isArray(chains)) throw new UsageError(NO_SERVICE);
  const chain = (chains as Batch['chains']).find(({ chainId }) => chainId === pinned.chainId);
  const block = chain !== undefined && 'block' in chain ? chain.block : null;
  if (block !== null) await blocks.requireSame(pinned, block);
  return (answers as Batch['answers']).map((answer) => {
    if ('problem' in answer) return fault(describeProblem(answer.problem) ?? '');
    const result = String(answer.result);
    if (block === null || !/^(true|false|\d{1,78})$/.test(result)) throw new UsageError(NO_SERVICE);
    return { result, error: '' };
  });
}

type Batch = ResponseOf<typeof BATCH_OPERATION>;

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

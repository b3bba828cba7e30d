// Checks every row of a CSV file at one block, as batches of the API, in constant memory.

import { existsSync, statSync } from 'node:fs';
import { BATCH_OPERATION, QUESTION_PARAMS, type QuestionField } from '../api/batch-operation.ts';
import type { ResponseOf } from '../api/operation.ts';
import * as p from '../api/params.ts';
import { describeProblem, type ProblemBody } from '../api/problems.ts';
import { REGISTRIES, type Registry } from '../api/registries.ts';
import { urlFor } from '../api/url.ts';
import { ALL_VERSIONS } from '../registry/versions.ts';
import { showStatus, UsageError } from '../service/terminal.ts';
import type { Invocation } from './command.ts';
import { asBytes, type CsvRow, decodeCell, quoteCell, readCsv } from './csv.ts';
import { writeWhole } from './output.ts';
import { createPinnedBlocks, type PinnedBlock, type PinnedBlocks } from './pinned-block.ts';
import { createProofFile, type ProofFile, type ProvenAnswer } from './proof-file.ts';
import { type Ask, NO_SERVICE } from './query-target.ts';
import { chainIdOf, given, readRights, registryOf, rightsOption, scopeOf } from './question-options.ts';

/** The fields of a row's question, as text. */
type Fields = { [Name in QuestionField]?: string | undefined };
/** A row's question, or what is wrong with the row. */
type Asked = Fields | string;
interface Answered {
  readonly result: string;
  readonly error: string;
}

const FIELDS = Object.keys(QUESTION_PARAMS) as readonly QuestionField[];
/** Other names of columns, in lower case, without separators. */
const OTHER_NAMES: Readonly<Partial<Record<QuestionField, readonly string[]>>> = {
  from: ['vault', 'cold', 'coldwallet', 'owner', 'delegator', 'fromaddress'],
  to: ['delegate', 'hot', 'hotwallet', 'toaddress'],
  check: ['type'],
  contract: ['contractaddress', 'collection'],
  tokenId: ['token'],
  rights: ['right'],
  chainId: ['network', 'chain'],
  version: ['registry'],
};
/** A column `check` is no field: files have their own. */
const NAMES = new Map(
  FIELDS.flatMap((field) =>
    [...(field === 'check' ? [] : [field.toLowerCase()]), ...(OTHER_NAMES[field] ?? [])].map((name) => [name, field]),
  ),
);
/** Rows of a request whose answers are proven: a node may take long for each. */
const PROVEN_AT_ONCE = 25;
/** Longer than any value. */
const MAX_CELL = 200;

export async function checkFile(call: Invocation, ask: Ask, file: string, proofPath?: string): Promise<void> {
  const strange = ['from', 'to'].filter((name) => call.text(name) !== undefined);
  if (call.isSet('json')) strange.push('json');
  if (strange.length > 0) throw new UsageError(`--${strange[0]} cannot be combined with --csv.`);
  if (file !== '-' && !existsSync(file)) throw new UsageError(`File not found: ${file}`);
  if (file !== '-' && statSync(file).isDirectory()) throw new UsageError(`${file} is a directory.`);
  const stream = file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();
  const progress = startProgress(file === '-' ? null : statSync(file).size);
  const blocks = createPinnedBlocks(call, ask);
  const defaults = defaultsOf(call);
  const proofs = proofPath === undefined ? null : createProofFile(proofPath);
  const mostAtOnce = () => Math.min(blocks.mostAtOnce(), proofs === null ? Number.POSITIVE_INFINITY : PROVEN_AT_ONCE);
  let columns: Columns | null = null;
  let [lead, width, rows, troubled, done] = ['', 0, 0, 0, 0];
  for await (const batch of readCsv(stream as unknown as AsyncIterable<Uint8Array>)) {
    const { bytes, separator } = batch;
    let left = batch.rows;
    if (columns === null) {
      const [names, ...rest] = left as [CsvRow, ...CsvRow[]];
      columns = columnsOf(names.cells.map((name) => decodeCell(name) ?? name));
      [left, width, lead] = [rest, names.cells.length, [names.text, 'result', 'error\n'].join(separator)];
    }
    const bytesPerRow = (bytes - done) / batch.rows.length;
    while (left.length > 0) {
      const piece = left.slice(0, mostAtOnce());
      left = left.slice(piece.length);
      const asked = piece.map(({ cells }) => readRow(cells, columns as Columns, width, defaults));
      for (const [position, { result, error }] of (await answer(asked, ask, blocks, proofs)).entries()) {
        const { text, cells } = piece[position] as CsvRow;
        if (error !== '') troubled++;
        const missing = separator.repeat(Math.max(0, width - cells.length));
        lead += `${text}${missing}${separator}${result}${separator}${error === '' ? '' : quoteCell(asBytes(error))}\n`;
      }
      rows += piece.length;
      await writeWhole(Buffer.from(lead, 'latin1'));
      lead = '';
      progress.show(rows, bytes - left.length * bytesPerRow);
    }
    done = bytes;
  }
  if (columns === null) throw new UsageError('The CSV is empty. Its header must name the columns, such as from,to');
  // The header of a file without rows.
  await writeWhole(Buffer.from(lead, 'latin1'));
  progress.end(rows);
  proofs?.end();
  await blocks.confirm();
  if (troubled > 0) {
    process.stderr.write(`${troubled} of ${rows} rows failed. See the error column.\n`);
    process.exitCode = 2;
  }
}

type Columns = Readonly<Partial<Record<QuestionField, number>>>;

function columnsOf(names: readonly string[]): Columns {
  const columns: Partial<Record<QuestionField, number>> = {};
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

/** What the options say about every row: the compiler asks for each field. */
const defaultsOf = (call: Invocation): { [Name in QuestionField]: string | undefined } => ({
  from: undefined,
  to: undefined,
  version: String(registryOf(call)),
  check: call.text('type'),
  chainId: String(chainIdOf(call)),
  contract: given(call, 'contract'),
  tokenId: given(call, 'tokenId'),
  rights: rightsOption(call),
});

/** The API checks the values. A row itself says which check it asks, or leaves it to what it has. */
function readRow(cells: readonly string[], columns: Columns, width: number, defaults: Fields): Asked {
  if (cells.length > width) return `the row has ${cells.length} cells, but the header has ${width}`;
  try {
    const fields: Fields = { ...defaults };
    for (const field of FIELDS) {
      const at = columns[field];
      const text = at === undefined ? '' : decodeCell(cells[at] ?? '');
      if (text === null) return `${field} is not valid UTF-8`;
      // One cell must not make the whole batch too large.
      if (text.length > MAX_CELL) return `${field} is too long`;
      if (text.trim() !== '') fields[field] = text.trim();
    }
    const { version = '', check, contract, tokenId, rights } = fields;
    const registry = REGISTRY_NAMES.get(version.toLowerCase().replace(/^v/, ''));
    if (registry === undefined) return `version must be ${ALL_VERSIONS.join(', ')} or any, got ${version}`;
    if (rights !== undefined && !REGISTRIES[registry].hasRights) return `rights are not supported by v${registry}`;
    return {
      ...fields,
      version: String(registry),
      check: scopeOf(check?.toLowerCase(), registry, contract, tokenId),
      rights: rights && readRights(rights),
    };
  } catch (error) {
    if (error instanceof UsageError) return error.message.replaceAll('--', '');
    throw error;
  }
}

const REGISTRY_NAMES = new Map(
  ([...ALL_VERSIONS, 'any'] as const).map((registry): [string, Registry] => [String(registry), registry]),
);

const fault = (error: string): Answered => ({ result: '', error });

/** The answers, chain by chain, each at its pinned block. */
async function answer(
  asked: readonly Asked[],
  ask: Ask,
  blocks: PinnedBlocks,
  proofs: ProofFile | null,
): Promise<Answered[]> {
  const answered = asked.map((one) => fault(typeof one === 'string' ? one : ''));
  const chains = Map.groupBy(asked.keys(), (position) => (asked[position] as Fields).chainId);
  for (const [chain, positions] of chains) {
    if (chain === undefined) continue;
    const chainId = p.chainId.read(chain);
    const pinned = chainId instanceof p.Fault ? `chainId ${chainId.detail}` : await blocks.of(chainId);
    const questions = positions.map((position) => asked[position] as Fields);
    const found = typeof pinned === 'string' ? null : await askBatch(questions, pinned, ask, blocks, proofs);
    for (const [turn, position] of positions.entries()) answered[position] = found?.[turn] ?? fault(String(pinned));
  }
  return answered;
}

const NO_BATCHES = `The service at --url does not have POST ${BATCH_OPERATION.path}. Update the service, or query its database with DATABASE_URL.`;
type Batch = ResponseOf<typeof BATCH_OPERATION>;

async function askBatch(
  questions: readonly Fields[],
  pinned: PinnedBlock,
  ask: Ask,
  blocks: PinnedBlocks,
  proofs: ProofFile | null,
) {
  const how = proofs === null ? {} : { proof: 'true' };
  const path = urlFor(BATCH_OPERATION, { block: pinned.block, numbers: 'string', ...how });
  const response = await ask(path, JSON.stringify({ questions }));
  const body = (await response.json().catch(() => ({}))) as Partial<ProblemBody> & Partial<Batch>;
  if (!response.ok) {
    const isAbsent = response.status === 405 || (response.status === 404 && body.type?.endsWith('not-found'));
    if (isAbsent) throw new UsageError(NO_BATCHES);
    const error = describeProblem(body) ?? `HTTP status ${response.status}`;
    return questions.map(() => fault(error));
  }
  const { chains, answers } = body;
  if (!Array.isArray(answers) || answers.length !== questions.length || !Array.isArray(chains))
    throw new UsageError(NO_SERVICE);
  const chain = (chains as Batch['chains']).find(({ chainId }) => chainId === pinned.chainId);
  const block = chain !== undefined && 'block' in chain ? chain.block : null;
  if (block !== null) await blocks.requireSame(pinned, block);
  return (answers as Batch['answers']).map((one, turn) => {
    if ('problem' in one) return fault(describeProblem(one.problem));
    const result = String(one.result);
    if (block === null || !/^(true|false|\d{1,78})$/.test(result)) throw new UsageError(NO_SERVICE);
    if (proofs !== null) {
      if (!('proofs' in one)) throw new UsageError(NO_SERVICE);
      proofs.add(pinned.chainId, questions[turn] as Fields, one as ProvenAnswer);
    }
    return { result, error: '' };
  });
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

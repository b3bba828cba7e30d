// Answers a batch: many questions, each chain as of one block, as one JSON object or as a stream of lines.

import { MAX_BATCH_BYTES, MAX_PROVEN, QUESTION_BYTES } from '../../api/batch-operation.ts';
import { type BatchFormat, type ChainQuestion, readQuestion, splitBatch } from '../../api/batch-question.ts';
import type { JsonValue } from '../../api/json-reader.ts';
import { handled } from '../../api/operation.ts';
import type { BatchOperation } from '../../api/operations.ts';
import type { NumberMode } from '../../api/params.ts';
import { badRequest, Problem, problemBody } from '../../api/problems.ts';
import { readRequest } from '../../api/request.ts';
import { textResponse } from '../../api/sized-response.ts';
import { chunksOf } from '../../chain/rpc/rpc.ts';
import { READ_LIMITS } from '../../chain/rpc/shared-reads.ts';
import { valueText } from '../../feed/delegation-json.ts';
import { partsOf } from '../../registry/check.ts';
import { StoreError, unsettledRevocation } from '../../store/errors.ts';
import {
  type AsOf,
  findWalletDispute,
  isRewritten,
  type PinnedBlock,
  pinIndexed,
  reorganizing,
  retryRewritten,
} from '../context/as-of.ts';
import { requireAnswered } from '../context/chain-parts.ts';
import { problemOf } from '../context/problem-of.ts';
import { requireOneChain, requireServed } from '../context/served-chains.ts';
import type { Call, Service } from '../context/service.ts';
import { type LongList, type ReceivedBody, SHORT } from '../limits/long-lists.ts';
import { CORS, JSON_TYPE } from '../wire/answer.ts';
import { announcedBytes, BODY_SECONDS, MAX_PLAIN_BYTES, readBody } from '../wire/body.ts';
import { type Parts, streamParts } from '../wire/stream-parts.ts';
import { provenText, requireProofs, tooLateToProve } from './proven.ts';

/** How many questions are answered, and read, without a break: other requests wait for them. */
const SLICE = 500;
const READ_AT_ONCE = 100;

/** A question, or why it is refused. */
type Row = ChainQuestion | Problem;

/** A chain of the batch: the block at which its questions are answered, or why they are not. */
type Pin = PinnedBlock | Problem;

interface Batch extends Pick<Call, 'service' | 'failed' | 'caller'> {
  readonly rows: readonly Row[];
  /** The chains of the questions, in the order of their first one. */
  readonly chainIds: ReadonlySet<number>;
  readonly asOf: AsOf;
  readonly mode: NumberMode;
  /** Each answer proves itself. */
  readonly isProven: boolean;
  /** By the monotonic clock. */
  readonly proveUntil: number;
  /** Waits for a turn to read so many questions, unless the batch is small. */
  readonly long: LongList;
  /** It was answered, or its caller has gone. */
  readonly hasEnded: () => boolean;
}

export async function answerBatch(operation: BatchOperation, call: Call): Promise<Response> {
  const { query, request, service, failed } = call;
  const { block, timestamp, numbers: mode, proof, ...rest } = readRequest(operation, {}, query);
  handled(rest);
  const isProven = proof === 'true';
  if (isProven) requireProofs(service);
  const formats = formatsOf(request);
  const caller = call.caller();
  const received = service.longLists.receive(caller);
  let [long, isStreamed, hasEnded] = [SHORT, false, false];
  const end = () => {
    hasEnded = true;
    received.end();
    long.end();
  };
  try {
    const most = service.admission?.mostQuestions({ request, budget: operation.budget }) ?? Number.POSITIVE_INFINITY;
    const body = await receive(call, most, received);
    // Not before the body is there: a caller that sends nothing must not keep others from theirs.
    const begin = formats.response === 'json' ? service.longLists.beginWhole : service.longLists.begin;
    if (body.length > MAX_PLAIN_BYTES) long = await begin(caller);
    const { rows, chainIds } = await readRows(body, formats.request, most, service, long);
    await call.count(Math.max(rows.length, Math.ceil(body.length / QUESTION_BYTES)));
    requireOneChain(block, chainIds.size);
    if (isProven && rows.length > MAX_PROVEN)
      throw badRequest([{ parameter: 'questions', detail: `must be at most ${MAX_PROVEN} with proof=true` }]);
    const batch: Batch = {
      rows,
      chainIds,
      asOf: { block, timestamp },
      mode,
      isProven,
      proveUntil: performance.now() + (service.proofs?.batchMs ?? 0),
      service,
      failed,
      caller: () => caller,
      long,
      hasEnded: () => hasEnded,
    };
    const headers: Record<string, string> = { ...CORS, 'cache-control': 'no-store', vary: 'X-API-KEY' };
    if (timestamp !== undefined) headers['x-as-of-timestamp'] = String(timestamp);
    headers['content-type'] = formats.response === 'json' ? JSON_TYPE : 'application/x-ndjson';
    if (formats.response === 'json') return textResponse(await retried(() => answerWhole(batch)), { headers });
    const begun = await retried(() => beginLines(batch));
    isStreamed = true;
    // Too late is the last line, not the end of the connection.
    const sender = { answerTimeout: Number.POSITIVE_INFINITY, onError: service.onError };
    return streamParts(linesOf(batch, begun), { headers }, end, sender);
  } finally {
    if (!isStreamed) end();
  }
}

/** A body that is too large for the questions that the caller may ask is not read. */
async function receive({ request, service, count }: Call, most: number, received: ReceivedBody): Promise<string> {
  const maxBytes = Math.min(MAX_BATCH_BYTES, most * QUESTION_BYTES);
  if (maxBytes < MAX_BATCH_BYTES && (announcedBytes(request) ?? 0) > maxBytes) await count(most + 1);
  return readBody(request, maxBytes, Math.min(BODY_SECONDS, service.answerTimeout), received.add);
}

const TYPES = new Map<string, BatchFormat>([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
]);

/** The response has the format of the request, unless `Accept` names the other. */
function formatsOf({ headers }: Request): Readonly<Record<'request' | 'response', BatchFormat>> {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const request = TYPES.get(type);
  if (request === undefined) {
    const detail = `Content-Type must be ${[...TYPES.keys()].join(' or ')}, not ${JSON.stringify(type.slice(0, 80))}.`;
    throw new Problem('unsupported-media-type', detail);
  }
  const accepted = headers.get('accept')?.toLowerCase() ?? '';
  const named = [...TYPES].filter(([name]) => accepted.includes(name)).map(([, format]) => format);
  return { request, response: named.length === 1 ? (named[0] as BatchFormat) : request };
}

async function readRows(
  body: string,
  format: BatchFormat,
  /** Reading stops after one question more than this. */
  mostQuestions: number,
  service: Service,
  long: LongList,
): Promise<Pick<Batch, 'rows' | 'chainIds'>> {
  const rows: Row[] = [];
  const chainIds = new Set<number>();
  const values = splitBatch(body, format);
  const rowOf = (value: JsonValue): Row => {
    try {
      const row = readQuestion(value);
      requireServed(row.chainId, row.question.version, service.chainIds);
      chainIds.add(row.chainId);
      return row;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  };
  /** True if there are more. */
  const readSome = async (): Promise<boolean> => {
    for (let left = READ_AT_ONCE; left > 0; left--) {
      const { done, value } = values.next();
      if (done || rows.length > mostQuestions) return false;
      rows.push(value instanceof Problem ? value : rowOf(value));
    }
    return true;
  };
  while (await long.read(0, readSome));
  return { rows, chainIds };
}

/** History changed after the block of a chain was chosen. */
const isInterrupted = (error: unknown) =>
  isRewritten(error) || (error instanceof StoreError && error.code === 'beyond-head');
const interrupted = () => reorganizing('The chain is being reorganized. Send the batch again.');

const retried = <T>(run: () => Promise<T>) => retryRewritten(run, interrupted, isInterrupted);

async function pinChains(batch: Batch) {
  const pins = new Map<number, Pin>();
  for (const chainId of batch.chainIds) pins.set(chainId, await pinChain(chainId, batch));
  const parts = [...pins].map(([chainId, pin]) => (pin instanceof Problem ? { chainId, problem: pin } : pin));
  // A batch whose questions are all refused has none.
  return { pins, chains: parts.length === 0 ? '[]' : requireAnswered(parts).chains };
}

async function pinChain(chainId: number, { asOf, service, failed }: Batch): Promise<Pin> {
  try {
    return await pinIndexed(chainId, asOf, service);
  } catch (error) {
    const problem = problemOf(error, service, failed);
    if (problem.type === 'internal' || isRewritten(error)) throw error;
    return problem;
  }
}

const refusal = (problem: Problem) => `{"problem":${JSON.stringify(problemBody(problem))}}`;

/** Answers the questions from a position on, with one read for each chain. */
async function answerSlice(batch: Batch, pins: ReadonlyMap<number, Pin>, from: number): Promise<string[]> {
  const slice = batch.rows.slice(from, from + SLICE);
  const texts = slice.map((row) => (row instanceof Problem ? refusal(row) : ''));
  for (const [chainId, pin] of pins) {
    const places = [...slice.keys()].filter((place) => (slice[place] as Partial<ChainQuestion>).chainId === chainId);
    if (places.length === 0) continue;
    const asked = places.map((place) => slice[place] as ChainQuestion);
    const answered = await batch.long.read(places.length, () => answerChain(batch, chainId, pin, asked));
    for (const [turn, place] of places.entries()) texts[place] = answered[turn] as string;
  }
  return texts;
}

const areAnswered = (texts: readonly string[]) => texts.every((text) => text.startsWith('{"result"'));

// Another field of a question does not compile until it is read below.
handled({} as Omit<ChainQuestion, 'chainId' | 'question'>);

/** The answers to questions about one chain. */
async function answerChain(batch: Batch, chainId: number, pin: Pin, rows: readonly ChainQuestion[]): Promise<string[]> {
  if (pin instanceof Problem) {
    const text = refusal(pin);
    return rows.map(() => text);
  }
  const { mode, service, failed } = batch;
  const { store, onDenied, onUnread } = service;
  const values = await store.checkMany(
    chainId,
    rows.map(({ question }) => question),
    pin.at,
  );
  const textOf = ({ question }: ChainQuestion, turn: number): string | Promise<string> => {
    const value = values[turn] ?? null;
    if (value === null) {
      const { from, to } = question;
      const disputed = findWalletDispute(pin.chain, question);
      if (disputed !== null) return refusal(disputed);
      onUnread?.(chainId, { version: 1, scope: 'all', from, to });
      return refusal(problemOf(unsettledRevocation(from), service, failed));
    }
    if (onDenied !== undefined && (value === false || value === 0n)) {
      for (const part of partsOf(question)) onDenied(chainId, part);
    }
    if (!batch.isProven) return `{"result":${valueText(value, mode)}}`;
    const proving = provenText(batch, pin.chain, pin.block, question, value, mode);
    return proving.catch((error) => refusal(problemOf(error, service, failed)));
  };
  if (!batch.isProven) return rows.map(textOf) as string[];
  // A caller's reads run a few at once.
  const texts: string[] = [];
  for (const some of chunksOf([...rows.entries()], READ_LIMITS.maxRunningOfOne)) {
    const refused = performance.now() < batch.proveUntil ? null : refusal(tooLateToProve(chainId));
    texts.push(...(await Promise.all(some.map(([turn, row]) => refused ?? textOf(row, turn)))));
  }
  return texts;
}

async function answerWhole(batch: Batch): Promise<string> {
  const { pins, chains } = await pinChains(batch);
  const parts: string[] = [];
  let complete = true;
  for (let from = 0; from < batch.rows.length; from += SLICE) {
    const slice = await answerSlice(batch, pins, from);
    parts.push(slice.join(','));
    complete &&= areAnswered(slice);
  }
  return `{"complete":${complete},"chains":${chains},"answers":[${parts.join(',')}]}`;
}

/** The first slice comes before the status: a batch that is refused must not start as a 200. */
async function beginLines(batch: Batch) {
  const { pins, chains } = await pinChains(batch);
  return { pins, chains, first: await answerSlice(batch, pins, 0) };
}

/** The answers as lines, with one slice in memory. */
async function* linesOf(batch: Batch, { pins, chains, first }: Awaited<ReturnType<typeof beginLines>>): Parts {
  const { rows, service, failed } = batch;
  const deadline = performance.now() + 1000 * service.answerTimeout;
  let complete = true;
  try {
    for (let next = 0; next === 0 || next < rows.length; next += SLICE) {
      if (performance.now() > deadline) throw new Error('Batch not sent within the answer timeout.');
      const slice = next === 0 ? first : await answerSlice(batch, pins, next);
      complete &&= areAnswered(slice);
      const lead = next === 0 ? [`{"chains":${chains}}`] : [];
      const tail = next + SLICE >= rows.length ? [`{"complete":${complete}}`] : [];
      yield `${[...lead, ...slice, ...tail].join('\n')}\n`;
    }
    return true;
  } catch (error) {
    if (batch.hasEnded()) return false;
    const problem = isInterrupted(error) ? interrupted() : problemOf(error, service, failed);
    yield `{"error":${JSON.stringify(problemBody(problem))}}\n`;
    return false;
  }
}

// Files with proofs. That of one answer is an object; that of many has a line for each: the block, nodes that proofs share, answers.

import { closeSync, openSync, writeSync } from 'node:fs';
import { readQuestion } from '../api/batch-question.ts';
import { createJsonReader } from '../api/json-reader.ts';
import {
  isResult,
  ProofError,
  type ProvenBlock,
  type RegistryProof,
  stateRootOf,
  verifyAnswer,
} from '../proof/answer-proof.ts';
import { addNode, type NodeSet, newNodes, openNodes } from '../proof/bundle.ts';
import type { AnyQuestion, Question } from '../registry/check.ts';
import { type Bytes32, isBytes32, NO_RIGHTS } from '../registry/delegation.ts';
import { UsageError } from '../service/terminal.ts';

const FORMAT = 'delegations proofs 1';

/** As the API takes it in a batch. */
type QuestionFields = Readonly<Record<string, unknown>>;

/** The answer to a check with `proof=true`. */
export interface ProvenAnswer {
  readonly result: boolean | number | string;
  readonly block: ProvenBlock;
  readonly header: string;
  readonly proofs: readonly RegistryProof[];
}

/** Writes the proofs of answers as of one block of a chain. */
export type ProofFile = ReturnType<typeof createProofFile>;

export function createProofFile(path: string) {
  const file = openSync(path, 'w');
  const seen = new Set<string>();
  let count = 0;
  let first: { readonly chainId: number; readonly hash: string } | null = null;
  const write = (line: object) => void writeSync(file, `${JSON.stringify(line)}\n`);
  return {
    add(chainId: number, question: QuestionFields, { result, block, header, proofs }: ProvenAnswer): void {
      if (first !== null && (first.chainId !== chainId || first.hash !== block.hash))
        throw new UsageError('A file of proofs is about one block of one chain: split the rows by chain.');
      if (first === null) write({ format: FORMAT, chainId, block, header });
      first = { chainId, hash: block.hash };
      const nodes = newNodes(seen, proofs).map((node) => node.toBase64());
      if (nodes.length > 0) write({ nodes });
      const { chainId: _, ...asked } = question;
      write({ ...asked, result });
      count++;
    },
    end(): void {
      write({ answers: count });
      closeSync(file);
    },
  };
}

/** What was asked and found, for people. */
export interface Verified {
  readonly chainId: number;
  readonly block: ProvenBlock;
  readonly answers: number;
  /** Of the answers, those that are not false or 0. */
  readonly yes: number;
  /** The question and its answer, if the file has no other. */
  readonly only?: string;
}

/** The hash of a block that is trusted. Throws if it is not known. */
export type TrustedHash = (chainId: number, block: ProvenBlock) => Promise<Bytes32>;

/** Verifies a file. Throws a `ProofError` that names the line, or a `UsageError` if it is no file of proofs. */
export async function verifyProofFile(lines: AsyncIterable<string>, trusted: TrustedHash): Promise<Verified> {
  const nodes: NodeSet = new Map();
  let answerOf: ReturnType<typeof openNodes> | null = null;
  let found: { chainId: number; block: ProvenBlock } | null = null;
  let verified: Verified | null = null;
  let [number, answers, yes] = [0, 0, 0];
  for await (const line of lines) {
    number++;
    if (line === '') continue;
    const row = parse(line, number);
    try {
      if (verified !== null) throw new ProofError('format', 'it follows after the end');
      if (found === null || answerOf === null) {
        const isOne = 'answer' in row;
        const { chainId, block, header } = headOf(isOne ? (row['answer'] as object) : row, row, number);
        requireOnly(row, isOne ? ['question', 'answer'] : ['format', 'chainId', 'block', 'header']);
        const hash = await trusted(chainId, block);
        found = { chainId, block };
        if (isOne) {
          const question = toQuestion(row['question'], chainId, number);
          const result = verifyAnswer(question, row['answer'], hash);
          const only = `${describeQuestion(question)}: ${result}`;
          verified = { ...found, answers: 1, yes: result === false || result === 0n ? 0 : 1, only };
        } else answerOf = openNodes(stateRootOf(header, block, hash), nodes);
      } else if ('answers' in row) {
        requireOnly(row, ['answers']);
        if (row['answers'] !== answers) throw new ProofError('format', `there should be ${row['answers']} answers`);
        verified = { ...found, answers, yes };
      } else if (Array.isArray(row['nodes'])) {
        requireOnly(row, ['nodes']);
        for (const node of row['nodes']) addNode(nodes, decodeNode(node));
      } else {
        const { result, ...question } = row;
        const proven = answerOf(toQuestion(question, found.chainId, number));
        if (!isResult(result, proven))
          throw new ProofError('result', `the result is ${result}, but ${proven} is proven`);
        answers++;
        if (proven !== false && proven !== 0n) yes++;
      }
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      throw new ProofError(error.step, `Line ${number}: ${error.message}`, { cause: error });
    }
  }
  if (verified !== null) return verified;
  throw new UsageError(found === null ? 'The file is empty.' : 'The file is cut off: its last line is missing.');
}

function describeQuestion({ version, scope, from, to, ...target }: Question | AnyQuestion): string {
  const registry = version === 'any' ? 'both registries' : `registry v${version}`;
  const rest = Object.entries(target).filter(([name, value]) => name !== 'rights' || value !== NO_RIGHTS);
  return [`${scope} from ${from} to ${to}`, ...rest.map((one) => one.join(' ')), registry].join(', ');
}

/** What is not verified could be read as an answer. */
function requireOnly(row: object, names: readonly string[]): void {
  const other = Object.keys(row).find((name) => !names.includes(name));
  if (other !== undefined) throw new ProofError('format', `${JSON.stringify(other)} does not belong there`);
}

function decodeNode(node: unknown): Uint8Array {
  try {
    return Uint8Array.fromBase64(String(node));
  } catch (cause) {
    throw new ProofError('format', 'a node is not base64', { cause });
  }
}

const noProofs = (line: number) => new UsageError(`Line ${line} is not that of a file of proofs.`);

function parse(line: string, number: number): Record<string, unknown> {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw noProofs(number);
}

/** The chain, the block and its header: of the first line, or of the only answer. */
function headOf(of: object, row: Readonly<Record<string, unknown>>, number: number) {
  const { block, header } = of as Partial<ProvenAnswer>;
  const { question, format } = row as { question?: { chainId?: unknown }; format?: unknown };
  const chainId = question === undefined ? row['chainId'] : question.chainId;
  const isKnown = question !== undefined || format === FORMAT;
  if (!isKnown || typeof chainId !== 'number' || !isBytes32(block?.hash)) throw noProofs(number);
  return { chainId, block, header };
}

/** By the rules of the API. */
function toQuestion(fields: unknown, chainId: number, line: number): Question | AnyQuestion {
  try {
    const value = createJsonReader(JSON.stringify({ ...(fields as object), chainId })).readValue();
    return readQuestion(value).question;
  } catch (cause) {
    throw new UsageError(`Line ${line} is no question: ${(cause as Error).message}`);
  }
}

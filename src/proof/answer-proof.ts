// Verifies an answer that proves itself: the header hashes to the block's hash, its state root leads to the words of the registries, and
// those words give the result. Every byte of the proof is needed: what is left over, or written in another way, is refused.

import { ADDRESSES } from '../registry/addresses.ts';
import { bytesOf, hexOf, numberOf } from '../registry/bytes.ts';
import type { AnyQuestion, Question } from '../registry/check.ts';
import { partsOf } from '../registry/check.ts';
import type { Address, Bytes32 } from '../registry/delegation.ts';
import { keccak } from '../registry/keccak.ts';
import { storedAnswer } from '../registry/storage.ts';
import type { Version } from '../registry/versions.ts';
import { decodeRlp } from './rlp.ts';
import { storageRootOf, wordAt } from './storage-proof.ts';
import { type NodeSource, nodesInOrder } from './trie.ts';

/** A word of a registry, as `eth_getProof` returns it, and what it is. */
export interface StorageProof {
  readonly key: Bytes32;
  readonly value: string;
  readonly proof: readonly string[];
  readonly means: string;
}

/** What `eth_getProof` returns of a registry (EIP-1186). */
export interface RegistryProof {
  readonly registry: Version;
  readonly address: Address;
  readonly accountProof: readonly string[];
  readonly storageProof: readonly StorageProof[];
}

export interface ProvenBlock {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix seconds. */
  readonly timestamp: number;
}

export type ProofStep = 'format' | 'block' | 'header' | 'account' | 'storage' | 'result';

/** The proof does not show the answer. `step` is the first part of it that does not hold. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
  readonly step: ProofStep;
  constructor(step: ProofStep, message: string, options?: ErrorOptions) {
    super(message, options);
    this.step = step;
  }
}

/** The places of the state root, the number and the time in a header: it has at least 15 fields, or 10 on Celo before it was a rollup. */
const PLACES = [3, 8, 11] as const;
const LEAST_FIELDS = 15;
const [FIELDS_OF_CELO, PLACES_OF_CELO] = [10, [2, 6, 8]] as const;
/** Some chains hash the time in milliseconds. */
const MOST_SECONDS = 10n ** 11n;

/** The state root in the header of a block. Throws a `ProofError` unless it is the header of this block. */
export function stateRootOf(header: unknown, { number, hash, timestamp }: ProvenBlock, trusted: Bytes32): Bytes32 {
  if (hash !== trusted) throw new ProofError('block', `The answer is as of another block: ${hash}, not ${trusted}`);
  const bytes = bytesIn(header, 'header');
  if (keccak(bytes) !== hash) throw new ProofError('header', `The header does not hash to ${hash}`);
  const decoded = decodeRlp(bytes);
  const fields = decoded instanceof Uint8Array ? [] : (decoded ?? []);
  const isOfCelo = fields.length === FIELDS_OF_CELO;
  const field = (at: number) => {
    const found = isOfCelo || fields.length >= LEAST_FIELDS ? fields[at] : null;
    if (!(found instanceof Uint8Array)) throw new ProofError('header', 'The header has another form');
    return found;
  };
  const [rootAt, numberAt, timeAt] = isOfCelo ? PLACES_OF_CELO : PLACES;
  const time = numberOf(field(timeAt));
  if (Number(numberOf(field(numberAt))) !== number)
    throw new ProofError('block', `The header is not of block ${number}`);
  if (Number(time > MOST_SECONDS ? time / 1000n : time) !== timestamp)
    throw new ProofError('block', `The block is not of the time ${timestamp}`);
  return hexOf(field(rootAt));
}

/** The result that the proofs show. Throws a `ProofError`. */
export function provenAnswer(question: Question | AnyQuestion, stateRoot: Bytes32, proofs: unknown): boolean | bigint {
  const parts = partsOf(question);
  const given = listIn(proofs, 'proofs');
  if (given.length !== parts.length) throw new ProofError('format', `${given.length} registries, not ${parts.length}`);
  const registries = new Map(parts.map(({ version }, at) => [version, openRegistry(given[at], version, stateRoot)]));
  const result = storedAnswer(question, (version, slot, means) => registries.get(version)?.read(slot, means) ?? 0n);
  for (const { end } of registries.values()) end();
  return result;
}

/** Gives the words of a registry, in the order of its proof. */
function openRegistry(given: unknown, version: Version, stateRoot: Bytes32) {
  const { registry, address, accountProof, storageProof } = objectIn(given, 'proof of a registry');
  if (registry !== version || address !== ADDRESSES[version])
    throw new ProofError('format', `registry ${registry} at ${address} was not asked`);
  const root = through('account', accountProof, (nodes) => storageRootOf(stateRoot, ADDRESSES[version], nodes));
  const words = listIn(storageProof, 'storageProof');
  let at = 0;
  return {
    read(slot: Bytes32, means: string): bigint {
      const { key, value, proof, means: said } = objectIn(words[at++], 'proof of a word');
      if (key !== slot || said !== means) throw new ProofError('storage', `Word ${at} is not of ${means}`);
      const word = through('storage', proof, (nodes) => wordAt(root, slot, nodes));
      if (value !== `0x${word.toString(16)}`) throw new ProofError('storage', `Another value is proven of ${means}`);
      return word;
    },
    end() {
      if (at < words.length) throw new ProofError('storage', 'There are more words than the question needs');
    },
  };
}

/** Reads by nodes all of which must be needed. */
function through<T>(step: 'account' | 'storage', given: unknown, read: (nodes: NodeSource) => T): T {
  const list = listIn(given, 'proof').map((node) => bytesIn(node, 'node'));
  const nodes = nodesInOrder(list);
  try {
    const found = read(nodes);
    if (nodes.used() === list.length) return found;
  } catch (cause) {
    throw new ProofError(step, `The ${step} proof is broken: ${(cause as Error).message}`, { cause });
  }
  throw new ProofError(step, `The ${step} proof has more nodes than it needs`);
}

const HEX = /^0x([0-9a-f]{2})*$/;

function bytesIn(value: unknown, what: string): Uint8Array {
  if (typeof value !== 'string' || !HEX.test(value))
    throw new ProofError('format', `The ${what} is not lower-case hex`);
  return bytesOf(value);
}

function listIn(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ProofError('format', `${what} is not a list`);
  return value;
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new ProofError('format', `A ${what} is missing`);
  return value as Readonly<Record<string, unknown>>;
}

/** Whether a result says what is proven: an amount may be a text, or a number that has all digits. */
export const isResult = (result: unknown, proven: boolean | bigint): boolean =>
  result === proven ||
  (typeof proven === 'bigint' &&
    (typeof result === 'string'
      ? result === String(proven)
      : Number.isSafeInteger(result) && BigInt(result as number) === proven));

/** Throws a `ProofError` unless the answer is the one of the block with the trusted hash. Returns the result. */
export function verifyAnswer(question: Question | AnyQuestion, answer: unknown, trusted: Bytes32): boolean | bigint {
  const { result, block, header, proofs } = objectIn(answer, 'answer');
  const stateRoot = stateRootOf(
    header,
    objectIn(block, 'block') as unknown as ProvenBlock,
    trusted.toLowerCase() as Bytes32,
  );
  const proven = provenAnswer(question, stateRoot, proofs);
  if (typeof result === 'number' && !Number.isSafeInteger(result))
    throw new ProofError('format', 'The result has lost digits: ask with numbers=string');
  if (!isResult(result, proven)) throw new ProofError('result', `The result is ${result}, but ${proven} is proven`);
  return proven;
}

// Makes the proof of an answer from what a node returns. The node is not believed: what does not lead to the block's hash is refused.

import {
  ProofError,
  type ProvenBlock,
  provenAnswer,
  type RegistryProof,
  type StorageProof,
  stateRootOf,
} from '../../proof/answer-proof.ts';
import { ADDRESSES } from '../../registry/addresses.ts';
import { hexOf } from '../../registry/bytes.ts';
import { type AnyQuestion, partsOf, type Question } from '../../registry/check.ts';
import type { Bytes32 } from '../../registry/delegation.ts';
import { storedAnswer } from '../../registry/storage.ts';
import { Lagging, Untrusted } from '../rpc/errors.ts';
import { type BlockId, malformed, type Node, parseHex, parseObject, parseUint256 } from '../rpc/node.ts';
import { fetchProven, requireRoots } from './block.ts';

/** What an answer needs to be verified against the hash of its block. */
export interface AnswerProof {
  /** With the time of its header. */
  readonly block: ProvenBlock;
  /** The encoded header. */
  readonly header: string;
  readonly proofs: readonly RegistryProof[];
}

/** The proof, and what it shows. Throws if the node cannot, or its proof shows nothing. */
export async function proveAnswer(node: Node, block: BlockId, question: Question | AnyQuestion) {
  const header = await fetchProven(node, block.hash);
  if (header === null) throw new Lagging(`the provider does not have block ${block.number}`);
  const { number, hash, timestamp } = header;
  const proofs = await Promise.all(partsOf(question).map((part) => fetchProof(node, block, part)));
  const proof: AnswerProof = { block: { number, hash, timestamp }, header: hexOf(requireRoots(header).rlp), proofs };
  try {
    // As callers do it, from the hash alone.
    return { proof, result: provenAnswer(question, stateRootOf(proof.header, proof.block, block.hash), proofs) };
  } catch (error) {
    throw error instanceof ProofError ? new Untrusted(`block ${block.number}: ${error.message}`) : error;
  }
}

/** In v1, the words to read depend on two others. Most wallets have never revoked anything, so those are taken for 0 at first. */
const MOST_READS = 2;

async function fetchProof(node: Node, block: BlockId, part: Question): Promise<RegistryProof> {
  const { version } = part;
  const address = ADDRESSES[version];
  let found = new Map<Bytes32, Omit<StorageProof, 'means'>>();
  let accountProof: readonly string[] = [];
  for (let reads = 0; ; reads++) {
    const wanted = new Map<Bytes32, string>();
    storedAnswer(part, (_, slot, means) => {
      wanted.set(slot, means);
      return BigInt(found.get(slot)?.value ?? 0);
    });
    const isComplete = reads > 0 && wanted.keys().every((slot) => found.has(slot));
    if (isComplete || reads === MOST_READS) {
      const storageProof = [...wanted].flatMap(([slot, means]) => {
        const one = found.get(slot);
        return one === undefined ? [] : [{ ...one, means }];
      });
      return { registry: version, address, accountProof, storageProof };
    }
    const slots = [...wanted.keys()];
    const result = parseObject('proof', await node.storageProof(address, slots, block));
    accountProof = parseNodes(result['accountProof']);
    const words = result['storageProof'];
    if (!Array.isArray(words) || words.length !== slots.length) throw malformed('storage proof', words);
    found = new Map(slots.map((slot, at) => [slot, { key: slot, ...parseWord(words[at]) }]));
  }
}

function parseWord(value: unknown) {
  const { value: word, proof } = parseObject('storage proof', value);
  return { value: `0x${parseUint256('word', word).toString(16)}`, proof: parseNodes(proof) };
}

/** Some nodes return the only node of an empty trie. */
const EMPTY_TRIE = '0x80';

function parseNodes(value: unknown): string[] {
  if (!Array.isArray(value)) throw malformed('proof', value);
  return value.map((node) => parseHex('node of a proof', node)).filter((node) => node !== EMPTY_TRIE);
}

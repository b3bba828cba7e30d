// Answers of the genuine registries with the proofs that a node returned for them.

import { type Json, type Node, parseHeader } from '../../src/chain/rpc/node.ts';
import type { Question } from '../../src/registry/check.ts';
import { type Bytes32, NO_RIGHTS } from '../../src/registry/delegation.ts';
import type { Scope } from '../../src/registry/scopes.ts';
import recorded from '../vectors/c-proofs.json' with { type: 'json' };

export interface RecordedAnswer {
  readonly question: Question;
  readonly result: boolean | bigint;
  readonly block: { readonly number: number; readonly hash: Bytes32; readonly timestamp: number };
  /** Returns what the node did. */
  readonly node: Node;
}

const isBalance = (scope: string) => scope === 'erc20' || scope === 'erc1155';

export const RECORDED_ANSWERS: readonly RecordedAnswer[] = recorded.blocks.flatMap(({ header, proofs }) => {
  const parsed = parseHeader(header as Json, header.hash as Bytes32);
  if (parsed === null) throw new Error('no header');
  const { number, hash, timestamp } = parsed;
  return proofs.map(({ registry, check, to, from, contract, tokenId, rights, answer, proof }) => {
    const target = { ...(contract && { contract }), ...(tokenId !== null && { tokenId: BigInt(tokenId) }) };
    const version = registry === 'v1' ? 1 : 2;
    const question = { version, scope: check as Scope, from, to, ...target } as object;
    const node = {
      headerOf: async () => parsed,
      storageProof: async (_: string, slots: readonly string[]) => ({
        ...proof,
        // Words that depend on others are asked for in vain at first.
        storageProof: slots.map(
          (slot) => proof.storageProof.find(({ key }) => key === slot) ?? { key: slot, value: '0x0', proof: [] },
        ),
      }),
    } as unknown as Node;
    return {
      question: (version === 1 ? question : { ...question, rights: rights ?? NO_RIGHTS }) as Question,
      result: isBalance(check) ? BigInt(answer) : answer === '1',
      block: { number, hash, timestamp },
      node,
    };
  });
});

import { expect, test } from 'bun:test';
import recorded from '../../../test/vectors/c-proofs.json' with { type: 'json' };
import type { Address, Bytes32, DelegationKey } from '../../registry/delegation.ts';
import { delegateVersionSlot, membershipSlot, vaultVersionSlot } from '../../registry/storage.ts';
import type { Json } from '../rpc/node.ts';
import { encodeHeader } from './header.ts';
import { provenWords } from './state.ts';

const proofs = recorded.blocks.flatMap(({ header, proofs }) => proofs.map((one) => ({ header, ...one })));

test('every recorded proof leads to the state root of its header', () => {
  for (const { header, proof } of proofs) {
    expect(encodeHeader(header as Json)).not.toBeNull();
    const slots = proof.storageProof.map(({ key }) => key as Bytes32);
    const words = provenWords(header.stateRoot as Bytes32, proof.address as Address, slots, proof);
    expect(words).toEqual(proof.storageProof.map(({ value }) => BigInt(value)));
  }
  expect(proofs.length).toBeGreaterThan(100);
});

test('the words of v1 answer its checks as the registry did', () => {
  let answers = 0;
  for (const { header, registry, to, from, contract, tokenId, answer, proof } of proofs) {
    if (registry !== 'v1') continue;
    const pair = { version: 1, from: from as Address, to: to as Address, rights: null } as const;
    const slots = proof.storageProof.map(({ key }) => key as Bytes32);
    const words = provenWords(header.stateRoot as Bytes32, proof.address as Address, slots, proof);
    const wordAt = (slot: Bytes32) => words[slots.indexOf(slot)] as bigint;
    const versions = [wordAt(vaultVersionSlot(pair.from)), wordAt(delegateVersionSlot(pair.from, pair.to))] as const;
    const keys: DelegationKey[] = [{ ...pair, kind: 'ALL', contract: null, tokenId: null }];
    if (contract !== null) keys.push({ ...pair, kind: 'CONTRACT', contract: contract as Address, tokenId: null });
    if (tokenId !== null)
      keys.push({ ...pair, kind: 'TOKEN', contract: contract as Address, tokenId: BigInt(tokenId) });
    expect(keys.some((key) => wordAt(membershipSlot(key, ...versions)) !== 0n)).toBe(answer === '1');
    answers++;
  }
  expect(answers).toBeGreaterThan(40);
});

test('a changed proof is rejected', () => {
  for (const { header, proof } of proofs.slice(0, 40)) {
    const slots = proof.storageProof.map(({ key }) => key as Bytes32);
    const read = (changed: unknown, root = header.stateRoot) =>
      provenWords(root as Bytes32, proof.address as Address, slots, changed);
    const flip = (hex: string, at: number) => hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1);
    expect(() => read(proof, flip(header.stateRoot, 9))).toThrow();
    for (const [position, node] of proof.accountProof.entries())
      expect(() => read({ ...proof, accountProof: proof.accountProof.with(position, flip(node, 12)) })).toThrow();
    expect(() => read({ ...proof, accountProof: proof.accountProof.slice(0, -1) })).toThrow();
    for (const [position, one] of proof.storageProof.entries()) {
      const withProof = (nodes: string[]) =>
        read({ ...proof, storageProof: proof.storageProof.with(position, { ...one, proof: nodes }) });
      expect(() => withProof(one.proof.slice(0, -1))).toThrow();
      expect(() => withProof(one.proof.with(-1, flip(one.proof.at(-1) as string, 8)))).toThrow();
    }
    expect(() => read({ ...proof, storageProof: proof.storageProof.slice(1) })).toThrow();
  }
});

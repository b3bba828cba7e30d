// A recording of the genuine registries as a node has it.

import type { RawVaultState } from '../src/registry/v1-revocation.ts';
import { type FakeBlock, Refusal } from './fake-node.ts';
import type { Recording } from './vectors.ts';

const GETTERS: Readonly<Record<string, keyof RawVaultState>> = {
  '0x1b61f675': 'getDelegatesForAll',
  '0xf956cf94': 'getContractLevelDelegations',
  '0x6f007d87': 'getTokenLevelDelegations',
};

/** Blocks that were not recorded have nothing in them. */
export const replayOf = (recording: Recording): FakeBlock[] =>
  recording.blocks.map((block) => ({
    number: block.number,
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: block.timestamp,
    transactions: block.txs,
    v1State(vault, selector) {
      const raw = block.v1State?.[vault]?.[GETTERS[selector] as keyof RawVaultState];
      if (raw === undefined) throw new Refusal(-32000, 'missing trie node');
      return raw;
    },
  }));

// Turns a recording of the genuine registries into the chain of a fake node.

import type { RawVaultState } from '../../src/registry/v1-revocation.ts';
import { type FakeBlock, stateOf } from './fake-node.ts';
import type { History } from './registry-state.ts';
import type { Recording } from './vectors.ts';

const GETTERS: Readonly<Record<string, keyof RawVaultState>> = {
  '0x1b61f675': 'getDelegatesForAll',
  '0xf956cf94': 'getContractLevelDelegations',
  '0x6f007d87': 'getTokenLevelDelegations',
};

/** Getters return the recorded data; where nothing was recorded, the state after all calls so far. */
export function replayOf(recording: Recording): FakeBlock[] {
  let history: History | null = null;
  return recording.blocks.map((block) => {
    history = { parent: history, calls: block.txs.flatMap(({ calls }) => calls) };
    const state = stateOf(history);
    return {
      number: block.number,
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: block.timestamp,
      transactions: block.txs,
      ...state,
      v1State: (vault, selector) =>
        block.v1State?.[vault]?.[GETTERS[selector] as keyof RawVaultState] ?? state.v1State(vault, selector),
    };
  });
}

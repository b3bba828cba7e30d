// Turns a recording of the genuine registries into the chain of a fake node.

import type { RawVaultState } from '../../src/registry/return-data.ts';
import { type FakeBlock, sealedHeader, stateOf } from './fake-node.ts';
import { type History, stateAfter, stateRootOf } from './registry-state.ts';
import type { Recording } from './vectors.ts';

const GETTERS: Readonly<Record<string, keyof RawVaultState>> = {
  '0x1b61f675': 'getDelegatesForAll',
  '0xf956cf94': 'getContractLevelDelegations',
  '0x6f007d87': 'getTokenLevelDelegations',
};

/**
 * Getters return the recorded data; where nothing was recorded, the state after all calls so far. The recording does not have whole
 * headers, so blocks get headers, and hashes, of their own.
 */
export function replayOf(recording: Recording): FakeBlock[] {
  let history: History | null = null;
  let parentHash: FakeBlock['hash'] = `0x${'0'.repeat(64)}`;
  return recording.blocks.map((block) => {
    history = { parent: history, calls: block.txs.flatMap(({ calls }) => calls) };
    const state = stateOf(history);
    const content = { number: block.number, parentHash, timestamp: block.timestamp, transactions: block.txs };
    const sealed = sealedHeader(content, stateRootOf(stateAfter(history)));
    parentHash = sealed.hash;
    return {
      ...content,
      ...sealed,
      ...state,
      v1State: (vault, selector) =>
        block.v1State?.[vault]?.[GETTERS[selector] as keyof RawVaultState] ?? state.v1State(vault, selector),
    };
  });
}

// The row that says where a chain's index stands.

import { hexOf, numberOf, numberOrNull } from './encoding.ts';
import type { Row } from './engine.ts';
import type { ChainState } from './store.ts';

export const CHAIN_COLUMNS = [
  'chain',
  'epoch',
  'first_block',
  'head_number',
  'head_hash',
  'head_timestamp',
  'verified',
  'revision',
  'commits',
  'confirmed_at',
  'tip',
  'shut',
  'partial',
] as const;

export function chainStateOf(row: Row): ChainState {
  const [chain, epoch, firstBlock, number, hash, timestamp, verified, revision, commits, confirmedAt, tip, ...rest] =
    row;
  const [shut, partial] = rest;
  return {
    chainId: numberOf(chain),
    epoch: numberOf(epoch),
    firstBlock: numberOf(firstBlock),
    head: number === null ? null : { number: numberOf(number), hash: hexOf(hash), timestamp: numberOf(timestamp) },
    verified: numberOrNull(verified),
    revision: numberOf(revision),
    commits: numberOf(commits),
    confirmedAt: numberOrNull(confirmedAt),
    tip: numberOrNull(tip),
    shut: shut === null || shut === undefined ? null : String(shut),
    partial: numberOf(partial) !== 0,
  };
}

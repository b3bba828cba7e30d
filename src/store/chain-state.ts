// The row that says where a chain's index stands.

import { hexOf, numberOf, numberOrNull } from './encoding.ts';
import type { Row } from './engine.ts';
import type { Halt } from './halt.ts';
import { readJson } from './json.ts';
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
  'halt',
  'confirmed',
  'partial',
] as const;

export function chainStateOf(row: Row): ChainState {
  const [chain, epoch, firstBlock, number, hash, timestamp, verified, revision, commits, confirmedAt, tip, ...rest] =
    row;
  const [halt, confirmed, partial] = rest;
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
    halt: halt === null || halt === undefined ? null : (readJson(String(halt)) as Halt),
    confirmed: numberOrNull(confirmed),
    partial: numberOf(partial) !== 0,
  };
}

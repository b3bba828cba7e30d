// Fills a store with generated delegations, in this process.

import { openStore } from '../src/store/open.ts';
import type { ChainState, Store } from '../src/store/store.ts';
import type { Mass } from './delegations.ts';
import { count, progress } from './figures.ts';
import { ownCpu, treeCpu } from './processes.ts';

/** The chain of the stores that are measured. */
export const CHAIN = 1;
export const FIRST_BLOCK = 1000;

const COMMIT_LOGS = 50_000;

export interface Filled {
  readonly state: ChainState;
  readonly logs: number;
  readonly seconds: number;
  /** Microseconds, of this process and of the database's processes. */
  readonly cpu: number;
  readonly databaseCpu: number;
}

interface FillOptions {
  readonly commitLogs?: number;
  /** The process of the database, if it is a server. */
  readonly databasePid?: number;
}

/** Commits until this many delegations are granted. */
export async function fill(
  store: Store,
  before: ChainState,
  mass: Mass,
  delegations: number,
  { commitLogs = COMMIT_LOGS, databasePid }: FillOptions = {},
): Promise<Filled> {
  let [state, logs, seconds, cpu, databaseCpu] = [before, 0, 0, 0, 0];
  while (mass.grants < delegations) {
    const blocks = mass.next(commitLogs);
    const head = blocks.at(-1);
    if (head === undefined) break;
    const batch = { chainId: state.chainId, epoch: state.epoch, after: state.head, blocks, head };
    const [began, own, its] = [performance.now(), ownCpu(), treeCpu(databasePid)];
    state = await store.apply(batch);
    seconds += (performance.now() - began) / 1000;
    cpu += ownCpu() - own;
    databaseCpu += treeCpu(databasePid) - its;
    for (const block of blocks) logs += block.logs.length;
    progress(`${count(mass.grants)} of ${count(delegations)} delegations, ${count(logs / seconds)} logs/s`);
  }
  progress('');
  return { state, logs, seconds, cpu, databaseCpu };
}

/** Adds an empty block with the current time: a chain whose newest block is old does not answer. Returns its number. */
export async function freshenChain(url: string): Promise<number> {
  const store = await openStore(url);
  const state = await store.claim(CHAIN, FIRST_BLOCK);
  const number = (state.head?.number ?? 0) + 1;
  const hash = `0x${number.toString(16).padStart(64, 'e')}` as const;
  const head = { number, hash, timestamp: Math.floor(Date.now() / 1000) };
  await store.apply({ chainId: CHAIN, epoch: state.epoch, after: state.head, blocks: [], head });
  await store.close();
  return number;
}

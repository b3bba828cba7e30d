// Fills a store with generated delegations, in this process.

import type { ChainState, Store } from '../src/store/store.ts';
import { ownCpu } from './cpu.ts';
import type { Mass } from './delegations.ts';
import { count } from './figures.ts';
import { progress } from './print.ts';

const BATCH_LOGS = 50_000;

export interface Filled {
  readonly state: ChainState;
  readonly logs: number;
  readonly seconds: number;
  /** Microseconds, of this process and of the database's processes. */
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** Applies batches until this many delegations are granted. A block that `freshen` added is rolled back. */
export async function fill(
  store: Store,
  before: ChainState,
  mass: Mass,
  delegations: number,
  databaseCpu: () => number = () => 0,
  batchLogs = BATCH_LOGS,
): Promise<Filled> {
  let [state, logs, seconds, cpu, database] = [before, 0, 0, 0, 0];
  while (mass.grants < delegations) {
    const rollback = state.head !== null && state.head.number > mass.block ? { rollbackTo: mass.block } : {};
    const blocks = mass.next(batchLogs);
    const head = blocks.at(-1);
    if (head === undefined) break;
    const batch = { chainId: state.chainId, epoch: state.epoch, after: state.head, blocks, head, ...rollback };
    const [began, own, its] = [performance.now(), ownCpu(), databaseCpu()];
    ({ state } = await store.apply(batch));
    seconds += (performance.now() - began) / 1000;
    cpu += ownCpu() - own;
    database += databaseCpu() - its;
    for (const block of blocks) logs += block.logs.length;
    progress(`${count(mass.grants)} of ${count(delegations)} delegations, ${count(logs / seconds)} logs/s`);
  }
  progress('');
  return { state, logs, seconds, cpu, databaseCpu: database };
}

/** Adds an empty block with the current time: a chain whose newest block is old does not answer. */
export async function freshen(store: Store, state: ChainState): Promise<ChainState> {
  const number = (state.head?.number ?? 0) + 1;
  const hash = `0x${number.toString(16).padStart(64, 'e')}` as const;
  const head = { number, hash, timestamp: Math.floor(Date.now() / 1000) };
  const batch = { chainId: state.chainId, epoch: state.epoch, after: state.head, blocks: [], head };
  return (await store.apply(batch)).state;
}

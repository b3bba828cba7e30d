// What the wallets of one tick share when their revocations are settled: logs and version slots are read once per block, and
// settlements are written together.

import type { Address } from '../registry/delegation.ts';
import type { LogRecord, Settlement } from '../store/store.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import type { RevocationTask } from './delegate-cursor.ts';
import type { BlockId } from './node.ts';
import { fetchRevokedPairs } from './v1-evidence.ts';
import type { Pair } from './v1-state.ts';

export interface SettleRound {
  /** By the version slots. Undefined if no provider has them. */
  isRevoked(block: BlockId, pair: Pair): boolean | undefined;
  logsOf(block: number): Promise<readonly LogRecord[]>;
  add(settlement: Settlement): void;
  /** Writes what was added. Later reads of the store see it. */
  flush(): Promise<void>;
}

export async function readRound(
  context: FollowerContext,
  providers: TickProviders,
  tasks: readonly RevocationTask[],
): Promise<SettleRound> {
  const slotKey = ({ hash }: BlockId, { vault, delegate }: Pair) => `${hash} ${vault} ${delegate}`;
  const blocks = new Map(tasks.map(({ revocation: { block } }) => [block.hash, block]));
  const revoked = new Map<string, boolean>();
  for (const block of blocks.values()) {
    const pairs = tasks
      .filter(({ revocation }) => revocation.block.hash === block.hash)
      .flatMap(({ revocation: { vault }, delegates }) => delegates.map((delegate): Pair => ({ vault, delegate })));
    const values = (await fetchRevokedPairs(context, providers, block, pairs)) ?? [];
    for (const [position, value] of values.entries()) revoked.set(slotKey(block, pairs[position] as Pair), value);
  }
  const logs = new Map<number, Promise<LogRecord[]>>();
  let pending: Settlement[] = [];
  return {
    isRevoked: (block, pair) => revoked.get(slotKey(block, pair)),
    logsOf(block) {
      const found = logs.get(block) ?? readBlockLogs(context, block);
      logs.set(block, found);
      return found;
    },
    add: (settlement) => pending.push(settlement),
    async flush() {
      if (pending.length > 0) await writeSettlements(context, pending);
      pending = [];
    },
  };
}

export async function writeSettlements(context: FollowerContext, settlements: readonly Settlement[]): Promise<void> {
  const { network, store } = context;
  const plain = settlements.map((one) => ({ ...one, block: { number: one.block.number, hash: one.block.hash } }));
  await context.commit(({ epoch }) => store.settle(network.chainId, epoch, plain));
}

export const readBlockLogs = ({ network, store }: FollowerContext, block: number): Promise<LogRecord[]> =>
  store.logs(network.chainId, { from: block, to: block, limit: 100_000 });

/** The delegates of a wallet whose revocation a log names. */
export function namedDelegates(vault: Address, logs: readonly LogRecord[]): ReadonlySet<Address> {
  const delegates = logs.flatMap(({ event, revoked }) => {
    if (event.type === 'delegateRevoked') return event.from === vault ? [event.to] : [];
    return event.type === 'unknownRevoked' && event.from === vault && revoked !== null ? [revoked] : [];
  });
  return new Set(delegates);
}

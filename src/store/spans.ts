// From logs to spans, in memory. Pure: what is open comes in, what opened and closed comes out.

import { type Address, type Delegation, type DelegationKey, delegationId } from '../registry/delegation.ts';
import type { LogInput, LogPosition } from './store.ts';

/** What a log means for spans. */
export type AppliedLog = Pick<LogInput, 'logIndex' | 'event' | 'revoked'>;

/** A stretch of blocks in which a delegation held: from the end of `since.block` to the end of the block before `until`. */
export interface Span {
  readonly delegation: Delegation;
  readonly since: LogPosition;
  until: number | null;
  /** Stands in the store already. */
  readonly stored: boolean;
}

/** What began and ended in one block never held at the end of any, and is not kept. */
export const isEmpty = ({ since, until }: Span) => until === since.block;

export interface SpanChanges {
  /** New spans, some of which may have ended already. */
  readonly opened: readonly Span[];
  /** Stored spans that ended. */
  readonly closed: readonly Span[];
}

/** The spans that a run of blocks can touch. */
export interface SpanSet {
  /** Applies one log; logs come in the order of the chain. */
  apply(block: number, log: AppliedLog): void;
  end(key: DelegationKey, block: number): void;
  /** The open v1 delegations of a wallet. */
  heldBy(vault: Address): DelegationKey[];
  changes(): SpanChanges;
}

/** `open` must hold every open span that the logs to come can touch: see `touchedBy`. */
export function createSpanSet(open: Iterable<Span>): SpanSet {
  // By version and wallet first, because v1 revokes a wallet's delegations together.
  const wallets = new Map<string, Map<string, Span>>();
  const opened: Span[] = [];
  const closed: Span[] = [];

  const walletOf = (key: Pick<DelegationKey, 'version' | 'from'>) => {
    const name = `${key.version}${key.from}`;
    let wallet = wallets.get(name);
    if (wallet === undefined) {
      wallet = new Map();
      wallets.set(name, wallet);
    }
    return wallet;
  };
  const close = (span: Span, block: number) => {
    span.until = block;
    if (span.stored) closed.push(span);
  };
  const endWhere = (vault: Address, block: number, matches: (span: Span) => boolean) => {
    const wallet = walletOf({ version: 1, from: vault });
    for (const [id, span] of wallet) {
      if (!matches(span)) continue;
      wallet.delete(id);
      close(span, block);
    }
  };
  const endPair = (from: Address, to: Address, block: number) =>
    endWhere(from, block, (span) => span.delegation.to === to);
  const end = (key: DelegationKey, block: number) => {
    const wallet = walletOf(key);
    const id = delegationId(key);
    const span = wallet.get(id);
    if (span === undefined) return;
    wallet.delete(id);
    close(span, block);
  };
  const grant = (delegation: Delegation, since: LogPosition) => {
    const wallet = walletOf(delegation);
    const id = delegationId(delegation);
    const held = wallet.get(id);
    // Granted again: nothing changes, not even since when it holds.
    if (held !== undefined && held.delegation.amount === delegation.amount) return;
    if (held !== undefined) close(held, since.block);
    const span: Span = { delegation, since, until: null, stored: false };
    wallet.set(id, span);
    opened.push(span);
  };

  for (const span of open) walletOf(span.delegation).set(delegationId(span.delegation), span);

  return {
    apply(block, { logIndex, event, revoked }) {
      switch (event.type) {
        case 'granted':
          return grant(event.delegation, { block, logIndex });
        case 'ended':
          return end(event.delegation, block);
        case 'vaultRevoked':
          return endWhere(event.from, block, () => true);
        case 'delegateRevoked':
          return endPair(event.from, event.to, block);
        case 'unknownRevoked':
          // Without a delegate this waits for the wallet's state, which is compared when the block's logs are done.
          return revoked ? endPair(event.from, revoked, block) : undefined;
      }
    },
    end,
    heldBy: (vault) => [...walletOf({ version: 1, from: vault }).values()].map(({ delegation }) => delegation),
    changes: () => ({
      opened: opened.filter((span) => !isEmpty(span)),
      closed,
    }),
  };
}

/** What must be loaded before some blocks can be applied. */
export interface Touched {
  /** Single delegations, by id. */
  readonly keys: Map<string, DelegationKey>;
  /** v1 pairs of which everything may end, as `from` and `to`. */
  readonly pairs: Map<string, readonly [Address, Address]>;
  /** v1 wallets of which everything may end. */
  readonly vaults: Set<Address>;
}

export function touchedBy(blocks: Iterable<{ readonly logs: readonly AppliedLog[] }>): Touched {
  const touched: Touched = { keys: new Map(), pairs: new Map(), vaults: new Set() };
  for (const { logs } of blocks) {
    for (const { event, revoked } of logs) {
      switch (event.type) {
        case 'granted':
        case 'ended':
          touched.keys.set(delegationId(event.delegation), event.delegation);
          break;
        case 'vaultRevoked':
          touched.vaults.add(event.from);
          break;
        case 'delegateRevoked':
          touched.pairs.set(event.from + event.to, [event.from, event.to]);
          break;
        case 'unknownRevoked':
          if (revoked) touched.pairs.set(event.from + revoked, [event.from, revoked]);
          else touched.vaults.add(event.from);
          break;
      }
    }
  }
  return touched;
}

/** How the registry's own list of a wallet's delegations differs from ours. */
export function compareState(ours: readonly DelegationKey[], registrys: readonly DelegationKey[]) {
  const theirs = new Map(registrys.map((key) => [delegationId(key), key]));
  const gone = ours.filter((key) => !theirs.delete(delegationId(key)));
  return { gone, lacking: [...theirs.values()] };
}

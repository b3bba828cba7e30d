// From logs to spans, in memory. Pure: what is open comes in, what opened and closed comes out.

import { type Address, type Delegation, type DelegationKey, delegationId } from '../../registry/delegation.ts';
import type { LogInput, LogPosition } from '../store.ts';

/** What a log means for spans. */
export interface AppliedLog extends Pick<LogInput, 'logIndex' | 'event' | 'revoked'> {
  /** Whom an `unknownRevoked` revoked, as the registry's state told. */
  readonly ended?: readonly Address[];
}

export interface AppliedBlock {
  readonly number: number;
  readonly logs: readonly AppliedLog[];
}

/** A stretch of blocks in which a delegation held: from the end of `since.block` to the end of the block before `until`. */
export interface Span {
  readonly delegation: Delegation;
  readonly since: LogPosition;
  until: number | null;
  /** Stands in the store already. */
  readonly stored: boolean;
}

/** Everything of a v1 wallet, or of a pair, ends: also what was not loaded. */
export interface WideEnd {
  readonly from: Address;
  readonly to: Address | null;
  readonly block: number;
}

/** What began and ended in one block never held at the end of any, and is not kept. */
const isEmpty = ({ since, until }: Span) => until === since.block;

export interface SpanChanges {
  /** New spans, some of which may have ended already. */
  readonly opened: readonly Span[];
  /** Stored spans that ended. */
  readonly closed: readonly Span[];
  /** In the order of the chain. To be applied to what is stored before anything else. */
  readonly ends: readonly WideEnd[];
}

/** The spans that a run of blocks can touch one by one. */
export interface SpanSet {
  /** Applies one log; logs come in the order of the chain. */
  apply(block: number, log: AppliedLog): void;
  changes(): SpanChanges;
}

/** `open` must hold the open span of every delegation that the logs to come name: see `namedBy`. */
export function createSpanSet(open: Iterable<Span>): SpanSet {
  // By version and wallet first, because v1 revokes a wallet's delegations together.
  const wallets = new Map<string, Map<string, Span>>();
  const opened: Span[] = [];
  const closed: Span[] = [];
  const ends: WideEnd[] = [];

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
  const endAll = (from: Address, to: Address | null, block: number) => {
    ends.push({ from, to, block });
    const wallet = walletOf({ version: 1, from });
    for (const [id, span] of wallet) {
      if (to !== null && span.delegation.to !== to) continue;
      wallet.delete(id);
      close(span, block);
    }
  };
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
    apply(block, { logIndex, event, revoked, ended = [] }) {
      switch (event.type) {
        case 'granted':
          return grant(event.delegation, { block, logIndex });
        case 'ended':
          return end(event.delegation, block);
        case 'vaultRevoked':
          return endAll(event.from, null, block);
        case 'delegateRevoked':
          return endAll(event.from, event.to, block);
        case 'unknownRevoked':
          for (const to of revoked ? [revoked, ...ended] : ended) endAll(event.from, to, block);
      }
    },
    changes: () => ({
      opened: opened.filter((span) => !isEmpty(span)),
      closed,
      ends,
    }),
  };
}

/** The delegations that logs name one by one, by id: what must be loaded before they can be applied. */
export function namedBy(blocks: Iterable<AppliedBlock>): Map<string, DelegationKey> {
  const keys = new Map<string, DelegationKey>();
  for (const { logs } of blocks) {
    for (const { event } of logs) if ('delegation' in event) keys.set(delegationId(event.delegation), event.delegation);
  }
  return keys;
}

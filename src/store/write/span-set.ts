// Computes from logs which spans open and close. Pure: no I/O.

import { type Address, type Delegation, type DelegationKey, delegationId } from '../../registry/delegation.ts';
import { keepsPlace } from '../../registry/versions.ts';
import type { LogInput, LogPosition } from '../store.ts';

/** The part of a log that affects spans. */
export interface AppliedLog extends Pick<LogInput, 'logIndex' | 'event' | 'revoked'> {
  /** The delegates that an `unknownRevoked` revoked, as the registry's state showed. */
  readonly ended?: readonly Address[];
}

export type AppliedBlock = { readonly number: number; readonly logs: readonly AppliedLog[] };

/** A range of blocks in which a delegation held: from the end of `since.block` to the end of the block before `until.block`. */
export interface Span {
  readonly delegation: Delegation;
  readonly since: LogPosition;
  /** The delegation's place in lists: its first grant, or `since` where the version does not keep places. */
  readonly first: LogPosition;
  /** The log that ended it. */
  until: LogPosition | null;
  /** Already in the store. */
  readonly stored: boolean;
}

/** Ends all spans of a v1 wallet, or of a pair, including spans that were not loaded. */
export interface WideEnd {
  readonly from: Address;
  readonly to: Address | null;
  readonly at: LogPosition;
}

/**
 * A span that began and ended in one block never held at the end of a block. It is stored only if it is the first of its
 * delegation, to keep the place.
 */
const isStored = ({ delegation, since, first, until }: Span) =>
  until?.block !== since.block || (keepsPlace(delegation.version) && first === since);

export interface SpanChanges {
  /** New spans, some of which may be closed already. */
  readonly opened: readonly Span[];
  /** Stored spans that closed. */
  readonly closed: readonly Span[];
  /** In the order of the chain. Apply these to the stored spans before anything else. */
  readonly ends: readonly WideEnd[];
}

/** What the store has of delegations. */
export interface KnownSpans {
  readonly open: Iterable<Span>;
  /** The places of delegations that are not open, by id. */
  readonly places: ReadonlyMap<string, LogPosition>;
}

/** The spans that logs name one by one. `known` must have what is stored about every one of them: see `namedBy`. */
export function createSpanSet(known: KnownSpans) {
  // By version and wallet first, because v1 revokes a wallet's delegations together.
  const wallets = new Map<string, Map<string, Span>>();
  const opened: Span[] = [];
  const closed: Span[] = [];
  const ends: WideEnd[] = [];
  const places = new Map(known.places);

  const walletOf = ({ version, from }: Pick<DelegationKey, 'version' | 'from'>) =>
    wallets.getOrInsertComputed(`${version}${from}`, () => new Map());
  const close = (span: Span, at: LogPosition) => {
    span.until = at;
    if (span.stored) closed.push(span);
  };
  const endAll = (from: Address, to: Address | null, at: LogPosition) => {
    ends.push({ from, to, at });
    const wallet = walletOf({ version: 1, from });
    for (const [id, span] of wallet) {
      if (to !== null && span.delegation.to !== to) continue;
      wallet.delete(id);
      close(span, at);
    }
  };
  const end = (key: DelegationKey, at: LogPosition) => {
    const wallet = walletOf(key);
    const id = delegationId(key);
    const span = wallet.get(id);
    if (span === undefined) return;
    wallet.delete(id);
    if (keepsPlace(key.version)) places.set(id, span.first);
    close(span, at);
  };
  const grant = (delegation: Delegation, since: LogPosition) => {
    const wallet = walletOf(delegation);
    const id = delegationId(delegation);
    const held = wallet.get(id);
    // A repeated grant changes nothing, not even `since`.
    if (held !== undefined && held.delegation.amount === delegation.amount) return;
    if (held !== undefined) close(held, since);
    const first = keepsPlace(delegation.version) ? (held?.first ?? places.get(id) ?? since) : since;
    const span: Span = { delegation, since, first, until: null, stored: false };
    wallet.set(id, span);
    opened.push(span);
  };

  for (const span of known.open) walletOf(span.delegation).set(delegationId(span.delegation), span);

  return {
    /** Applies one log. Logs must come in the order of the chain. */
    apply(block: number, { logIndex, event, revoked, ended = [] }: AppliedLog) {
      const at = { block, logIndex };
      switch (event.type) {
        case 'granted':
          return grant(event.delegation, at);
        case 'ended':
          return end(event.delegation, at);
        case 'vaultRevoked':
          return endAll(event.from, null, at);
        case 'delegateRevoked':
          return endAll(event.from, event.to, at);
        case 'unknownRevoked':
          for (const to of revoked ? [revoked, ...ended] : ended) endAll(event.from, to, at);
      }
    },
    changes: (): SpanChanges => ({ opened: opened.filter(isStored), closed, ends }),
  };
}

/** The delegations that logs name one by one, by id. Their spans must be loaded before the logs are applied. */
export function namedBy(blocks: Iterable<AppliedBlock>): Map<string, DelegationKey> {
  const keys = new Map<string, DelegationKey>();
  for (const { logs } of blocks) {
    for (const { event } of logs) if ('delegation' in event) keys.set(delegationId(event.delegation), event.delegation);
  }
  return keys;
}

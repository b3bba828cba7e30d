// The store's interface: what is written, and what can be asked. Both engines behave exactly as written here.

import type { Question } from '../registry/check.ts';
import type { Address, Bytes32, Delegation, DelegationKey, Version } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import type { Notices } from './engine.ts';

export type Awaitable<T> = T | Promise<T>;

export interface BlockRef {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface ChainState {
  readonly chainId: number;
  /** The first block that was read; earlier ones are unknown, not empty. */
  readonly firstBlock: number;
  /** The newest indexed block; null before the first commit. */
  readonly head: BlockRef | null;
  /** The newest block that is verified to be final. */
  readonly verified: number | null;
  /** Counts commits that changed any delegation: in one history equal revisions give equal answers. */
  readonly revision: number;
  /** Counts every commit. */
  readonly commits: number;
  /** Counts writers: only the newest may commit. */
  readonly epoch: number;
  /** When a node last had our head as its own, in unix seconds. */
  readonly confirmedAt: number | null;
  /** The newest block that the chain was seen to have. */
  readonly tip: number | null;
  /** Why the chain may not answer at all; null while it may. */
  readonly shut: string | null;
  /** The registries may have been there before the first block that was read: what was granted then is unknown here. */
  readonly partial: boolean;
}

/** What a writer knows of the chain besides its delegations. */
export type Report = Partial<Pick<ChainState, 'confirmedAt' | 'tip' | 'shut' | 'partial'>>;

export interface LogInput {
  readonly logIndex: number;
  readonly transactionHash: Bytes32;
  readonly event: RegistryEvent;
  /** Whom an `unknownRevoked` revoked, where the transaction told; otherwise the block carries the wallet's state. */
  readonly revoked?: Address | null;
}

/** What the v1 registry has left of a wallet's delegations at a block; null where no provider could tell. */
export interface VaultState {
  readonly vault: Address;
  readonly held: readonly DelegationKey[] | null;
}

export interface BlockInput extends BlockRef {
  readonly logs: readonly LogInput[];
  /** For every wallet with an `unknownRevoked` in this block of which the transaction did not tell the delegate. */
  readonly vaultStates?: readonly VaultState[];
}

/** Every block's logs up to `head`, with the blocks whose hashes are to be kept. Committed whole or not at all. */
export interface Batch {
  readonly chainId: number;
  /** From `claim`. */
  readonly epoch: number;
  /** The head that this batch was built on; null for the first. */
  readonly after: Pick<BlockRef, 'number' | 'hash'> | null;
  /** Forget everything above this block first. */
  readonly rollbackTo?: number;
  /** In order: every block that has logs, and any other whose hash is to be kept. */
  readonly blocks: readonly BlockInput[];
  readonly head: BlockRef;
  readonly verified?: number;
  /** States read at `head` for wallets whose earlier revocations could not be read at their own blocks. */
  readonly lateStates?: readonly VaultState[];
}

/** Differences between a state of the registry and our logs that no log explains: something was missed, and the wallet stays
 * unread. */
export interface Unexplained {
  /** The registry has them, we do not. */
  readonly lacking: readonly DelegationKey[];
  /** We have them, the registry does not. */
  readonly surplus: readonly DelegationKey[];
}

export interface CommitResult extends Unexplained {
  readonly state: ChainState;
}

/**
 * The missing logs of blocks at or below the head. A v1 wallet's earlier readings of state, from the first of its
 * missing logs on, do not count any more: give them again with the blocks of their revocations, or have them unread.
 */
export type Repair = Pick<Batch, 'chainId' | 'epoch' | 'after' | 'blocks'>;

export interface LogRecord extends Required<LogInput> {
  readonly block: BlockRef;
}

export interface LogPosition {
  readonly block: number;
  readonly logIndex: number;
}

/** A delegation with the log that began it. */
export interface HeldDelegation extends Delegation {
  readonly since: LogPosition;
}

/** The rest of `since`, read only when asked for. */
export interface Origin {
  readonly timestamp: number;
  readonly transactionHash: Bytes32;
}

export interface DetailedDelegation extends HeldDelegation {
  readonly since: LogPosition & Origin;
}

/** A block whose hash or time is not kept is known by its number alone. */
export interface Moment {
  readonly number: number;
  readonly hash: Bytes32 | null;
  readonly timestamp: number | null;
}

export interface CheckResult<D extends HeldDelegation> {
  readonly chain: ChainState;
  /** The block that the answer is true for. */
  readonly block: Moment;
  /** Those of the delegations that would grant what was asked which held then. */
  readonly granting: readonly D[];
}

export interface ListQuery {
  readonly chainId: number;
  readonly version: Version;
  readonly wallet: Address;
  readonly direction?: 'incoming' | 'outgoing';
  /**
   * The block as of which to read, and the revision at which that block was chosen. A store that is behind the revision, or
   * behind a later one that was seen since, does not answer; nor does one in whose history the revision has another stamp.
   */
  readonly at: { readonly block: number; readonly revision: number; readonly stamp?: number; readonly seen?: number };
  /** Where the page before ended. */
  readonly after?: LogPosition;
  /** How many delegations to look at; `matches` may leave fewer. */
  readonly limit: number;
  readonly matches?: (delegation: Delegation) => boolean;
}

export interface ListPage<D extends HeldDelegation> {
  readonly delegations: readonly D[];
  /** Where to go on; null at the end. A page may be short or empty and still have a next one. */
  readonly next: LogPosition | null;
}

export interface BlockAt extends BlockRef {
  /** The next kept block, of a later time: any block before it may be the last one at or before the time. */
  readonly next: number;
}

/** Reads see one snapshot each and hold nothing afterwards. They throw a `StoreError` rather than guess. */
export interface Store {
  /** No other store has it. */
  readonly id: string;
  readonly notices: Notices | null;
  /** The newest state, or null for a chain that nobody has claimed. */
  chain(chainId: number): Awaitable<ChainState | null>;
  chains(): Awaitable<ChainState[]>;
  /** A block, or the head, and the state of the chain in the same snapshot. The stamp names the revision in any history. */
  pin(chainId: number, block?: number): Promise<{ chain: ChainState; stamp: number; block: Moment }>;
  /** Becomes the only writer of the chain. A chain that is new here starts at `firstBlock`. */
  claim(chainId: number, firstBlock: number): Promise<ChainState>;
  apply(batch: Batch): Promise<CommitResult>;
  /** Notes how the chain stands; what is not given stays as it was. */
  report(chainId: number, epoch: number, report: Report): Promise<ChainState>;
  /** Inserts logs that were missed, or readings of state, and derives the spans of their wallets again. */
  repair(repair: Repair): Promise<CommitResult>;
  /** Takes or renews the lease of a chain where it is free, over, or the holder's own. Gives whoever holds it now. */
  lease(chainId: number, holder: string, forMs: number): Promise<string>;
  /** Gives the lease back, where that one holds it. */
  release(chainId: number, holder: string): Promise<void>;
  /** Derives every span of the chain again from its logs. */
  rebuild(chainId: number): Promise<void>;

  /** The granting delegations that hold at the head, or held at the end of a block. */
  check(chainId: number, question: Question, block?: number): Promise<CheckResult<HeldDelegation>>;
  /** The same with the time and transaction of each. */
  explain(chainId: number, question: Question, block?: number): Promise<CheckResult<DetailedDelegation>>;
  /** Many questions as of one block, in order: the registry's answers, or null where a revocation of the wallet is unread. */
  checkMany(chainId: number, questions: readonly Question[], at: ListQuery['at']): Promise<(boolean | bigint | null)[]>;
  /** A wallet's delegations as of a block, oldest first, a page at a time. */
  list(query: ListQuery): Promise<ListPage<HeldDelegation>>;
  listDetailed(query: ListQuery): Promise<ListPage<DetailedDelegation>>;
  /** The newest kept block at or before the time; the delegations did not change between the two. */
  blockAt(chainId: number, timestamp: number): Promise<BlockAt>;
  /** The newest kept block at or below a number. */
  newestBlock(chainId: number, atMost: number): Promise<BlockRef | null>;
  /** The kept blocks of a range, both ends included, in order. */
  blocks(chainId: number, range: { from: number; to: number }): Promise<BlockRef[]>;
  /** The logs of a range of blocks, both ends included, in order, a page at a time. */
  logs(chainId: number, range: { from: number; to: number; after?: LogPosition; limit: number }): Promise<LogRecord[]>;
  /** Wallets with a revocation whose state was never read, or only at a later block. */
  unreadRevocations(chainId: number): Promise<UnreadRevocation[]>;
  /** What the store takes on disk, in bytes. */
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface UnreadRevocation {
  readonly vault: Address;
  readonly block: number;
  /** The later block at which the state was read instead. */
  readonly readAt: number | null;
}

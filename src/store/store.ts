// The store's interface: what is written, and what can be asked. Both engines behave exactly as written here.

import type { Question } from '../registry/check.ts';
import type { Address, Bytes32, Delegation, DelegationKey } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import type { Version } from '../registry/versions.ts';
import type { Awaitable } from './awaitable.ts';
import type { Halt } from './halt.ts';
import type { Notices } from './notices.ts';

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
  readonly halt: Halt | null;
  /** Up to this block, history was compared with a second provider. */
  readonly confirmed: number | null;
  /** The registries may have been there before the first block that was read: what was granted then is unknown here. */
  readonly partial: boolean;
}

/** What a writer knows of the chain besides its delegations. */
export type Report = Partial<Pick<ChainState, 'confirmedAt' | 'tip' | 'halt' | 'confirmed' | 'partial'>>;

export interface LogInput {
  readonly logIndex: number;
  readonly transactionHash: Bytes32;
  readonly event: RegistryEvent;
  /** Whom an `unknownRevoked` revoked, where the transaction told; otherwise the block carries the wallet's state. */
  readonly revoked?: Address | null;
}

/**
 * Whom a wallet revoked by a v1 log that names no delegate, as far as the registry's state told. A pair that is not settled
 * is refused rather than answered, as of every block from the revocation on.
 */
export interface Settlement {
  readonly vault: Address;
  /** The block of the revocation. */
  readonly block: Pick<BlockRef, 'number' | 'hash'>;
  /** The block whose state told: the same, or a later one. Between the two nothing is known. */
  readonly readAt: number;
  /** Everything from the wallet to the delegate ended with the log of this index; null where it was not revoked. */
  readonly pairs: readonly { readonly delegate: Address; readonly endedBy: number | null }[];
  /** Every delegate that the wallet had was asked about. */
  readonly complete: boolean;
}

export interface BlockInput extends BlockRef {
  readonly logs: readonly LogInput[];
  /** Where the time comes from: a log's word is checked against the header later. */
  readonly timeFrom?: 'header' | 'log';
  /** What is known already about the revocations of this block. */
  readonly settlements?: readonly Settlement[];
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
  /** The chain answers again, whatever had halted it. */
  readonly resume?: true;
}

export interface CommitResult {
  readonly state: ChainState;
}

/**
 * Blocks at or below the head with all their logs, in place of those that are stored. The v1 revocations of their wallets from
 * there on are settled again, as far as they are not explained.
 */
export type Repair = Pick<Batch, 'chainId' | 'epoch' | 'blocks'>;

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
export interface AnswerBlock {
  readonly number: number;
  readonly hash: Bytes32 | null;
  readonly timestamp: number | null;
}

export interface CheckResult<D extends HeldDelegation> {
  readonly chain: ChainState;
  /** The block that the answer is true for. */
  readonly block: AnswerBlock;
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
  pin(chainId: number, block?: number): Promise<{ chain: ChainState; stamp: number; block: AnswerBlock }>;
  /** Becomes the only writer of the chain. A chain that is new here starts at `firstBlock`. */
  claim(chainId: number, firstBlock: number, partial?: boolean): Promise<ChainState>;
  apply(batch: Batch): Promise<CommitResult>;
  /** Notes how the chain stands; what is not given stays as it was. */
  report(chainId: number, epoch: number, report: Report): Promise<ChainState>;
  /** Replaces the logs of blocks, and derives the spans of their wallets again. */
  repair(repair: Repair): Promise<CommitResult>;
  /** Corrects the times of kept blocks by their headers. */
  retime(chainId: number, epoch: number, blocks: readonly BlockRef[]): Promise<CommitResult>;
  /** Notes what the registry's state told about v1 revocations. */
  settle(chainId: number, epoch: number, settlements: readonly Settlement[]): Promise<CommitResult>;
  /** What was noted about a wallet's revocations from a block on was wrong: it is to be asked again. */
  unsettle(chainId: number, epoch: number, vault: Address, from: number): Promise<CommitResult>;
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
  /** v1 revocations that are not settled, or only by the state of a later block; the oldest first. */
  unreadRevocations(chainId: number): Promise<UnreadRevocation[]>;
  /** Wallets with a v1 revocation that is not settled, by address, from behind one on. */
  unsettledVaults(chainId: number, after: Address | null, limit: number): Promise<Address[]>;
  /** The v1 revocations of a range of blocks that name no delegate, neither in their log nor in their transaction. */
  revocations(chainId: number, range: { from: number; to: number }): Promise<Revocation[]>;
  /** The oldest revocations of one wallet that are not settled. */
  openRevocations(chainId: number, vault: Address, limit: number): Promise<Revocation[]>;
  /** The delegates to which a v1 wallet had granted something before a log and that had it at a block, by their places. */
  delegates(query: DelegatesQuery): Promise<{ readonly delegate: Address; readonly place: number }[]>;
  /** Some of the v1 delegations from one wallet to another that held at a block, the widest first. */
  held(chainId: number, pair: Pick<DelegationKey, 'from' | 'to'>, at: number, limit: number): Promise<HeldDelegation[]>;
  /** The newest grant of each v1 delegation of a wallet, of those after a log and up to a block, by id. */
  regrants(chainId: number, vault: Address, after: LogPosition, to: number): Promise<Map<string, LogPosition>>;
  /** Blocks of a range whose time is a log's word, the lowest first. */
  uncheckedTimes(chainId: number, range: { from: number; to: number; limit: number }): Promise<BlockRef[]>;
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

export interface Revocation {
  readonly vault: Address;
  readonly block: BlockRef;
  /** Of its logs in this block. */
  readonly logIndexes: readonly number[];
  /** Those that it ended, as far as is known. */
  readonly ended: Settlement['pairs'];
  /** The block whose state settled it; null while it is not settled. */
  readonly readAt: number | null;
}

export interface DelegatesQuery {
  readonly chainId: number;
  readonly vault: Address;
  readonly before: LogPosition;
  readonly at: number;
  /** The place of the last one of the page before. */
  readonly after?: number;
  readonly limit: number;
}

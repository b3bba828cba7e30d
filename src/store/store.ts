// The store's interface: every read and write. SQLite and PostgreSQL behave exactly as described here.

import type { AnyQuestion, AnyTarget, Question, Target } from '../registry/check.ts';
import type { Address, Bytes32, Delegation, DelegationKey } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import type { ExclusiveClass } from '../registry/exclusive.ts';
import type { Network } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';
import type { Awaitable, Notices, PoolStatus } from './engine.ts';
import type { Dispute, Halt, ListLength } from './halt.ts';
import type { LagSample } from './lag.ts';

export interface BlockRef {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface ChainState {
  readonly chainId: number;
  /** The first indexed block; earlier blocks are unknown, not empty. */
  readonly firstBlock: number;
  /** The newest indexed block; null before the first commit. */
  readonly head: BlockRef | null;
  /** The newest block that is verified to be finalized. */
  readonly verified: number | null;
  /** Counts commits that changed any delegation: within one history, equal revisions give equal answers. */
  readonly revision: number;
  /** Counts every commit. */
  readonly commits: number;
  /** Counts writers: only the newest writer can commit. */
  readonly epoch: number;
  /** When a provider last confirmed our head, in unix seconds. */
  readonly confirmedAt: number | null;
  /** The newest block that any provider reported. */
  readonly tip: number | null;
  /** Why the chain is halted; null while it answers. */
  readonly halt: Halt | null;
  /** A second provider confirmed history up to this block. */
  readonly agreedBlock: number | null;
  /** The registries may be older than the first indexed block: delegations from before it are unknown. */
  readonly partial: boolean;
  /** Whether its blocks are proven against their hashes, or only compared between providers. Null before the first tick. */
  readonly provable: boolean | null;
  /** Blocks above the verified one are not proven yet: nothing that depends on them is answered. */
  readonly proving: boolean;
  /** Wallets whose answers are refused; the rest of the chain answers. */
  readonly disputes: readonly Dispute[];
  /** The network whose registries are indexed, if it is not in the table: see registry/custom-network.ts. */
  readonly network: string | null;
  /** What another index wrote, until it is compared with the chain's own providers. */
  readonly imported: Imported | null;
}

/** History that came from an archive: nobody has read it from this chain's providers yet. */
export interface Imported {
  readonly to: number;
  /** The blocks from here to `to` were compared. */
  readonly comparedFrom: number;
  /** The lengths of all lists of the registry were compared too. */
  readonly isCounted: boolean;
}

/** What a writer knows about the chain, apart from delegations. */
export type Report = Partial<
  Pick<
    ChainState,
    'confirmedAt' | 'tip' | 'halt' | 'agreedBlock' | 'partial' | 'disputes' | 'proving' | 'provable' | 'imported'
  >
>;

export interface LogInput {
  readonly logIndex: number;
  readonly transactionHash: Bytes32;
  readonly event: RegistryEvent;
  /** The delegate that an `unknownRevoked` revoked, if the transaction's input says so. */
  readonly revoked?: Address | null;
}

/**
 * The delegates that a wallet revoked by a v1 log that names none, as far as the registry's state shows. A check of a pair that
 * is not settled fails, as of every block from the revocation on.
 */
export interface Settlement {
  readonly vault: Address;
  /** The block of the revocation. */
  readonly block: Pick<BlockRef, 'number' | 'hash'>;
  /** The block whose state was read: the same or a later one. */
  readonly readAt: number;
  readonly pairs: readonly SettledPair[];
  /** Every delegate that the wallet had at `readAt` was checked. About others, nothing is known before it. */
  readonly complete: boolean;
}

export interface SettledPair {
  readonly delegate: Address;
  /** The log that ended everything from the wallet to the delegate; null if none did. */
  readonly endedBy: number | null;
  /** Between the revocation and this block it is unknown what held. Without it, up to the block whose state was read. */
  readonly knownFrom?: number;
}

export interface BlockInput extends BlockRef {
  readonly logs: readonly LogInput[];
  /** The source of the time: one that a log reported is checked against the header later. */
  readonly timeFrom?: 'header' | 'log';
  /** The block's hash is known to commit to its logs. */
  readonly isProven?: boolean;
  /** What is already known about the revocations of this block. */
  readonly settlements?: readonly Settlement[];
}

export type ConfirmedBlock = BlockRef & Required<Pick<BlockInput, 'isProven'>>;

/** All logs up to `head`, and the blocks whose hashes to keep. Committed whole or not at all. */
export interface CommitInput {
  readonly chainId: number;
  /** From `claim`. */
  readonly epoch: number;
  /** The head that this commit was built on; null for the first commit. */
  readonly after: Pick<BlockRef, 'number' | 'hash'> | null;
  /** Roll back to this block first. */
  readonly rollbackTo?: number;
  /** In order: every block with logs, and any other block whose hash to keep. */
  readonly blocks: readonly BlockInput[];
  readonly head: BlockRef;
  readonly verified?: number;
  /** Whether its blocks are still to be proven. Without it, what was so stays so. */
  readonly proving?: boolean;
  /** Clears a halt, whatever its code. */
  readonly resume?: true;
}

/**
 * Blocks at or below the head with all their logs, which replace the stored ones. v1 revocations of their wallets are settled
 * again from there on.
 */
export interface Repair extends Pick<CommitInput, 'chainId' | 'epoch'> {
  readonly blocks: readonly RepairedBlock[];
}

export interface RepairedBlock extends BlockInput {
  /** The stored hash, which may have been another block's. */
  readonly replaces?: Bytes32 | undefined;
}

export interface LogRecord extends Required<LogInput> {
  readonly block: BlockRef;
}

export interface LogPosition {
  readonly block: number;
  readonly logIndex: number;
}

/** The two halves of a list: what a wallet was granted, and what it granted. */
export type ListSide = 'incoming' | 'outgoing';

/** A place in a list: incoming delegations come first, each side in the order of `first`, then of `since`. */
export interface ListPosition {
  readonly side: ListSide;
  /** The first grant of the delegation, or `since` in a version that does not keep places. */
  readonly first: LogPosition;
  readonly since: LogPosition;
}

/** A delegation with the log that began it. */
export interface HeldDelegation extends Delegation {
  readonly since: LogPosition;
}

/** The rest of `since`, read only on request. */
export interface Origin {
  readonly timestamp: number;
  readonly transactionHash: Bytes32;
}

export interface DetailedDelegation extends HeldDelegation {
  readonly since: LogPosition & Origin;
  /** The letter case of its addresses: see `CASING_AT`. */
  readonly casing: Uint8Array;
}

/** The block that an answer is true for. The hash and time are null if the block is not kept. */
export interface AnswerBlock {
  readonly number: number;
  readonly hash: Bytes32 | null;
  readonly timestamp: number | null;
}

/** A block with the chain's state. The stamp identifies the revision across histories. */
export interface Pinned {
  readonly chain: ChainState;
  readonly stamp: number;
  readonly block: AnswerBlock;
}

export interface CheckResult<D extends HeldDelegation> extends Omit<Pinned, 'stamp'> {
  /** The delegations that grant what was asked and held at the block. */
  readonly granting: readonly D[];
}

/** A block, and the revision and stamp of the history that it was chosen in. */
export interface ChosenBlock {
  readonly block: number;
  readonly revision: number;
  readonly stamp: number;
}

export interface ListQuery {
  readonly chainId: number;
  readonly version: Version;
  readonly wallet: Address;
  readonly direction?: ListSide;
  /**
   * The block to read as of, and the revision at which it was chosen. The read fails if the store is behind this revision, behind
   * the later revision `seen`, or if the revision has another stamp in its history.
   */
  readonly at: { readonly block: number; readonly revision: number; readonly stamp?: number; readonly seen?: number };
  /** The end of the previous page. */
  readonly after?: ListPosition;
  /** How many delegations to read. */
  readonly limit: number;
}

/** A page may have fewer delegations than were read. */
export interface Filter<D> {
  readonly matches?: (delegation: D) => boolean;
}

export interface ListPage<D> {
  readonly delegations: readonly D[];
  /** The position of one of these delegations, to continue after it. */
  positionOf(index: number): ListPosition;
  /** The start of the next page; null at the end. A page can be short or empty and still have a next one. */
  readonly next: ListPosition | null;
}

/** A delegation as bytes, for a list that is only written: see rows/packed.ts. */
export interface PackedDelegation {
  readonly side: ListSide;
  readonly bytes: Uint8Array;
}

/** The delegations of one side that are next to each other in a list, one after the other. */
export interface PackedDelegations extends PackedDelegation {
  readonly count: number;
}

/** A part of a list as of the head. */
export interface ListNow extends Pinned {
  readonly parts: readonly PackedDelegations[];
  /** The start of the next part; null at the end. */
  readonly next: ListPosition | null;
}

export interface CounterpartQuery extends Pick<ListQuery, 'chainId' | 'wallet' | 'at'> {
  readonly target: Target;
  /** The `next` of the previous page. */
  readonly after?: Address;
  /** The most counterparts of a page. */
  readonly limit: number;
}

/** The other wallet of a pair. */
export interface Counterpart {
  readonly wallet: Address;
  /** At least one, the newest version and the widest kind first. */
  readonly granting: readonly DetailedDelegation[];
}

export interface CounterpartPage {
  readonly counterparts: readonly Counterpart[];
  /** Continue after this wallet; null at the end. A page can be short or empty and still have a next one. */
  readonly next: Address | null;
}

/** Which grants of owners can decide who acts for them. */
export interface OwnerGrantsQuery extends Pick<ListQuery, 'chainId' | 'at'> {
  readonly owners: readonly Address[];
  /** Of those with an expiry: see registry/exclusive.ts. */
  readonly classes: readonly ExclusiveClass[];
  /** The check that others pass, whoever they are to. Without it, there are none. */
  readonly target?: AnyTarget;
  /** The time of the block, if it is known from elsewhere. */
  readonly time?: number | undefined;
}

export interface OwnerGrants {
  /** The time of the block, if both are equal. Otherwise the index does not keep it, and it is between them. */
  readonly earliest: number;
  readonly latest: number;
  /** Of each owner, of each class the last that held at the block and counts at the earliest time. */
  readonly exclusive: readonly (readonly DetailedDelegation[])[];
  /** Of each owner and each way to pass the check the last that held at the block, in the order of the lists of each version. */
  readonly passing: readonly (readonly DetailedDelegation[])[];
  /** Owners with a v1 revocation that may have ended one of these. */
  readonly unsettled: ReadonlySet<Address>;
  /** How many grants were read. */
  readonly read: number;
}

export interface ExclusiveOwnersQuery extends Pick<CounterpartQuery, 'chainId' | 'wallet' | 'at' | 'after' | 'limit'> {
  readonly classes: readonly ExclusiveClass[];
}

export interface HistoryQuery extends Pick<ListQuery, 'chainId' | 'wallet' | 'direction' | 'at' | 'limit'> {
  /** The `next` of the previous page. */
  readonly after?: LogPosition;
}

/** A grant, and the log that ended it; null if it held at the block. */
export interface HistoryEntry extends DetailedDelegation {
  readonly until: (LogPosition & Origin) | null;
}

export interface GrantOfChain extends HistoryEntry {
  /** False while it is not known whether a v1 revocation ended it. */
  readonly isSettled: boolean;
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  /** Continue after this grant; null at the end. */
  readonly next: LogPosition | null;
}

/** A place among the changes of a chain, which are in the order of its logs. Of one log, what ended comes first, by `since`. */
export interface ChangePosition extends LogPosition {
  readonly step: 'ended' | 'began';
  /** The grant of the delegation that ended. */
  readonly since: LogPosition;
}

/** Where a reader of changes is, and the revision that everything before it was read at. */
export interface ChangesCursor {
  readonly position: ChangePosition;
  readonly revision: number;
  readonly stamp: number;
  /**
   * What still holds if the revision was lost: an older one, and a final block up to which history has been the same
   * ever since. Null if no block was final.
   */
  readonly final: ChosenBlock | null;
}

export interface ChangesQuery {
  readonly chainId: number;
  /** Null for all of history. */
  readonly after: ChangesCursor | null;
  /** Only of blocks that are verified to be finalized. */
  readonly isFinal: boolean;
  readonly filter?: ChangesFilter;
  /** How many changes to read. A page may have fewer and still not be the last. */
  readonly limit: number;
}

/** The delegations whose changes are read: those that every given field is true of. */
export interface ChangesFilter {
  /** On either side. */
  readonly wallet?: Address | undefined;
  readonly from?: Address | undefined;
  readonly to?: Address | undefined;
  readonly contract?: Address | undefined;
}

/** A delegation that began or ended with a block, or that one log gave another amount. */
export interface Change {
  readonly type: 'began' | 'changed' | 'ended';
  readonly position: ChangePosition;
  readonly delegation: DetailedDelegation;
  readonly block: BlockRef;
  readonly logIndex: number;
  readonly transactionHash: Bytes32;
  readonly isFinal: boolean;
}

export interface ChangesPage {
  readonly chain: ChainState;
  /** History before the cursor has changed: all changes after this block are void. Then there are no others on this page. */
  readonly undo: AnswerBlock | null;
  readonly changes: readonly Change[];
  readonly next: ChangesCursor;
  /** Nothing more has happened yet. */
  readonly isEnd: boolean;
}

export interface BlockAt extends BlockRef {
  /** The next kept block with a later time. Any block before it may be the last one at or before the time. */
  readonly next: number;
}

/**
 * The reads that a replica can answer too. Each read sees one snapshot and holds no lock afterwards. Reads throw a `StoreError` rather
 * than guess.
 */
export interface ReplicatedReads {
  /** The newest state, or null for a chain that was never claimed. */
  chain(chainId: number): Awaitable<ChainState | null>;
  chains(): Awaitable<ChainState[]>;
  /** A block, or the head, with the chain's state in the same snapshot. */
  pin(chainId: number, block?: number): Promise<Pinned>;
  /** The granting delegations that hold at the head, or held at the end of a block. */
  check(chainId: number, question: Question | AnyQuestion, block?: number): Promise<CheckResult<HeldDelegation>>;
  /** The same with the time and transaction of each. */
  explain(chainId: number, question: Question | AnyQuestion, block?: number): Promise<CheckResult<DetailedDelegation>>;
  /** Answers many questions as of one block, in order; null where a revocation of the wallet is not settled, or it is disputed. */
  checkMany(
    chainId: number,
    questions: readonly (Question | AnyQuestion)[],
    at: ListQuery['at'],
  ): Promise<(boolean | bigint | null)[]>;
  /**
   * One page of a wallet's delegations as of a block: incoming, then outgoing, each in the order of their places. A delegation to
   * itself is listed once, among the incoming.
   */
  list(query: ListQuery & Filter<HeldDelegation>): Promise<ListPage<HeldDelegation>>;
  listDetailed(query: ListQuery & Filter<DetailedDelegation>): Promise<ListPage<DetailedDelegation>>;
  /** The same as packed bytes: see rows/packed.ts. */
  listPacked(query: ListQuery): Promise<ListPage<PackedDelegation>>;
  /** The same as of the head, with what `pin` returns. It costs less, because only the end of the page has a position. */
  listNow(query: Omit<ListQuery, 'at'>): Promise<ListNow>;
  /**
   * The wallets that a wallet may act for: those for which a check of the pair says yes, once each, ordered by address, with the
   * delegations that grant it.
   */
  vaults(query: CounterpartQuery): Promise<CounterpartPage>;
  /** The same for the wallets that may act for a wallet. */
  delegates(query: CounterpartQuery): Promise<CounterpartPage>;
  /** The grants that can decide who acts, or acts alone, for each of many wallets. */
  ownerGrants(query: OwnerGrantsQuery): Promise<OwnerGrants>;
  /** The wallets that ever granted a wallet something of these classes, once each, ordered by address: a page of them. */
  exclusiveOwners(query: ExclusiveOwnersQuery): Promise<readonly Address[]>;
  /** Every grant that a wallet made or got, of both versions, the newest first, as of a block. */
  history(query: HistoryQuery): Promise<HistoryPage>;
  /** What began, ended or changed after a position, in the order of the chain; or that history before it has changed. */
  changes(query: ChangesQuery): Promise<ChangesPage>;
  /** The newest kept block at or before the time. No delegation changed between the two. */
  blockAt(chainId: number, timestamp: number): Promise<BlockAt>;
}

/** What only the primary answers: writes, and the reads of followers and operators. */
export interface PrimaryOnly {
  /** Unique to this store. */
  readonly id: string;
  /** Null on SQLite. */
  readonly notices: Notices | null;
  /** Null if the database has no connections. */
  pool(): PoolStatus | null;
  /** The samples of all chains from a time on, in Unix seconds, ordered by chain and time. */
  lags(since: number): Promise<LagSample[]>;
  /** Becomes the only writer of the chain. A new chain starts at `firstBlock`. Fails if the index has other registries than the network. */
  claim(chainId: number, firstBlock: number, partial?: boolean, network?: Network): Promise<ChainState>;
  apply(commit: CommitInput): Promise<ChainState>;
  /** Updates the given fields of the chain's state. */
  report(chainId: number, epoch: number, report: Report): Promise<ChainState>;
  /** Keeps a sample of the chain's lag for a day. */
  recordLag(epoch: number, sample: LagSample): Promise<void>;
  /** Replaces the logs of blocks and derives the spans of their wallets again. */
  repair(repair: Repair): Promise<ChainState>;
  /** Sets the times of kept blocks from their headers, and marks those whose logs are proven. */
  confirm(chainId: number, epoch: number, blocks: readonly ConfirmedBlock[]): Promise<ChainState>;
  /** Records what the registry's state showed about v1 revocations. Nothing if there was a commit after the given one. */
  settle(chainId: number, epoch: number, settlements: readonly Settlement[], commits?: number): Promise<ChainState>;
  /** Discards what is recorded about a wallet's revocations from a block on, so that it is read again. */
  unsettle(chainId: number, epoch: number, vault: Address, from: number): Promise<ChainState>;
  /** Takes or renews the lease of a chain if it is free, expired, or the holder's own. Returns the current holder. */
  lease(chainId: number, holder: string, forMs: number): Promise<string>;
  /** Releases the lease if this holder has it. */
  release(chainId: number, holder: string): Promise<void>;
  /** Derives every span of the chain again from its logs. */
  rebuild(chainId: number): Promise<void>;

  /** The newest kept block at or below a number. */
  newestBlock(chainId: number, atMost: number): Promise<BlockRef | null>;
  /** The newest block with logs at or below a number. */
  newestWithLogs(chainId: number, atMost: number): Promise<BlockRef | null>;
  /** The kept blocks of a range in order, both ends included. */
  blocks(chainId: number, range: { from: number; to: number }): Promise<BlockRef[]>;
  /** One page of the logs of a range of blocks in order, both ends included. */
  logs(chainId: number, range: { from: number; to: number; after?: LogPosition; limit: number }): Promise<LogRecord[]>;
  /** One page of every grant of a chain, in the order of its logs, as of a block. */
  grants(chainId: number, to: number, after: LogPosition | null, limit: number): Promise<readonly GrantOfChain[]>;
  /** Wallets with a v1 revocation that is not settled, ordered by address, after the given one. */
  unsettledVaults(chainId: number, after: Address | null, limit: number): Promise<Address[]>;
  /** The v1 revocations of a range of blocks whose delegate is in neither the log nor the transaction's input. */
  revocations(chainId: number, range: { from: number; to: number }): Promise<Revocation[]>;
  /** The oldest unsettled revocations of one wallet. */
  unsettledRevocations(chainId: number, vault: Address, limit: number): Promise<Revocation[]>;
  /** Delegates that a v1 wallet granted something before a log and that had it at a block. */
  v1Delegates(chainId: number, vault: Address, before: LogPosition, at: number, limit: number): Promise<Address[]>;
  /** Up to `limit` v1 delegations from one wallet to another that held at a block. */
  held(chainId: number, pair: Pick<DelegationKey, 'from' | 'to'>, at: number, limit: number): Promise<HeldDelegation[]>;
  /** Whether a v1 delegation held at a block. */
  isOpen(chainId: number, key: DelegationKey, at: number): Promise<boolean>;
  /** The v1 grants of a wallet after a log and up to a block, in order. */
  regrants(
    chainId: number,
    vault: Address,
    after: LogPosition,
    to: number,
  ): Promise<{ readonly key: DelegationKey; readonly granted: LogPosition }[]>;
  /** How many v2 delegations a wallet ever granted, or was granted, up to a block. Null if it has thousands of spans. */
  grantCount(chainId: number, of: Pick<ListLength, 'wallet' | 'list'>, block: number): Promise<number | null>;
  /**
   * The same of some wallets, without those, in an order of the store's own. `after` is the `next` of the previous page, or any place
   * below `HASHES`.
   */
  grantCounts(
    chainId: number,
    list: ListLength['list'],
    block: number,
    after: number | null,
  ): Promise<{ readonly counts: readonly GrantCount[]; readonly next: number | null }>;
  /** Blocks of a range whose time was reported by a log and not checked yet, lowest first. */
  uncheckedTimes(chainId: number, range: { from: number; to: number; limit: number }): Promise<BlockRef[]>;
  /** The newest block of each chain whose logs are not proven. */
  newestUnproven(): Promise<ReadonlyMap<number, number>>;
  /** The newest blocks of a range whose logs are not proven, newest first. */
  unprovenBlocks(chainId: number, range: { from: number; to: number; limit: number }): Promise<BlockRef[]>;
  /** Size on disk in bytes. */
  size(): Promise<number>;
  close(): Promise<void>;
}

/** Without members of its own, so that each is declared as one or the other. */
export type Store = ReplicatedReads & PrimaryOnly;

export interface GrantCount {
  readonly wallet: Address;
  readonly count: number;
}

export interface Revocation {
  readonly vault: Address;
  readonly block: BlockRef;
  /** The indexes of its logs in this block. */
  readonly logIndexes: readonly number[];
  /** The pairs that it ended, as far as is known. */
  readonly ended: readonly Pick<SettledPair, 'delegate' | 'endedBy'>[];
  /** The block whose state settled it; null while it is not settled. */
  readonly readAt: number | null;
}

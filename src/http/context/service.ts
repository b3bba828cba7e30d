// What handlers are given: the service, and a request.

import type { FollowerStatus } from '../../chain/follow/follower-status.ts';
import type { NameReader } from '../../chain/names/name-reader.ts';
import type { ProofReader } from '../../chain/prove/proof-reader.ts';
import type { TokenReader } from '../../chain/tokens/token-reader.ts';
import type { FeedCursor } from '../../feed/cursor.ts';
import type { Feed } from '../../feed/feed.ts';
import type { McpEndpoint } from '../../mcp/server.ts';
import type { ProvenBlock } from '../../proof/answer-proof.ts';
import type { AnyQuestion, Question, QuestionOf } from '../../registry/check.ts';
import type { Store } from '../../store/store.ts';
import type { Developers } from '../developers/developers.ts';
import type { Admission } from '../limits/admission.ts';
import type { Limit } from '../limits/limiter.ts';
import type { LongLists } from '../limits/long-lists.ts';
import type { Caller } from '../limits/shares.ts';
import type { EventStream } from '../wire/event-stream.ts';
import type { MaxLag, Sightings } from './freshness.ts';

export interface Service {
  readonly store: Store;
  /** Unix seconds, with their fraction. */
  readonly now: () => number;
  /** The chains that are served. */
  readonly chainIds: ReadonlySet<number>;
  readonly maxLag: MaxLag;
  /** When this process saw the chains move. */
  readonly sightings: Sightings;
  /** How many seconds sending a list or the answers of a batch may take. */
  readonly answerTimeout: number;
  /** Whether lists name the standard of a token where the request does not say. */
  readonly hasStandardTypes?: boolean;
  /** Whether imported history is answered before it is confirmed; true by default. */
  readonly trustsImports?: boolean;
  /** The folder of the archives that are published; absent if none are. `refresh` has them written again if they are old. */
  readonly archives?: { readonly folder: string; refresh(): void };
  readonly longLists: LongLists;
  readonly streams: ChangeStreams;
  /** Without it, nobody is limited. */
  readonly admission?: Admission;
  /** The chain is a local one with made-up wallets: every response says so. */
  readonly sandbox?: boolean;
  /** The URL under which callers reach the service, if the operator has set it. */
  readonly publicUrl?: string;
  /** Where wallets manage their own keys; absent if the operator hands out keys. */
  readonly developers?: Developers;
  /** Whether the process is about to stop accepting requests. */
  readonly isStopping?: () => boolean;
  /** Whether the database is that of a newer program. */
  readonly isOutdated?: () => boolean;
  /** The limit of requests without a key; absent or null if there is none. */
  readonly anonymousLimit?: Limit | null;
  /** The limit of requests with a key; absent or null if there is none. */
  readonly keyLimit?: Limit | null;
  /** The status of the followers, if this process knows it. */
  readonly followerStatus?: () => readonly FollowerStatus[];
  /** Reads who owns tokens; absent if the operator has not turned token gates on. */
  readonly tokens?: TokenReader;
  /** Proves answers; absent if the operator has not turned proofs on. */
  readonly proofs?: ProofReader;
  /** Finds names for pages; absent if no provider is configured. */
  readonly names?: NameReader;
  /** Answers language models; absent if the operator has not turned the MCP server on. */
  readonly mcp?: McpEndpoint;
  /** Called for each check that was answered with no. */
  readonly onDenied?: (chainId: number, question: Question) => void;
  /** Called for each question refused because a revocation is not resolved. */
  readonly onUnread?: (chainId: number, question: QuestionOf<1>) => void;
  /** Called for each answer that a proof contradicts. */
  readonly onContradiction?: (contradiction: Contradiction) => void;
  /** Called for errors whose details are not sent to the caller, with the request if it is known. */
  readonly onError?: (error: unknown, request?: FailedRequest) => void;
}

/** What the index says and a proof contradicts. */
export interface Contradiction {
  readonly chainId: number;
  readonly block: ProvenBlock;
  readonly question: Question | AnyQuestion;
  readonly index: boolean | bigint;
  readonly proven: boolean | bigint;
  readonly provider: string;
}

export interface FailedRequest {
  readonly id: string;
  readonly route: string;
}

export interface StreamRequest {
  readonly feed: Feed;
  /** Everything that decides what is in the feed. */
  readonly identity: string;
  readonly cursor: FeedCursor;
  /** Where a chain that is not in the cursor starts. */
  readonly start: 'first' | 'head';
}

/** The request of a stream, as far as it is needed while the stream is open. */
export type StreamCall = Pick<Call, 'service' | 'failed' | 'setIdleTimeout'> & { readonly caller: Caller };

export interface ChangeStreams {
  /** Throws a problem if the caller, or the process, has too many. */
  open(request: StreamRequest, call: StreamCall): EventStream;
  /** Ends all streams. Their readers connect again, to another process or later, and resume. */
  stop(): void;
  readonly count: number;
}

export interface Call {
  readonly request: Request;
  /** Returns the peer's address. */
  readonly socket: () => string;
  /** Sets after how many idle seconds the connection is closed; 0: never. */
  readonly setIdleTimeout: (seconds: number) => void;
  /** The values of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: string;
  readonly service: Service;
  /** Who is counted for long lists. */
  readonly caller: () => Caller;
  /** What the log says of the request if it fails. */
  readonly failed: FailedRequest;
  /** Counts the questions of a batch. Throws a problem if they exceed the rate limit. */
  readonly count: (questions: number) => Promise<void>;
  /** Asks the API itself, without a limit: the page that asks is already counted, the explorer as a request to the API. A body is JSON to POST. */
  readonly ask: (url: string, body?: string) => Promise<Response>;
}

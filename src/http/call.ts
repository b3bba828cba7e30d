// A request as a route's handler gets it.

import type { FailedRequest, Service } from './service.ts';
import type { Caller } from './shares.ts';

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

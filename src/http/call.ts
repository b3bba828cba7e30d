// A request as a route's handler gets it.

import type { Caller } from './long-lists.ts';
import type { FailedRequest, Service } from './service.ts';

export interface Call {
  readonly request: Request;
  /** Returns the peer's address. */
  readonly socket: () => string;
  /** The values of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: string;
  readonly service: Service;
  /** Who is counted for long lists. */
  readonly caller: () => Caller;
  /** Counts the questions of a batch. Throws a problem if they exceed the rate limit. */
  readonly count: (questions: number) => Promise<void>;
  /** What the log says of the request if it fails. */
  readonly failed: FailedRequest;
  /** Asks the API itself, without a limit: the page that asks is already counted, the explorer as a request to the API. */
  readonly ask: (url: string) => Promise<Response>;
}

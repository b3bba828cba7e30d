// Asks our own API what a page shows.

import type { ResponseOf } from '../api/operation.ts';
import type { Operation } from '../api/operations.ts';
import type { ProblemBody } from '../api/problems.ts';
import { urlFor } from '../api/url.ts';
import { problemWords } from './problem-words.ts';

/** Sends a request of a page to our own API. */
export type FetchApi = (path: string) => Promise<Response>;

/** Why the API refused to answer. */
export class Refusal {
  readonly status: number;
  readonly text: string;
  /** Seconds until another try makes sense, if the API named them. */
  readonly retryAfter: string | null;
  constructor(status: number, text: string, retryAfter: string | null = null) {
    this.status = status;
    this.text = text;
    this.retryAfter = retryAfter;
  }
}

export const askApi = <O extends Operation>(
  fetchApi: FetchApi,
  operation: O,
  values: Parameters<typeof urlFor<O>>[1],
): Promise<ResponseOf<O> | Refusal> => askUrl<ResponseOf<O>>(fetchApi, urlFor(operation, values));

/** The same for a URL whose operation is not known when this is compiled. */
export async function askUrl<Body>(fetchApi: FetchApi, url: string): Promise<Body | Refusal> {
  const response = await fetchApi(url);
  if (response.ok) return (await response.json()) as Body;
  const problem = (await response.json().catch(() => ({}))) as Partial<ProblemBody>;
  const text = problemWords(problem) ?? `The service answered with HTTP status ${response.status}.`;
  return new Refusal(response.status, text, response.headers.get('retry-after'));
}

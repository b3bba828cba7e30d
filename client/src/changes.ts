// The feed of changes: what began, changed or ended, and what a reorg undid.

import type { DelegationChange, Operations, Undo } from './api.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import { type ChainAnswer, readChains, requireComplete, requireProgress } from './pages.ts';
import { sleep } from './sleep.ts';

export type Change = DelegationChange | Undo;

export interface ChangesPage {
  readonly changes: readonly Change[];
  /** A chain that did not answer has an `error`. A later page continues there. */
  readonly chains: readonly ChainAnswer[];
  /** Whether nothing more has happened yet. */
  readonly end: boolean;
  /** Where the next page starts. Save it together with the changes. */
  readonly cursor: string;
}

export type ChangesQuery = Query<'changes'> & {
  /** Whether to wait for more at the end. True by default. */
  readonly follow?: boolean | undefined;
  /** Milliseconds between two requests at the end. */
  readonly pollingInterval?: number | undefined;
};

export const POLLING_INTERVAL = 4000;
/** How long a chain may have a problem before the feed throws it, in milliseconds. */
const PATIENCE = 30_000;

/** Remembers where it is: after an error, or a loop that ended early, the next loop over it continues there. */
export class Changes implements AsyncIterable<Change> {
  readonly #query: ChangesQuery;
  readonly #context: Context;
  /** Changes that were read, and not taken by a loop over the changes yet. */
  #waiting: Change[] = [];
  #cursor: string | undefined;

  constructor(context: Context, query: ChangesQuery) {
    this.#context = context;
    this.#query = query;
    this.#cursor = query.cursor;
  }

  async #read(): Promise<ChangesPage> {
    const { follow: _, pollingInterval: __, start, ...given } = this.#query;
    const { chainId } = this.#context.defaults;
    const { call, params } = splitQuery({ ...this.#context, defaults: { chainId } }, given);
    const from = this.#cursor === undefined ? { start } : { cursor: this.#cursor };
    const query = { ...params, ...from, numbers: 'string' };
    const page = await this.#context.send('/registry/any/changes', query, call, (body): ChangesPage => {
      const { changes, chains, end, cursor } = body as Operations['changes']['body'];
      const isPage = Array.isArray(changes) && typeof end === 'boolean' && typeof cursor === 'string';
      if (!isPage) throw new TypeError('not a page of changes');
      return { changes, chains: readChains(chains), end, cursor };
    });
    if (!page.end) requireProgress(this.#cursor, page.cursor);
    this.#cursor = page.cursor;
    return page;
  }

  /** Page by page. To resume after a restart, save what you did with a page and its cursor in one transaction. */
  async *pages(): AsyncGenerator<ChangesPage, void, void> {
    const { follow = true, pollingInterval = POLLING_INTERVAL, signal } = this.#query;
    for (;;) {
      const page = await this.#read();
      yield page;
      if (page.end && !follow) return;
      if (page.end) await sleep(pollingInterval, signal);
    }
  }

  /** Change by change. Throws the problem of a chain that does not answer for half a minute, or until the feed ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, void> {
    yield* this.#take();
    let completeAt = performance.now();
    for await (const { changes, chains, end } of this.pages()) {
      this.#waiting = [...changes];
      yield* this.#take();
      const isLast = end && this.#query.follow === false;
      if (chains.every(({ error }) => error === undefined)) completeAt = performance.now();
      else if (isLast || performance.now() - completeAt > PATIENCE) requireComplete(chains);
    }
  }

  *#take(): Generator<Change, void, void> {
    for (let change = this.#waiting.shift(); change !== undefined; change = this.#waiting.shift()) yield change;
  }
}

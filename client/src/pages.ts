// Lists come in pages. A list is read row by row, or page by page.

import type { Block } from './api.ts';
import type { ProblemError } from './errors.ts';

/** A chain of an answer: the block that the answer is true for, or why the chain did not answer. */
export type ChainAnswer =
  | { readonly chainId: number; readonly block: Block; readonly error?: undefined }
  | { readonly chainId: number; readonly block?: undefined; readonly error: ProblemError };

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly chains: readonly ChainAnswer[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next: string | null;
}

/** Throws the problem of a chain that did not answer: its rows are unknown, not absent. */
export function requireComplete(chains: readonly ChainAnswer[]): void {
  for (const { error } of chains) if (error !== undefined) throw error;
}

/** Nothing is requested before it is read. All pages are as of the same blocks. */
export class Pages<Row, P extends Page<Row> = Page<Row>> implements AsyncIterable<Row> {
  readonly #read: (cursor?: string) => Promise<P>;
  constructor(read: (cursor?: string) => Promise<P>) {
    this.#read = read;
  }

  /** Page by page, with the block of each chain. A chain that did not answer has an `error` in `chains`. */
  async *pages(): AsyncGenerator<P, void, void> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  /** Row by row. Throws if a chain did not answer. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, void> {
    for await (const { rows, chains } of this.pages()) {
      requireComplete(chains);
      yield* rows;
    }
  }

  /** All rows. Throws if a chain did not answer. */
  async all(): Promise<Row[]> {
    const all: Row[] = [];
    for await (const row of this) all.push(row);
    return all;
  }
}

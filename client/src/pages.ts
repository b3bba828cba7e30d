// Lists come in pages. A list is read row by row, or page by page.

import type { Block, Operations } from './api.ts';
import { InvalidResponse, type ProblemError, readProblem } from './errors.ts';

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

/** Throws if an answer does not say what block it is true for. */
export function readBlock(block: Block | undefined): Block {
  if (typeof block?.number !== 'number') throw new TypeError('not a block');
  return block;
}

/** Of an answer that names its chains in the body. */
export const readChains = (chains: Operations['changes']['body']['chains']): ChainAnswer[] =>
  chains.map((chain) =>
    'problem' in chain
      ? { chainId: chain.chainId, error: readProblem(chain.problem) }
      : { ...chain, block: readBlock(chain.block) },
  );

/** Throws the problem of a chain that did not answer: its rows are unknown, not absent. */
export function requireComplete(chains: readonly ChainAnswer[]): void {
  for (const { error } of chains) if (error !== undefined) throw error;
}

/** A reader would never end if a page led to itself. */
export function requireProgress(cursor: string | undefined, next: string | null): void {
  if (next !== null && next === cursor) throw new InvalidResponse(200, `Page ${cursor} leads to itself`);
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
      requireProgress(cursor, page.next);
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

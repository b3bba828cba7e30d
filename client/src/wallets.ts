// One question about many wallets in one request, as of one block.

import type { Block, Operations } from './api.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import { type ProblemError, readProblem } from './errors.ts';
import type { Delegate, Holder, Vault } from './lists.ts';
import { readBlock } from './pages.ts';

/** The first page of a wallet, or why there is none. `next` is the `cursor` of the list of that wallet, if it has more. */
export type WalletAnswer<Row, More = object> =
  | ({ readonly ok: true; readonly rows: readonly Row[]; readonly next: string | null; readonly block: Block } & More)
  | { readonly ok: false; readonly error: ProblemError };

type WalletsQuery<Id extends keyof Operations> = Query<Id> & { readonly wallets: readonly string[] };

/** Up to 1,000 wallets. The answers are in the order of the wallets. */
export interface WalletBatches {
  vaultsMany(query: WalletsQuery<'vaultsBatch'>): Promise<readonly WalletAnswer<Vault>[]>;
  delegatesMany(query: WalletsQuery<'delegatesBatch'>): Promise<readonly WalletAnswer<Delegate>[]>;
  /** `holds` is null if the first page has no holder, and there are more pages: ask `holds` about that wallet. */
  holdersMany(
    query: WalletsQuery<'holdersBatch'>,
  ): Promise<readonly WalletAnswer<Holder, { readonly holds: boolean | null }>[]>;
}

interface Body {
  readonly block: Block;
  readonly answers: readonly Readonly<Record<string, unknown>>[];
}

export function createWalletBatches(context: Context): WalletBatches {
  const ask = async (name: 'vaults' | 'delegates' | 'holders', query: { readonly wallets: readonly string[] }) => {
    const { wallets, ...rest } = query;
    const { call, params } = splitQuery(context, rest);
    const read = (body: unknown) => {
      const { answers, block } = body as Body;
      if (answers.length !== wallets.length) throw new TypeError('not as many answers as wallets');
      return answers.map(({ problem, holds, next, [name]: rows }) => {
        if (problem !== undefined) return { ok: false, error: readProblem(problem) };
        if (!Array.isArray(rows)) throw new TypeError('not a list');
        const isKnown = typeof holds === 'boolean' || (holds === null && next !== null);
        if (name === 'holders' && !isKnown) throw new TypeError('not known whether it holds');
        return {
          ok: true,
          rows,
          next: next ?? null,
          block: readBlock(block),
          ...(name === 'holders' ? { holds } : {}),
        };
      });
    };
    return context.send(`/registry/any/${name}`, { ...params, numbers: 'string' }, call, read, { wallets }) as never;
  };
  return {
    vaultsMany: (query) => ask('vaults', query),
    delegatesMany: (query) => ask('delegates', query),
    holdersMany: (query) => ask('holders', query),
  };
}

// One question about many wallets in one request, as of one block.

import type { Block, Operations } from './api.ts';
import { unanswered } from './checks.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import type { ProblemError } from './errors.ts';
import { type Delegate, type Holder, readHolds, readNext, readRows, type Vault } from './lists.ts';
import { readBlock } from './pages.ts';

/** The first page of a wallet, or why there is none: reading `rows` or `holds` then throws its error. `next` is the `cursor` of the list of that wallet, if it has more. */
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
        if (problem !== undefined) return unanswered(problem, 'rows', 'holds');
        const page = { ok: true, rows: readRows(rows), next: readNext(next), block: readBlock(block) };
        return name === 'holders' ? { ...page, holds: readHolds(holds, next) } : page;
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

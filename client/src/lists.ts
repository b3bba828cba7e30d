// Lists: vaults, delegates, delegations, history and holders.

import type { Block, DetailedDelegation as Delegation, HistoryEntry, Operations } from './api.ts';
import { type Registry, toDelegation } from './checks.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import { type Page, Pages, readBlock, readChains } from './pages.ts';
import type { CallOptions, Params, Read } from './request.ts';

export type Vault = Operations['vaults']['body']['vaults'][number];
export type Delegate = Operations['delegates']['body']['delegates'][number];
export type Holder = Operations['holders']['body']['holders'][number];

export interface HoldersPage extends Page<Holder> {
  /** Null if this page has no holder and there is a next one: not known yet. */
  readonly holds: boolean | null;
}

export type ListQuery =
  | (Query<'listAny'> & { readonly version?: 'any' | undefined })
  | (Query<'listV2'> & { readonly version: 2 })
  | (Query<'listV1'> & { readonly version: 1 });

export interface Lists {
  /** The wallets that a wallet may act for. */
  vaults(query: Query<'vaults'>): Pages<Vault>;
  /** The wallets that may act for a wallet. */
  delegates(query: Query<'delegates'>): Pages<Delegate>;
  /** The delegations of a wallet, in both registries or in one. */
  list(query: ListQuery): Pages<Delegation>;
  /** Everything that a wallet ever granted or got. */
  history(query: Query<'history'>): Pages<HistoryEntry>;
  /** The owners of a token among a wallet and the wallets that it may act for. */
  holders(query: Query<'holders'>): Pages<Holder, HoldersPage>;
  /** Whether a wallet, or a wallet that it may act for, owns a token. */
  holds(query: Query<'holders'>): Promise<boolean>;
}

type AnyQuery = CallOptions & {
  readonly wallet: string;
  readonly chainId?: unknown;
  readonly limit?: number | undefined;
};

/** Of an answer that names its block in the headers. */
function blockOf(headers: Headers): Block {
  const number = headers.get('x-block-number');
  const timestamp = headers.get('x-block-timestamp');
  if (!number) throw new TypeError('no block');
  const hash = headers.get('x-block-hash') as Block['hash'];
  return { number: Number(number), hash, timestamp: timestamp === null ? null : Number(timestamp) };
}

export function readRows<Row>(rows: unknown): readonly Row[] {
  if (!Array.isArray(rows)) throw new TypeError('not a list');
  return rows;
}

export function readNext(next: unknown): string | null {
  if (next !== null && typeof next !== 'string') throw new TypeError('not a cursor');
  return next;
}

/** Null if the page has no holder and there is a next one. */
export function readHolds(holds: unknown, next: unknown): boolean | null {
  const isKnown = typeof holds === 'boolean' || (holds === null && next !== null);
  if (!isKnown) throw new TypeError('not known whether it holds');
  return holds;
}

const DEFAULT_LIMIT = 1000;

export function createLists(context: Context): Lists {
  const ask = <T>(path: string, query: AnyQuery, cursor: string | undefined, more: Params, read: Read<T>) => {
    const { wallet, ...rest } = query;
    const { call, params } = splitQuery(context, rest);
    const url = path + encodeURIComponent(wallet);
    return context.send(url, { ...params, cursor: cursor ?? params['cursor'], numbers: 'string', ...more }, call, read);
  };

  const ofChains = <Row>(path: string, name: string, query: AnyQuery) =>
    new Pages<Row>((cursor) =>
      ask(path, query, cursor, {}, (body) => {
        const { [name]: rows, chains, next } = body as Record<string, unknown>;
        return { rows: readRows(rows), chains: readChains(chains as never), next: readNext(next) };
      }),
    );

  const ofRegistry = (version: Exclude<Registry, 'any'>, query: AnyQuery) =>
    new Pages<Delegation>((cursor) =>
      ask(
        `/registry/v${version}/`,
        query,
        cursor,
        { limit: query.limit ?? DEFAULT_LIMIT, detail: 'full' },
        (body, headers) => {
          const [, next = null] = /[?&]cursor=([\w-]+)/.exec(headers.get('link') ?? '') ?? [];
          const chainId = Number(query.chainId ?? context.defaults.chainId ?? 1);
          return {
            rows: readRows<object>(body).map((row) => toDelegation(version, row)),
            chains: [{ chainId, block: blockOf(headers) }],
            next,
          };
        },
      ),
    );

  const holders = (query: Query<'holders'>) =>
    new Pages<Holder, HoldersPage>((cursor) =>
      ask('/registry/any/holders/', query, cursor, {}, (body) => {
        const {
          holders: rows,
          holds,
          chainId,
          block,
          next,
          delegationChains = [],
        } = body as Operations['holders']['body'];
        const others = readChains(delegationChains).filter((one) => one.chainId !== chainId);
        const chains = [{ chainId, block: readBlock(block) }, ...others];
        return { rows: readRows(rows), holds: readHolds(holds, next), chains, next: readNext(next) };
      }),
    );

  return {
    vaults: (query) => ofChains('/registry/any/vaults/', 'vaults', query),
    delegates: (query) => ofChains('/registry/any/delegates/', 'delegates', query),
    history: (query) => ofChains('/registry/any/history/', 'grants', query),
    list: ({ version = 'any', ...query }) =>
      version === 'any' ? ofChains('/registry/any/', 'delegations', query) : ofRegistry(version, query),
    holders,
    async holds(query) {
      let holds: boolean | null = null;
      for await (const page of holders(query).pages()) {
        holds = page.holds;
        if (holds !== null) break;
      }
      // The last page is never unknown.
      return holds as boolean;
    },
  };
}

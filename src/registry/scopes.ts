// What can be asked of a registry. A new kind of check is a row here; the compiler names every other place that must decide.

import type { Kind } from './delegation.ts';
import type { Version } from './versions.ts';

interface ScopeRow {
  /** A delegation of any of these kinds grants what is asked, from the widest to the narrowest. */
  readonly grantedBy: readonly Kind[];
  readonly needsContract: boolean;
  readonly needsTokenId: boolean;
  /** Answered by an amount instead of true or false. */
  readonly answersBalance: boolean;
  /** The contract's function for it, by version. A version without one does not have this scope. */
  readonly selectors: { readonly [V in Version]: string | null };
}

const WALLET = { needsContract: false, needsTokenId: false, answersBalance: false } as const;
const CONTRACT = { ...WALLET, needsContract: true } as const;
const TOKEN = { ...CONTRACT, needsTokenId: true } as const;

export const SCOPES = {
  all: { grantedBy: ['ALL'], ...WALLET, selectors: { 1: '9c395bc2', 2: 'e839bd53' } },
  contract: { grantedBy: ['ALL', 'CONTRACT'], ...CONTRACT, selectors: { 1: '90c9a2d0', 2: '8988eea9' } },
  token: { grantedBy: ['ALL', 'CONTRACT', 'TOKEN'], ...TOKEN, selectors: { 1: 'aba69cf8', 2: null } },
  erc721: { grantedBy: ['ALL', 'CONTRACT', 'ERC721'], ...TOKEN, selectors: { 1: null, 2: 'b9f36874' } },
  erc1155: {
    grantedBy: ['ALL', 'CONTRACT', 'ERC1155'],
    ...TOKEN,
    answersBalance: true,
    selectors: { 1: null, 2: 'b8705875' },
  },
  erc20: {
    grantedBy: ['ALL', 'CONTRACT', 'ERC20'],
    ...CONTRACT,
    answersBalance: true,
    selectors: { 1: null, 2: 'ba63c817' },
  },
} as const satisfies Readonly<Record<string, ScopeRow>>;

export type Scope = keyof typeof SCOPES;

/** The scopes of a version. */
export type ScopeOf<V extends Version> = {
  [S in Scope]: (typeof SCOPES)[S]['selectors'][V] extends string ? S : never;
}[Scope];

/** The v1 scope that covers what a v2 scope asks about. A v1 token has no standard, and an ERC-20 has no token id. */
export const V1_SCOPE = {
  all: 'all',
  contract: 'contract',
  erc721: 'token',
  erc1155: 'token',
  erc20: 'contract',
} as const satisfies { readonly [S in ScopeOf<2>]: ScopeOf<1> };

export const ALL_SCOPES = Object.keys(SCOPES) as readonly Scope[];

export const selectorOf = (version: Version, scope: Scope): string | null => SCOPES[scope].selectors[version];

/** The scopes of a version, from the widest to the narrowest. */
export const scopesOf = <V extends Version>(version: V): readonly ScopeOf<V>[] =>
  ALL_SCOPES.filter((scope) => selectorOf(version, scope) !== null) as ScopeOf<V>[];

/** The scopes that a question may mean that names none, by what it names instead. */
export function impliedScopes<S extends Scope>(
  scopes: readonly S[],
  { contract, tokenId }: { readonly contract?: unknown; readonly tokenId?: unknown },
): readonly S[] {
  if (tokenId !== undefined) return scopes.filter((one) => SCOPES[one].needsTokenId);
  const scope = contract === undefined ? 'all' : 'contract';
  return scopes.filter((one) => one === scope);
}

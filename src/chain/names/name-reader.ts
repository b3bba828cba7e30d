// Names of wallets and of token contracts, for people to read beside addresses. Whatever shows them waits only so long, and can do
// without.

import type { Address } from '../../registry/delegation.ts';
import { createSharedReads, READ_LIMITS } from '../rpc/shared-reads.ts';
import { createContractCalls } from './contract-calls.ts';
import { ENS_CHAIN, normalizedName } from './ens.ts';
import { readAddresses, readPrimaryNames } from './ens-lookup.ts';
import { createTimedCache } from './timed-cache.ts';
import { readClaims, type TokenClaim } from './token-claim.ts';

interface NamedToken {
  readonly chainId: number;
  readonly contract: Address;
}

/** Null for what has no name, or none that is known yet. */
export interface KnownNames {
  wallet(address: Address): string | null;
  token(token: NamedToken): TokenClaim | null;
}

export interface AskedNames {
  readonly wallets: readonly Address[];
  readonly tokens: readonly NamedToken[];
}

export type Resolved =
  | { readonly type: 'address'; readonly address: Address }
  /** `invalid`: not a name. `unknown`: it has no address. `unavailable`: nothing is known, as no provider answered. */
  | { readonly type: 'invalid' | 'unknown' | 'unavailable' };

export interface NameReader {
  /** What is known within the wait. The rest is looked up for whoever asks next. Never throws. */
  find(asked: AskedNames, caller: string): Promise<KnownNames>;
  /** The address of a name that a person entered. Never throws. */
  resolve(text: string, caller: string): Promise<Resolved>;
}

export interface NameLimits {
  /** How long names are waited for, and how long nobody waits after that was not enough. */
  readonly waitMs: number;
  readonly pauseMs: number;
  /** For a whole lookup. */
  readonly lookupMs: number;
}

const NAME_LIMITS: NameLimits = { waitMs: 150, pauseMs: 10_000, lookupMs: 4000 };

/** Of each kind: some megabytes. */
const MAX_ENTRIES = 10_000;
const MINUTE = 60_000;
/** How long a result is kept. An address is acted upon, so it is not old. */
const NAME_MS = 10 * MINUTE;
const CLAIM_MS = 60 * MINUTE;
const ADDRESS_MS = MINUTE;
/** How long nothing is asked again after a failure. */
const FAILED_MS = MINUTE / 2;
/** Of one page: the rest is looked up when it is shown again. */
const MOST_WALLETS = 100;
const MOST_TOKENS = 20;

const keyOf = ({ chainId, contract }: NamedToken) => `${chainId} ${contract}`;

/** Null if no chain has a provider. */
export function createNameReader(
  nodes: ReadonlyMap<number, readonly string[]>,
  limits: Partial<NameLimits> = {},
): NameReader | null {
  if (nodes.size === 0) return null;
  const { waitMs, pauseMs, lookupMs } = { ...NAME_LIMITS, ...limits };
  const chains = new Map([...nodes].map(([chainId, urls]) => [chainId, createContractCalls(chainId, urls, lookupMs)]));
  const ens = chains.get(ENS_CHAIN);
  // Results are kept below, each by itself.
  const shared = createSharedReads<void>({ ...READ_LIMITS, readMs: lookupMs }, () => false);
  const names = createTimedCache<string | null>(MAX_ENTRIES);
  const claims = createTimedCache<TokenClaim | null>(MAX_ENTRIES);
  const addresses = createTimedCache<Resolved>(MAX_ENTRIES);
  /** By the monotonic clock: nobody waits for a chain until then. */
  const slowUntil = new Map<number, number>();

  function lookUpWallets(asked: readonly Address[], caller: string) {
    const wallets = asked.filter((one) => names.get(one) === undefined).slice(0, MOST_WALLETS);
    if (ens === undefined || wallets.length === 0) return [];
    const keep = (found: readonly (string | null)[], ms: number) => {
      for (const [at, one] of wallets.entries()) names.set(one, found[at] ?? null, ms);
    };
    const work = async (deadline: number) => keep(await readPrimaryNames(ens, wallets, deadline), NAME_MS);
    const done = shared(ENS_CHAIN, caller, `wallets ${wallets.join()}`, work).catch(() => keep([], FAILED_MS));
    return [{ chainId: ENS_CHAIN, done }];
  }

  function lookUpTokens(asked: readonly NamedToken[], caller: string) {
    const tokens = asked.filter((one) => claims.get(keyOf(one)) === undefined).slice(0, MOST_TOKENS);
    return [...Map.groupBy(tokens, ({ chainId }) => chainId)].flatMap(([chainId, ofChain]) => {
      const calls = chains.get(chainId);
      if (calls === undefined) return [];
      const contracts = ofChain.map(({ contract }) => contract);
      const keep = (found: readonly (TokenClaim | null)[], ms: number) => {
        for (const [at, one] of ofChain.entries()) claims.set(keyOf(one), found[at] ?? null, ms);
      };
      const work = async (deadline: number) => keep(await readClaims(calls, contracts, deadline), CLAIM_MS);
      const done = shared(chainId, caller, `tokens ${contracts.join()}`, work).catch(() => keep([], FAILED_MS));
      return [{ chainId, done }];
    });
  }

  const known: KnownNames = {
    wallet: (address) => names.get(address) ?? null,
    token: (token) => claims.get(keyOf(token)) ?? null,
  };

  return {
    async find({ wallets, tokens }, caller) {
      const now = performance.now();
      const started = [...lookUpWallets(wallets, caller), ...lookUpTokens(tokens, caller)];
      const left = new Set(started.filter(({ chainId }) => (slowUntil.get(chainId) ?? 0) <= now));
      if (left.size === 0) return known;
      await firstOf(
        waitMs,
        [...left].map((one) => one.done.then(() => left.delete(one))),
      );
      for (const { chainId } of left) slowUntil.set(chainId, performance.now() + pauseMs);
      return known;
    },
    async resolve(text, caller) {
      const name = await normalizedName(text);
      if (name === null) return { type: 'invalid' };
      if (ens === undefined) return { type: 'unavailable' };
      const kept = addresses.get(name);
      if (kept !== undefined) return kept;
      const work = async (deadline: number) => {
        const [address = null] = await readAddresses(ens, [name], deadline);
        addresses.set(name, address === null ? { type: 'unknown' } : { type: 'address', address }, ADDRESS_MS);
      };
      await shared(ENS_CHAIN, caller, `name ${name}`, work).catch(() => null);
      return addresses.get(name) ?? { type: 'unavailable' };
    },
  };
}

/** Resolves when all work is done, or the time is over. */
async function firstOf(ms: number, work: readonly Promise<unknown>[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([Promise.all(work), promise]);
  clearTimeout(timer);
}

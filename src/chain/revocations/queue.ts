// The wallets with unsettled v1 revocations: pairs that callers asked about come first, and failed wallets back off.

import type { Address } from '../../registry/delegation.ts';
import type { Context } from '../compare/context.ts';

/** Wallets read from the store in one tick. The next tick reads the next page. */
const PAGE = 200;
/** Pause after the first failure. It doubles with each further one. */
const FIRST_PAUSE_MS = 5000;
const MAX_DOUBLINGS = 8;
const MAX_REQUESTED = 100;

export function createRevocationQueue({ network, store, now }: Context) {
  const retries = new Map<Address, { readonly failures: number; readonly notBefore: number }>();
  let requested: { readonly vault: Address; readonly delegate: Address }[] = [];
  let cursor: Address | null = null;
  let mayHaveWork = true;

  return {
    isEmpty: () => !mayHaveWork,
    /** New revocations may have been stored. */
    wake() {
      mayHaveWork = true;
    },
    /** This pair comes first: a caller was refused an answer about it. */
    prioritize(vault: Address, delegate: Address) {
      requested = [...requested, { vault, delegate }].slice(-MAX_REQUESTED);
      mayHaveWork = true;
    },
    /** The wallets of requested pairs, then a page of all others that are not backing off. */
    async due(): Promise<Address[]> {
      const page = await store.unsettledVaults(network.chainId, cursor, PAGE);
      if (page.length === 0 && cursor === null) mayHaveWork = false;
      cursor = page.length < PAGE ? null : (page.at(-1) ?? null);
      const ready = page.filter((vault) => (retries.get(vault)?.notBefore ?? 0) <= now());
      return [...new Set([...requested.map(({ vault }) => vault), ...ready])];
    },
    /** Removes and returns the requested delegates of a wallet. */
    takeRequested(vault: Address): Address[] {
      const delegates = requested.filter((pair) => pair.vault === vault).map(({ delegate }) => delegate);
      requested = requested.filter((pair) => pair.vault !== vault);
      return delegates;
    },
    /** Backs off. Returns the number of failures before this one. */
    postpone(vault: Address): number {
      const { failures } = retries.get(vault) ?? { failures: 0 };
      const pause = FIRST_PAUSE_MS * 2 ** Math.min(failures, MAX_DOUBLINGS);
      retries.set(vault, { failures: failures + 1, notBefore: now() + pause });
      return failures;
    },
    clearBackoff(vault: Address) {
      retries.delete(vault);
    },
  };
}

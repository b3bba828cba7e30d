// Who alone acts for a wallet or a token, by expiring rights: the rules of the public resolver over the lists of v2.

import { type Address, type Delegation, KINDS, type Kind } from './delegation.ts';
import type { Expiry } from './expiry-text.ts';
import { expiryOf, GLOBAL_ID, NEVER, type RightsId, rightsIdOf } from './rights.ts';

/** An ERC-721 token; null means the whole wallet. */
export interface ExclusiveToken {
  readonly contract: Address;
  readonly tokenId: bigint;
}

/** Grants of which the last one that counts comes before all of a weaker class. */
export interface ExclusiveClass {
  readonly id: RightsId;
  readonly kind: Kind;
  readonly contract: Address | null;
  readonly tokenId: bigint | null;
}

/**
 * From the strongest. The resolver walks an owner's grants from the last to the first, and one replaces another if it has the same
 * identifier and a narrower kind, or names the right where the other is global. So the right itself comes before the global one, then
 * the narrower kind, then the later place.
 */
export function exclusiveClasses(id: RightsId, token: ExclusiveToken | null): readonly ExclusiveClass[] {
  const kinds = token === null ? (['ALL'] as const) : (['ERC721', 'CONTRACT', 'ALL'] as const);
  return [...new Set([id, GLOBAL_ID])].flatMap((one) =>
    kinds.map((kind) => ({
      id: one,
      kind,
      contract: KINDS[kind].contract ? (token?.contract ?? null) : null,
      tokenId: KINDS[kind].tokenId ? (token?.tokenId ?? null) : null,
    })),
  );
}

type Grant = Pick<Delegation, 'kind' | 'contract' | 'tokenId' | 'rights'>;

/** Whether it counts at a time: its last second is the time that it names. */
export const countsAt = ({ rights }: Pick<Grant, 'rights'>, time: number): boolean =>
  rights !== null && time <= expiryOf(rights);

const isOf = ({ kind, contract, tokenId, rights }: Grant, of: ExclusiveClass): boolean =>
  kind === of.kind &&
  contract === of.contract &&
  tokenId === of.tokenId &&
  rights !== null &&
  rightsIdOf(rights) === of.id;

/**
 * The grant that decides at a time, or null: then the owner acts for itself. `grants` are in the order of the owner's list; those that
 * cannot decide may be left out.
 */
export function decidingGrant<D extends Grant>(
  grants: readonly D[],
  classes: readonly ExclusiveClass[],
  time: number,
): D | null {
  for (const of of classes) {
    const found = grants.findLast((grant) => isOf(grant, of) && countsAt(grant, time));
    if (found !== undefined) return found;
  }
  return null;
}

/** When a deciding grant ends without a log. */
export const expiryIn = ({ rights }: Pick<Grant, 'rights'>): Expiry | null => {
  if (rights === null) return null;
  const expiry = expiryOf(rights);
  return expiry === NEVER ? 'never' : expiry;
};

/** The first second at which the answer can be another without a log; null if there is none. */
export const changesAt = (expires: Expiry | null): number | null => (typeof expires === 'number' ? expires + 1 : null);

// Who alone acts for a wallet or a token, by the rules as they are written: a walk over the owner's list. It shares no code with
// src/, so that a bug in one shows as a difference.

import type { Delegation } from '../../src/registry/delegation.ts';

const TYPES: Readonly<Record<string, number>> = { ALL: 1, CONTRACT: 2, ERC721: 3 };
const GLOBAL = `0x${'0'.repeat(48)}`;

export interface AskedExclusive {
  /** 24 bytes. */
  readonly id: string;
  readonly token: { readonly contract: string; readonly tokenId: bigint } | null;
  /** The timestamp of the block. */
  readonly now: number;
}

/** `list` is what the owner has granted, in the order of the contract's list. Null if the owner acts for itself. */
export function walkedGrant<D extends Delegation>(list: readonly D[], { id, token, now }: AskedExclusive): D | null {
  let best: D | null = null;
  let [bestId, bestType] = [GLOBAL, 0];
  for (let at = list.length - 1; at >= 0; at--) {
    const grant = list[at] as D;
    const rights = String(grant.rights);
    const [own, expiry] = [rights.slice(0, 50), BigInt(`0x${rights.slice(-10)}`)];
    const type = TYPES[grant.kind];
    if (type === undefined || BigInt(now) > expiry || (own !== id && own !== GLOBAL)) continue;
    const fits =
      grant.kind === 'ALL' ||
      (token !== null &&
        grant.contract === token.contract &&
        (grant.kind === 'CONTRACT' || grant.tokenId === token.tokenId));
    if (!fits) continue;
    if ((own === bestId && type > bestType) || (bestId === GLOBAL && own !== GLOBAL)) {
      best = grant;
      [bestId, bestType] = [own, type];
    }
  }
  return best;
}

// Token contracts for tests of the interface that have no chain: one wallet owns everything.

import type { TokenReader } from '../../src/chain/tokens/token-reader.ts';
import type { Address } from '../../src/registry/delegation.ts';

/** A token id that no contract accepts. */
export const BAD_TOKEN_ID = 666n;

export const tokensOf = (owner: Address): TokenReader => ({
  ownerOf: async (_of, tokenId) =>
    tokenId === BAD_TOKEN_ID ? { type: 'not-a-token', cause: 'reverted' } : { type: 'owner', owner },
  balances: async (_of, owners) => ({ type: 'balances', balances: owners.map((one) => (one === owner ? 2n : 0n)) }),
});

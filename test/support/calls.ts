// Converts a registry call into the event that it emits; a call that changes nothing emits one too.

import type { Address, Bytes32, DelegationKey, Kind } from '../../src/registry/delegation.ts';
import type { RegistryEvent } from '../../src/registry/event.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';

export function eventOfCall([registry, caller, name, args]: RegistryCall): RegistryEvent {
  const from = caller as Address;
  const [first] = args as [Address];
  if (name === 'revokeAllDelegates') return { type: 'vaultRevoked', from };
  if (name === 'revokeDelegate') return { type: 'unknownRevoked', from };
  if (name === 'revokeSelf') {
    return first === from ? { type: 'unknownRevoked', from } : { type: 'delegateRevoked', from: first, to: from };
  }
  const version = registry === 'v1' ? 1 : 2;
  const kind = name.replace('delegateFor', '').replace('delegate', '').toUpperCase() as Kind;
  const middle = args.slice(1, -1) as string[];
  const value = args.at(-1) as string | boolean;
  const rights = version === 2 ? (middle.pop() as Bytes32) : null;
  const [contract = null, tokenId] = middle as [Address?, string?];
  const key: DelegationKey = {
    version,
    kind,
    from,
    to: first,
    contract,
    tokenId: tokenId === undefined ? null : BigInt(tokenId),
    rights,
  };
  if (value === false || value === '0') return { type: 'ended', delegation: key };
  return { type: 'granted', delegation: { ...key, amount: value === true ? null : BigInt(value) } };
}

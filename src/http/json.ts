// Delegations and balances as JSON, with every digit of a uint256.

import { checksummed } from '../api/checksum.ts';
import type { Address, Delegation } from '../registry/delegation.ts';
import type { DetailedDelegation } from '../store/store.ts';

export type NumberMode = 'number' | 'string';

/** JSON has no limit on digits; JavaScript's own writer does, so these are written here. */
export const numberText = (value: bigint, mode: NumberMode): string => (mode === 'string' ? `"${value}"` : `${value}`);

const orNull = <T>(value: T | null, text: (value: T) => string): string => (value === null ? 'null' : text(value));
const addressText = (address: Address) => `"${checksummed(address)}"`;

/** The type as the interface names it: whatever is limited to tokens is a TOKEN. */
export const typeOf = ({ kind }: Delegation): 'ALL' | 'CONTRACT' | 'TOKEN' =>
  kind === 'ALL' || kind === 'CONTRACT' ? kind : 'TOKEN';

/** The five fields of a record, without the closing bracket. */
function basicFields(delegation: Delegation, mode: NumberMode): string {
  const { version, from, to, contract, tokenId } = delegation;
  const wallets =
    version === 1
      ? `"delegate":${addressText(to)},"vault":${addressText(from)}`
      : `"from":${addressText(from)},"to":${addressText(to)}`;
  const target = `"contract":${orNull(contract, addressText)},"tokenId":${orNull(tokenId, (id) => numberText(id, mode))}`;
  return `{"type":"${typeOf(delegation)}",${wallets},${target}`;
}

export const recordText = (delegation: Delegation, mode: NumberMode): string => `${basicFields(delegation, mode)}}`;

/** A record with everything that is known of it. A v1 token's standard is not recorded by its registry. */
export function detailedText(delegation: DetailedDelegation, chainId: number, mode: NumberMode): string {
  const { kind, rights, amount, since } = delegation;
  const standard = kind.startsWith('ERC') ? `"${kind}"` : 'null';
  const more = `"standard":${standard},"rights":${orNull(rights, (text) => `"${text}"`)}`;
  const held = `"amount":${orNull(amount, (value) => numberText(value, mode))},"chainId":${chainId}`;
  const { block, timestamp, transactionHash, logIndex } = since;
  const origin = `{"block":${block},"timestamp":${timestamp},"transactionHash":"${transactionHash}","logIndex":${logIndex}}`;
  return `${basicFields(delegation, mode)},${more},${held},"since":${origin}}`;
}

// Encodes the calls that ask a token contract for an owner or a balance, and decodes their return data.

import type { Address } from '../../registry/delegation.ts';

const numberWord = (value: bigint) => value.toString(16).padStart(64, '0');
const addressWord = (address: Address) => address.slice(2).padStart(64, '0');

/** ERC-721 `ownerOf(uint256)`. */
export const encodeOwnerOf = (tokenId: bigint): string => `0x6352211e${numberWord(tokenId)}`;

/** `balanceOf(address)` of ERC-20 and ERC-721, or with a token `balanceOf(address,uint256)` of ERC-1155. */
export const encodeBalanceOf = (owner: Address, tokenId: bigint | null): string =>
  tokenId === null ? `0x70a08231${addressWord(owner)}` : `0x00fdd58e${addressWord(owner)}${numberWord(tokenId)}`;

/** ERC-165 `supportsInterface(bytes4)` with the id of ERC-721. */
export const SUPPORTS_ERC721 = `0x01ffc9a780ac58cd${'0'.repeat(56)}`;

/** Null unless the data is exactly one word. */
export const decodeUint256 = (data: string): bigint | null => (/^0x[0-9a-f]{64}$/.test(data) ? BigInt(data) : null);

/** Null unless the data is exactly one word with an address in it. */
export const decodeAddress = (data: string): Address | null =>
  /^0x0{24}[0-9a-f]{40}$/.test(data) ? `0x${data.slice(26)}` : null;

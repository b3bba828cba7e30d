// ENS: names, their nodes, and the calls by which a name has an address and an address a name. Pure.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { keccakHex } from '../../registry/keccak.ts';
import { decodeText } from './return-text.ts';

/** Names are looked up on this chain alone. */
export const ENS_CHAIN = 1;
export const ENS_REGISTRY: Address = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e';

/** DNS names are no longer. Also bounds what normalizing a name costs. */
const MAX_NAME = 255;
/** In bytes. A longer one is not shown, because its beginning may be the name of another wallet. */
const MAX_SHOWN_NAME = 100;

/** Whether a person who enters the text means a name, such as ada.eth. */
export const looksLikeName = (text: string): boolean => /^[^\s./]+(\.[^\s./]+)*\.\p{L}{2,}$/u.test(text);

/** Other scripts and signs have rules; for these, it is to be in lower case. */
const PLAIN = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/i;

/** The name in the one form that it is registered in (ENSIP-15); null for a text that is not a name. */
export async function normalizedName(text: string): Promise<string | null> {
  if (text.length > MAX_NAME || !looksLikeName(text)) return null;
  if (PLAIN.test(text)) return text.toLowerCase();
  // Loading it takes 0.2 s, in which the process does nothing else. Few names need it.
  const { normalize } = await import('viem/ens');
  try {
    return normalize(text);
  } catch {
    return null;
  }
}

const hexOfText = (text: string) => Buffer.from(text).toString('hex');

/** EIP-137. */
export const nodeOf = (name: string): Bytes32 =>
  `0x${name.split('.').reduceRight((node, label) => keccakHex(node + keccakHex(hexOfText(label))), '0'.repeat(64))}`;

/** The node at which an address says what its name is (EIP-181). */
export const reverseNodeOf = (address: Address): Bytes32 => nodeOf(`${address.slice(2).toLowerCase()}.addr.reverse`);

const encode = (selector: string) => (node: Bytes32) => `0x${selector}${node.slice(2)}`;
/** Of the registry. */
export const encodeResolver = encode('0178b8bf');
/** Of a resolver. */
export const encodeName = encode('691f3431');
export const encodeAddr = encode('3b3b57de');

/** Null for anything but one word with an address in it that is not zero. */
export function decodeAddress(data: string | null): Address | null {
  const [, digits = ''] = /^0x0{24}([0-9a-f]{40})$/.exec(data ?? '') ?? [];
  return /[1-9a-f]/.test(digits) ? `0x${digits}` : null;
}

/** The name that a resolver returned, if it is in its normal form: another would be shown as what it is not. */
export async function decodeName(data: string | null): Promise<string | null> {
  const text = data === null ? null : decodeText(data, MAX_SHOWN_NAME);
  return text !== null && (await normalizedName(text)) === text ? text : null;
}

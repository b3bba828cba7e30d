// Makes headers that hash to their hashes.

import type { Bytes32 } from '../../src/registry/delegation.ts';
import { keccakHex } from '../../src/registry/keccak.ts';

interface HeaderContent {
  readonly number: number;
  readonly parentHash: string;
  readonly timestamp: number;
  readonly stateRoot: string;
  readonly receiptsRoot: string;
  readonly logsBloom: string;
  readonly gasUsed: number;
  readonly extraData: string;
}

const ZERO_HASH = `0x${'0'.repeat(64)}`;
const NUMBERS = new Set(['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas']);
const hexOf = (value: number) => `0x${value.toString(16)}`;

/** The fields of a header as a node returns them, with the hash that they give. */
export function sealed(content: HeaderContent): {
  readonly hash: Bytes32;
  readonly header: Readonly<Record<string, string>>;
} {
  // In the order in which they are hashed.
  const header = {
    parentHash: content.parentHash,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: `0x${'0'.repeat(40)}`,
    stateRoot: content.stateRoot,
    transactionsRoot: ZERO_HASH,
    receiptsRoot: content.receiptsRoot,
    logsBloom: content.logsBloom,
    difficulty: '0x0',
    number: hexOf(content.number),
    gasLimit: '0x1c9c380',
    gasUsed: hexOf(content.gasUsed),
    timestamp: hexOf(content.timestamp),
    extraData: content.extraData,
    mixHash: ZERO_HASH,
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
  };
  // RLP as hex digits, because tests make hundreds of thousands of headers.
  let rlp = '';
  for (const name in header) rlp += rlpOf(name, header[name as keyof typeof header].slice(2));
  return { header, hash: `0x${keccakHex(`f9${(rlp.length / 2).toString(16).padStart(4, '0')}${rlp}`)}` };
}

function rlpOf(name: string, hex: string): string {
  const digits = NUMBERS.has(name) ? quantity(hex) : hex;
  const bytes = digits.length / 2;
  if (bytes > 255) return `b9${bytes.toString(16).padStart(4, '0')}${digits}`;
  if (bytes > 55) return `b8${bytes.toString(16)}${digits}`;
  return bytes === 1 && digits < '80' ? digits : `${(0x80 + bytes).toString(16)}${digits}`;
}

/** The shortest whole bytes: none for 0. */
const quantity = (hex: string) => (hex === '0' ? '' : hex.length % 2 === 0 ? hex : `0${hex}`);

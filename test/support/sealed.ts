// Makes headers that hash to their hashes.

import { keccak } from '../../src/chain/prove/keccak.ts';
import { encodeRlp, toQuantity } from '../../src/chain/prove/rlp.ts';
import type { Bytes32 } from '../../src/registry/delegation.ts';

export interface HeaderContent {
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
  const fields = Object.entries(header).map(([name, value]) =>
    NUMBERS.has(name) ? toQuantity(Number(value)) : Uint8Array.fromHex(value.slice(2)),
  );
  return { header, hash: keccak(encodeRlp(fields)) };
}

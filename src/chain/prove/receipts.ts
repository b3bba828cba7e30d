// Encodes receipts as their block commits to them, and computes the root of all receipts of a block.

import { encodeRlp, type Rlp, toQuantity } from '../../proof/rlp.ts';
import { listRoot } from '../../proof/trie.ts';
import type { Bytes32 } from '../../registry/delegation.ts';
import { keccak } from '../../registry/keccak.ts';
import type { Network } from '../../registry/network.ts';
import { type BlockId, type Json, malformed, parseHex, parseObject, parseQuantity, parseUint256 } from '../rpc/node.ts';

/** An OP-stack deposit. */
const DEPOSIT = 0x7e;

export const receiptsRoot = (receipts: readonly Json[]): Bytes32 => listRoot(receipts.map(encodeReceipt));

function encodeReceipt(receipt: Json): Uint8Array {
  const type = receipt['type'] == null ? 0 : parseQuantity('type of a receipt', receipt['type']);
  const logs = receipt['logs'];
  if (!Array.isArray(logs)) throw malformed('logs of a receipt', logs);
  const body: Rlp[] = [
    // Before Byzantium a receipt had a state root instead of a status.
    receipt['status'] == null ? toBytes('root', receipt['root']) : toNumber('status', receipt['status']),
    toNumber('cumulativeGasUsed', receipt['cumulativeGasUsed']),
    toBytes('logsBloom', receipt['logsBloom']),
    logs.map(encodeLog),
  ];
  if (type === DEPOSIT && receipt['depositReceiptVersion'] != null) {
    for (const name of ['depositNonce', 'depositReceiptVersion']) body.push(toNumber(name, receipt[name]));
  }
  const rlp = encodeRlp(body);
  return type === 0 ? rlp : Buffer.concat([Uint8Array.of(type), rlp]);
}

function encodeLog(value: unknown): Rlp {
  const { address, topics, data } = parseObject('log', value);
  if (!Array.isArray(topics)) throw malformed('topics', topics);
  return [toBytes('log address', address), topics.map((topic) => toBytes('topic', topic)), toBytes('data', data)];
}

const toBytes = (what: string, value: unknown): Uint8Array =>
  Uint8Array.fromHex(parseHex(`${what} of a receipt`, value).slice(2));

const toNumber = (what: string, value: unknown): Uint8Array => toQuantity(parseUint256(`${what} of a receipt`, value));

/** The hash of the transaction with which Polygon applies messages of Ethereum. Its receipt is not under the root. Null elsewhere. */
export function stateSyncHash({ stateSync }: Pick<Network, 'stateSync'>, block: BlockId): Bytes32 | null {
  if (!stateSync) return null;
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(block.number));
  return keccak(Buffer.concat([Buffer.from('matic-bor-receipt-'), number, Uint8Array.fromHex(block.hash.slice(2))]));
}

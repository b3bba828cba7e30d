// Parses a node's JSON-RPC results into typed values. Throws on anything of the wrong shape.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { RpcError } from './rpc.ts';

/** A receipt as a node sends it. */
export type ReceiptJson = Readonly<Record<string, unknown>>;

export interface Header {
  readonly number: number;
  readonly hash: Bytes32;
  readonly parentHash: Bytes32;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Null if the node does not return one. */
  readonly bloom: string | null;
  /** As the node returned it, for the proof of its hash. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface NodeLog {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: number;
  readonly blockHash: Bytes32;
  /** Unix seconds. Null if the node does not return it. */
  readonly blockTimestamp: number | null;
  /** All zeros if the node does not return it. */
  readonly transactionHash: Bytes32;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

export type BlockTag = number | 'latest' | 'finalized';

export const malformed = (what: string, value: unknown): RpcError =>
  new RpcError('malformed', `invalid ${what}: ${printable(value)}`);
// Other values may contain an operator's key, and are not repeated.
const printable = (value: unknown) =>
  value === null || typeof value === 'number' || (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value))
    ? String(value).slice(0, 60)
    : `a ${typeof value}`;

export function parseQuantity(what: string, value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw malformed(what, value);
  return number;
}

export function parseUint256(what: string, value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw malformed(what, value);
  return BigInt(value);
}

export const isBytes32 = (value: unknown): value is Bytes32 =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);

export function parseBytes32(what: string, value: unknown): Bytes32 {
  if (!isBytes32(value)) throw malformed(what, value);
  return value.toLowerCase() as Bytes32;
}

export function parseAddress(what: string, value: unknown): Address {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value)) throw malformed(what, value);
  return value.toLowerCase() as Address;
}

export function parseHex(what: string, value: unknown): string {
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) throw malformed(what, value);
  return value.toLowerCase();
}

export function parseObject(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what, value);
  return value as Readonly<Record<string, unknown>>;
}

/** Null if the node does not have the block. */
export function parseHeader(value: unknown, requested: BlockTag | Bytes32): Header | null {
  if (value === null) return null;
  const json = parseObject('block', value);
  const { number, hash, parentHash, timestamp, logsBloom } = json;
  const header = {
    json,
    number: parseQuantity('block number', number),
    hash: parseBytes32('block hash', hash),
    parentHash: parseBytes32('parent hash', parentHash),
    timestamp: parseQuantity('timestamp', timestamp),
    bloom: typeof logsBloom === 'string' && /^0x[0-9a-f]{512}$/i.test(logsBloom) ? logsBloom.toLowerCase() : null,
  };
  if (typeof requested === 'number' && header.number !== requested)
    throw malformed(`number of block ${requested}`, number);
  if (requested.toString().startsWith('0x') && header.hash !== requested)
    throw malformed(`hash of block ${requested}`, hash);
  return header;
}

/** The transactions of a block, as the node lists them. */
export function parseHashes({ json: { transactions } }: Header): Bytes32[] {
  if (!Array.isArray(transactions)) throw malformed('transactions of a block', transactions);
  return transactions.map((hash) => parseBytes32('transaction hash', hash));
}

export function parseLogs(value: unknown): NodeLog[] {
  if (!Array.isArray(value)) throw malformed('logs', value);
  return value.map(parseLog);
}

const ZERO_HASH = `0x${'0'.repeat(64)}` as const;

function parseLog(value: unknown): NodeLog {
  const log = parseObject('log', value);
  // A log of a block that is no longer on the chain.
  if (log['removed'] === true) throw malformed('log (removed) of block', log['blockNumber']);
  const topics = log['topics'];
  if (!Array.isArray(topics)) throw malformed('topics', topics);
  return {
    address: parseAddress('log address', log['address']),
    topics: topics.map((topic) => parseBytes32('topic', topic)),
    data: parseHex('data', log['data']),
    blockNumber: parseQuantity('block number', log['blockNumber']),
    blockHash: parseBytes32('block hash', log['blockHash']),
    blockTimestamp: parseTime(log['blockTimestamp']),
    transactionHash:
      log['transactionHash'] == null ? ZERO_HASH : parseBytes32('transaction hash', log['transactionHash']),
    transactionIndex: log['transactionIndex'] == null ? 0 : parseQuantity('transaction index', log['transactionIndex']),
    logIndex: parseQuantity('log index', log['logIndex']),
  };
}

/** An optional field: an invalid value counts as missing. */
function parseTime(value: unknown): number | null {
  const time = typeof value === 'string' && /^0x[0-9a-f]{1,12}$/i.test(value) ? Number(value) : 0;
  return time === 0 ? null : time;
}

// The JSON-RPC methods that the follower uses, with typed results. Throws on a result of the wrong shape.

import { type Address, type Bytes32, ZERO_ADDRESS } from '../../registry/delegation.ts';
import type { Transaction } from '../../registry/v1-revocation.ts';
import { nullIfRefused, type Rpc, type RpcCall, RpcError } from './rpc.ts';

/** An object as a node sends it. */
export type Json = Readonly<Record<string, unknown>>;

export type Header = Readonly<NonNullable<ReturnType<typeof parseHeader>>>;
export type NodeLog = Readonly<ReturnType<typeof parseLog>>;

export type BlockTag = number | 'latest' | 'finalized';

export interface LogFilter {
  readonly address: readonly Address[];
  readonly topics: readonly (readonly string[])[];
}

export type BlockId = { readonly number: number; readonly hash: Bytes32 };

const toTag = (block: BlockTag) => (typeof block === 'number' ? `0x${block.toString(16)}` : block);
const headerCall = (block: BlockTag) => ({ method: 'eth_getBlockByNumber', params: [toTag(block), false] });

/** The contract call itself failed, so naming the block in another way would not help. */
export const isCallFailure = ({ code, message }: RpcError) =>
  code === 3 || /revert|out of gas|gas required|gas limit/i.test(message);

/** The contract rejected the call. A call that ran out of gas may succeed on another node. */
export const isRevert = (error: RpcError) =>
  error.rpcCode === 3 || (/revert|invalid opcode/i.test(error.message) && !/\bgas\b/i.test(error.message));

export type Node = ReturnType<typeof createNode>;

export function createNode(rpc: Rpc) {
  const getLogs = async (filter: LogFilter, where: object) =>
    parseLogs(await rpc.call('eth_getLogs', [{ address: filter.address, topics: filter.topics, ...where }]));
  const getHeader = async (block: BlockTag) =>
    parseHeader(await rpc.call('eth_getBlockByNumber', [toTag(block), false]), block);
  const getHeaderOf = async (hash: Bytes32) => parseHeader(await rpc.call('eth_getBlockByHash', [hash, false]), hash);
  const requireHash = async ({ number, hash }: BlockId) => {
    const header = await getHeader(number);
    if (header?.hash !== hash) throw malformed(`hash of block ${number}`, header?.hash ?? null);
  };
  const getReceipts = async (hashes: readonly Bytes32[]) => {
    const results = await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })));
    return results.map((result) => (result === null ? null : parseObject('receipt', result)));
  };
  /** Set once a node has rejected a block hash and accepted the number. */
  let needsNumber = false;
  /** Cleared once a node has returned all receipts of a block, but only one by one. */
  let hasBlockReceipts = true;

  /** Calls at a block hash. If the node does not support that, at the number, with the hash checked before and after. */
  async function callAtBlock(block: BlockId, calls: (at: unknown) => RpcCall[]): Promise<unknown[]> {
    if (!needsNumber) {
      try {
        return await rpc.batch(calls({ blockHash: block.hash }));
      } catch (error) {
        if (!(error instanceof RpcError) || error.fault !== 'refused' || isCallFailure(error)) throw error;
      }
    }
    await requireHash(block);
    const results = await rpc.batch(calls(toTag(block.number)));
    await requireHash(block);
    needsNumber = true;
    return results;
  }

  return {
    chainId: async () => parseQuantity('chain id', await rpc.call('eth_chainId', [])),
    /** A header and, in the same request, the chain id. The header is null if the node does not have the block. */
    async headerAndChainId(block: BlockTag) {
      // The block comes first: if the URL switches to another chain in between, the id shows it.
      const [header, id] = await rpc.batch([headerCall(block), { method: 'eth_chainId', params: [] }]);
      return { chainId: parseQuantity('chain id', id), header: parseHeader(header, block) };
    },
    /** Null if the node does not have the block. */
    header: getHeader,
    /** Null if the node does not have the block. */
    headerOf: getHeaderOf,
    /** Throws if the node does not have all of them. */
    async headers(numbers: readonly number[]) {
      const results = await rpc.batch(numbers.map(headerCall));
      return results.map((result, position) => {
        const header = parseHeader(result, numbers[position] as number);
        if (header === null) throw malformed(`block ${numbers[position]}`, result);
        return header;
      });
    },
    async logs(filter: LogFilter, from: number, to: number) {
      const found = await getLogs(filter, { fromBlock: toTag(from), toBlock: toTag(to) });
      const stray = found.find(({ blockNumber }) => blockNumber < from || blockNumber > to);
      if (stray !== undefined) throw malformed(`block of a log in ${from} to ${to}`, stray.blockNumber);
      return found;
    },
    async blockLogs(filter: LogFilter, hash: Bytes32) {
      const found = await getLogs(filter, { blockHash: hash });
      const stray = found.find(({ blockHash }) => blockHash !== hash);
      if (stray !== undefined) throw malformed(`block of a log in ${hash}`, stray.blockHash);
      return found;
    },
    /** The receipts of all transactions of a block, in order. Throws if the node does not have them. */
    async blockReceipts(block: BlockId) {
      if (hasBlockReceipts) {
        const receipts = await rpc.call('eth_getBlockReceipts', [block.hash]).catch(nullIfRefused);
        if (Array.isArray(receipts)) return receipts.map((receipt) => parseObject('receipt', receipt));
      }
      const own = await getHeaderOf(block.hash);
      const found = own === null ? [null] : await getReceipts(parseHashes(own));
      const receipts = found.filter((receipt) => receipt !== null);
      if (receipts.length < found.length) throw new RpcError('refused', `no receipts of block ${block.number}`);
      hasBlockReceipts = false;
      return receipts;
    },
    /** Null for each transaction that the node does not have. */
    async transactions(hashes: readonly Bytes32[]) {
      const results = await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })));
      return results.map((result): Transaction | null => {
        if (result === null) return null;
        const { from, to, input } = parseObject('transaction', result);
        return {
          from: parseAddress('sender', from),
          to: to === null || to === undefined ? null : parseAddress('recipient', to),
          input: parseHex('input', input),
        };
      });
    },
    /** Null for each receipt that the node does not have. */
    receipts: getReceipts,
    /** The return data of each call, at the end of a block. */
    async ethCall(to: Address, data: readonly string[], block: BlockId) {
      const results = await callAtBlock(block, (at) =>
        data.map((one) => ({ method: 'eth_call', params: [{ to, data: one }, at] })),
      );
      return results.map((result) => parseHex('return data', result));
    },
    /** The words of a contract's storage, at the end of a block. */
    async storageAt(address: Address, slots: readonly Bytes32[], block: BlockId) {
      const results = await callAtBlock(block, (at) =>
        slots.map((slot) => ({ method: 'eth_getStorageAt', params: [address, slot, at] })),
      );
      return results.map((result) => parseUint256('storage', result));
    },
    /** The same with an EIP-1186 proof, as the node returned it. */
    async storageProof(address: Address, slots: readonly Bytes32[], block: BlockId) {
      const [result] = await callAtBlock(block, (at) => [{ method: 'eth_getProof', params: [address, slots, at] }]);
      return result;
    },
    hasCode: async (address: Address, block: BlockTag) =>
      parseHex('code', await rpc.call('eth_getCode', [address, toTag(block)])) !== '0x',
    /** Whether the node has state of a block: the zero address has a balance on every chain. */
    async hasState(block: number) {
      const balance = await rpc.call('eth_getBalance', [ZERO_ADDRESS, toTag(block)]);
      return typeof balance === 'string' && /[1-9a-f]/i.test(balance.slice(2));
    },
  };
}

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

function parseMatching(pattern: RegExp, what: string, value: unknown) {
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(what, value);
  return value.toLowerCase() as `0x${string}`;
}

const BYTES32 = /^0x[0-9a-f]{64}$/i;
export const isBytes32 = (value: unknown): value is Bytes32 => typeof value === 'string' && BYTES32.test(value);
const parseBytes32 = (what: string, value: unknown): Bytes32 => parseMatching(BYTES32, what, value);
const parseAddress = (what: string, value: unknown): Address => parseMatching(/^0x[0-9a-f]{40}$/i, what, value);
export const parseHex = (what: string, value: unknown): string => parseMatching(/^0x([0-9a-f]{2})*$/i, what, value);
export const parseUint256 = (what: string, value: unknown): bigint =>
  BigInt(parseMatching(/^0x[0-9a-f]{1,64}$/i, what, value));

export function parseObject(what: string, value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what, value);
  return value as Json;
}

/** Null if the node does not have the block. */
export function parseHeader(value: unknown, requested: BlockTag | Bytes32) {
  if (value === null) return null;
  const json = parseObject('block', value);
  const { number, hash, parentHash, timestamp, logsBloom } = json;
  const header = {
    /** As the node returned it, for the proof of its hash. */
    json,
    number: parseQuantity('block number', number),
    hash: parseBytes32('block hash', hash),
    parentHash: parseBytes32('parent hash', parentHash),
    /** Unix seconds. */
    timestamp: parseQuantity('timestamp', timestamp),
    /** Null if the node does not return one. */
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

function parseLog(value: unknown) {
  const log = parseObject('log', value);
  // A log of a block that is no longer on the chain.
  if (log['removed'] === true) throw malformed('log (removed) of block', log['blockNumber']);
  if (!Array.isArray(log['topics'])) throw malformed('topics', log['topics']);
  const topics: readonly string[] = log['topics'].map((topic) => parseBytes32('topic', topic));
  return {
    address: parseAddress('log address', log['address']),
    topics,
    data: parseHex('data', log['data']),
    blockNumber: parseQuantity('block number', log['blockNumber']),
    blockHash: parseBytes32('block hash', log['blockHash']),
    /** Unix seconds. Null if the node does not return it. */
    blockTimestamp: parseTime(log['blockTimestamp']),
    /** All zeros if the node does not return it. */
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

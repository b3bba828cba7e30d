// The JSON-RPC methods that the follower uses, with typed results.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import type { Transaction } from '../../registry/v1-revocation.ts';
import {
  type BlockTag,
  type Header,
  malformed,
  type NodeLog,
  parseAddress,
  parseHashes,
  parseHeader,
  parseHex,
  parseLogs,
  parseObject,
  parseQuantity,
  parseUint256,
} from './parse-response.ts';
import { type Rpc, type RpcCall, RpcError } from './rpc.ts';

export type { BlockTag, Header, NodeLog };

export interface LogFilter {
  readonly address: readonly Address[];
  readonly topics: readonly (readonly string[])[];
}

export type BlockId = { readonly number: number; readonly hash: Bytes32 };

const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as const;

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
        try {
          const receipts = await rpc.call('eth_getBlockReceipts', [block.hash]);
          if (Array.isArray(receipts)) return receipts.map((receipt) => parseObject('receipt', receipt));
        } catch (error) {
          if (!(error instanceof RpcError) || error.fault !== 'refused') throw error;
        }
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
    hasCode: async (address: Address, block: number) =>
      parseHex('code', await rpc.call('eth_getCode', [address, toTag(block)])) !== '0x',
    /** Whether the node has state of a block: the zero address has a balance on every chain. */
    async hasState(block: number) {
      const balance = await rpc.call('eth_getBalance', [ZERO_ADDRESS, toTag(block)]);
      return typeof balance === 'string' && /[1-9a-f]/i.test(balance.slice(2));
    },
  };
}

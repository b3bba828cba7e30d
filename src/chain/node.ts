// What the follower asks of a node, and the shape that each answer must have: whatever does not fit is no answer.

import type { Address, Bytes32 } from '../registry/delegation.ts';
import type { Transaction } from '../registry/v1-revocation.ts';
import { type Rpc, type RpcCall, RpcError } from './rpc.ts';

export interface Header {
  readonly number: number;
  readonly hash: Bytes32;
  readonly parentHash: Bytes32;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Null where the node gives none. */
  readonly bloom: string | null;
}

export interface NodeLog {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: number;
  readonly blockHash: Bytes32;
  /** Unix seconds, where the node says. */
  readonly blockTimestamp: number | null;
  readonly transactionHash: Bytes32;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

export interface LogFilter {
  readonly address: readonly Address[];
  readonly topics: readonly (readonly string[])[];
}

export type BlockId = { readonly number: number; readonly hash: Bytes32 };

export type BlockTag = number | 'latest' | 'finalized';

export interface Node {
  chainId(): Promise<number>;
  /** A block and, in the same request, whose chain it is. Null where the node does not know the block. */
  headerAndChainId(block: BlockTag): Promise<{ readonly chainId: number; readonly header: Header | null }>;
  /** Null where the node does not know the block. */
  header(block: BlockTag): Promise<Header | null>;
  /** All of them, or an error. */
  headers(numbers: readonly number[]): Promise<Header[]>;
  logs(filter: LogFilter, from: number, to: number): Promise<NodeLog[]>;
  blockLogs(filter: LogFilter, hash: Bytes32): Promise<NodeLog[]>;
  /** The transactions that a block has; null where the node does not have the block, or does not say. */
  blockTransactionHashes(block: BlockId): Promise<ReadonlySet<string> | null>;
  /** Null for each that the node does not know. */
  transactions(hashes: readonly Bytes32[]): Promise<(Transaction | null)[]>;
  /** The logs of each transaction; null where the node does not know it. */
  receipts(hashes: readonly Bytes32[]): Promise<(NodeLog[] | null)[]>;
  /** Return data of each call, at the end of a block. */
  ethCall(to: Address, data: readonly string[], block: BlockId): Promise<string[]>;
  /** Words of a contract's storage, at the end of a block. */
  storageAt(of: Address, slots: readonly Bytes32[], block: BlockId): Promise<string[]>;
  hasCode(address: Address, block: number): Promise<boolean>;
  /** Whether the node has any state of a block: an account that every chain pays into had something then. */
  hasState(block: number): Promise<boolean>;
}

const bad = (what: string, value: unknown): RpcError => new RpcError('malformed', `${what}: ${shown(value)}`);
// Only what can be no key of the operator's is repeated.
const shown = (value: unknown) =>
  value === null || typeof value === 'number' || (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value))
    ? String(value).slice(0, 60)
    : `a ${typeof value}`;

function quantity(what: string, value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw bad(what, value);
  return number;
}

function bytes32(what: string, value: unknown): Bytes32 {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) throw bad(what, value);
  return value.toLowerCase() as Bytes32;
}

function address(what: string, value: unknown): Address {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value)) throw bad(what, value);
  return value.toLowerCase() as Address;
}

function hex(what: string, value: unknown): string {
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) throw bad(what, value);
  return value.toLowerCase();
}

type Fields = Readonly<Record<string, unknown>>;
function fields(what: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(what, value);
  return value as Fields;
}

const tagOf = (block: BlockTag) => (typeof block === 'number' ? `0x${block.toString(16)}` : block);

function headerOf(value: unknown, asked: BlockTag): Header | null {
  if (value === null) return null;
  const { number, hash, parentHash, timestamp, logsBloom } = fields('a block', value);
  const header = {
    number: quantity('block number', number),
    hash: bytes32('block hash', hash),
    parentHash: bytes32('parent hash', parentHash),
    timestamp: quantity('timestamp', timestamp),
    bloom: typeof logsBloom === 'string' && /^0x[0-9a-f]{512}$/i.test(logsBloom) ? logsBloom.toLowerCase() : null,
  };
  if (typeof asked === 'number' && header.number !== asked) throw bad(`block ${asked}`, number);
  return header;
}

/** The call itself failed in the contract: no other way to name the block would help. */
const isAboutCall = ({ code, message }: RpcError) =>
  code === 3 || /revert|out of gas|gas required|gas limit/i.test(message);
const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as const;
const ZERO_HASH = `0x${'0'.repeat(64)}` as const;

function logOf(value: unknown): NodeLog {
  const log = fields('a log', value);
  // A log of a block that is no longer the chain's says nothing about the chain.
  if (log['removed'] === true) throw bad('a removed log', log['blockNumber']);
  const topics = log['topics'];
  if (!Array.isArray(topics)) throw bad('topics', topics);
  return {
    address: address('log address', log['address']),
    topics: topics.map((topic) => bytes32('topic', topic)),
    data: hex('data', log['data']),
    blockNumber: quantity('log block', log['blockNumber']),
    blockHash: bytes32('log block hash', log['blockHash']),
    blockTimestamp: timeOf(log['blockTimestamp']),
    transactionHash: log['transactionHash'] == null ? ZERO_HASH : bytes32('transaction', log['transactionHash']),
    transactionIndex: log['transactionIndex'] == null ? 0 : quantity('transaction index', log['transactionIndex']),
    logIndex: quantity('log index', log['logIndex']),
  };
}

/** A field that no node must give: what makes no sense counts as not given. */
function timeOf(value: unknown): number | null {
  const time = typeof value === 'string' && /^0x[0-9a-f]{1,12}$/i.test(value) ? Number(value) : 0;
  return time === 0 ? null : time;
}

function logsOf(value: unknown): NodeLog[] {
  if (!Array.isArray(value)) throw bad('logs', value);
  return value.map(logOf);
}

export function createNode(rpc: Rpc): Node {
  const logs = async (filter: LogFilter, where: object) =>
    logsOf(await rpc.call('eth_getLogs', [{ address: filter.address, topics: filter.topics, ...where }]));
  const headerAt = async (block: BlockTag) =>
    headerOf(await rpc.call('eth_getBlockByNumber', [tagOf(block), false]), block);
  const requireHash = async ({ number, hash }: BlockId) => {
    const header = await headerAt(number);
    if (header?.hash !== hash) throw bad(`block ${number}`, header?.hash ?? null);
  };
  /** Some nodes do not know blocks by hash, and say so in many ways. */
  let byNumber = false;

  /** By hash, for a number may be another block's by now; by number where the node must have it so. */
  async function atBlock(block: BlockId, calls: (at: unknown) => RpcCall[]): Promise<unknown[]> {
    if (!byNumber) {
      try {
        return await rpc.batch(calls({ blockHash: block.hash }));
      } catch (error) {
        if (!(error instanceof RpcError) || error.fault !== 'refused' || isAboutCall(error)) throw error;
      }
    }
    await requireHash(block);
    const found = await rpc.batch(calls(tagOf(block.number)));
    await requireHash(block);
    byNumber = true;
    return found;
  }

  return {
    chainId: async () => quantity('chain id', await rpc.call('eth_chainId', [])),
    async headerAndChainId(block) {
      // The block first: a URL that leads to another chain from some moment on cannot give a block of it and our id then.
      const [header, id] = await rpc.batch([
        { method: 'eth_getBlockByNumber', params: [tagOf(block), false] },
        { method: 'eth_chainId', params: [] },
      ]);
      return { chainId: quantity('chain id', id), header: headerOf(header, block) };
    },
    header: headerAt,
    async headers(numbers) {
      const calls = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [tagOf(number), false] }));
      const answers = await rpc.batch(calls);
      return answers.map((answer, position) => {
        const header = headerOf(answer, numbers[position] as number);
        if (header === null) throw bad(`block ${numbers[position]}`, answer);
        return header;
      });
    },
    async logs(filter, from, to) {
      const found = await logs(filter, { fromBlock: tagOf(from), toBlock: tagOf(to) });
      const stray = found.find(({ blockNumber }) => blockNumber < from || blockNumber > to);
      if (stray !== undefined) throw bad(`a log of ${from} to ${to}`, stray.blockNumber);
      return found;
    },
    async blockLogs(filter, hash) {
      const found = await logs(filter, { blockHash: hash });
      const stray = found.find(({ blockHash }) => blockHash !== hash);
      if (stray !== undefined) throw bad(`a log of block ${hash}`, stray.blockHash);
      return found;
    },
    async blockTransactionHashes({ number, hash }) {
      const answer = await rpc.call('eth_getBlockByNumber', [tagOf(number), false]);
      if (headerOf(answer, number)?.hash !== hash) return null;
      const { transactions } = fields('a block', answer);
      if (!Array.isArray(transactions)) return null;
      return new Set(transactions.map((one) => bytes32('transaction', one)));
    },
    async transactions(hashes) {
      const answers = await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })));
      return answers.map((answer) => {
        if (answer === null) return null;
        const { from, to, input } = fields('a transaction', answer);
        return {
          from: address('sender', from),
          to: to === null || to === undefined ? null : address('recipient', to),
          input: hex('input', input),
        };
      });
    },
    async receipts(hashes) {
      const answers = await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })));
      return answers.map((answer) => (answer === null ? null : logsOf(fields('a receipt', answer)['logs'])));
    },
    async ethCall(to, data, block) {
      const answers = await atBlock(block, (at) =>
        data.map((one) => ({ method: 'eth_call', params: [{ to, data: one }, at] })),
      );
      return answers.map((answer) => hex('return data', answer));
    },
    async storageAt(of, slots, block) {
      const answers = await atBlock(block, (at) =>
        slots.map((slot) => ({ method: 'eth_getStorageAt', params: [of, slot, at] })),
      );
      return answers.map((answer) => hex('storage', answer));
    },
    hasCode: async (of, block) => hex('code', await rpc.call('eth_getCode', [of, tagOf(block)])) !== '0x',
    async hasState(block) {
      const balance = await rpc.call('eth_getBalance', [ZERO_ADDRESS, tagOf(block)]);
      return typeof balance === 'string' && /[1-9a-f]/i.test(balance.slice(2));
    },
  };
}

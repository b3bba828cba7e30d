// A fake JSON-RPC node on a real socket: it serves a chain with the logs of both registries, and can have any fault.

import { receiptsRoot } from '../../src/chain/prove/receipts.ts';
import type { Json } from '../../src/chain/rpc/node.ts';
import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import { keccakBytes } from '../../src/registry/keccak.ts';
import { type RegistryCall, versionOf } from '../../src/registry/registry-call.ts';
import { serveInProcess } from './in-process.ts';
import { createModel, type Model } from './model.ts';
import {
  answerOf,
  getterOf,
  type History,
  proofOf,
  stateAfter,
  stateRootOf,
  storedWord,
  word,
} from './registry-state.ts';
import { sealed } from './sealed.ts';
import { MAINNET } from './vectors.ts';

interface FakeLog {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface FakeTransaction {
  readonly hash: Bytes32;
  readonly from: Address;
  readonly to: Address;
  readonly input: string;
  readonly logs: readonly FakeLog[];
}

export interface FakeBlock {
  readonly number: number;
  readonly hash: Bytes32;
  readonly parentHash: Bytes32;
  readonly timestamp: number;
  readonly transactions: readonly FakeTransaction[];
  /** Return data of a v1 getter for a wallet, at the end of this block. */
  readonly v1State: (vault: Address, selector: string) => string;
  /** The registries' own checks, at the end of this block. */
  readonly check?: (data: string) => string | null;
  /** A slot of the v1 registry, at the end of this block. */
  readonly storage?: (slot: string) => string;
  /** What `eth_getProof` returns at the end of this block. */
  readonly proof?: (address: Address, slots: readonly Bytes32[]) => unknown;
  /** The other fields of the header. With them, its fields hash to its hash. */
  readonly header?: Readonly<Record<string, string>>;
}

export interface Question {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: parameters are what each method takes
  readonly params: any[];
}

/** Thrown by a fault: becomes a JSON-RPC error. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returned by a fault: no response is ever sent. */
export const NO_ANSWER = Symbol('no answer');

/** Changes the honest answer, throws, or returns its own Response or NO_ANSWER. */
export type Fault = (question: Question, honest: () => unknown) => unknown;

/** The same of a node that serves no proofs. */
export const withoutProofs =
  (fault: Fault): Fault =>
  (question, honest) => {
    if (question.method === 'eth_getProof') throw new Refusal(-32_601, 'the method eth_getProof does not exist');
    return fault(question, honest);
  };

export interface FakeNode {
  readonly url: string;
  readonly port: number;
  /** The chain as this node sees it. */
  chain: readonly FakeBlock[];
  fault: Fault | null;
  chainId: number;
  /** Number of blocks between the head and the finalized block; null if the tag is not supported. */
  finalizedDepth: number | null;
  /** The first block at whose end the registries have code. */
  codeSince: number;
  /** Returns the honest answer to a request, or throws a Refusal. */
  answer(question: Question): unknown;
  /** Number of calls by method. */
  readonly calls: Map<string, number>;
  stop(): Promise<void>;
}

const hexOf = (value: number) => `0x${value.toString(16)}`;

/** Listens on a socket, or only for the fetch of this process, which is twice as fast. */
export function startFakeNode(chain: readonly FakeBlock[] = [], where: 'socket' | 'process' = 'socket'): FakeNode {
  const calls = new Map<string, number>();
  const respond = async (body: Body | Body[]): Promise<unknown> => {
    const answers = [];
    for (const question of Array.isArray(body) ? body : [body]) {
      calls.set(question.method, (calls.get(question.method) ?? 0) + 1);
      try {
        const honest = () => answer(node, question);
        const result = node.fault === null ? honest() : await node.fault(question, honest);
        if (result instanceof Response || result === NO_ANSWER) return result;
        answers.push({ jsonrpc: '2.0', id: question.id, result });
      } catch (error) {
        const { code = -32000, message } = error as Partial<Refusal> & Error;
        answers.push({ jsonrpc: '2.0', id: question.id, error: { code, message } });
      }
    }
    return Array.isArray(body) ? answers : answers[0];
  };
  const server = where === 'socket' ? serveOnSocket(respond) : serveInProcess(respond, NO_ANSWER);
  const node: FakeNode = {
    url: server.url,
    port: server.port,
    chain,
    fault: null,
    chainId: 1,
    finalizedDepth: 10,
    codeSince: 0,
    answer: (question) => answer(node, question),
    calls,
    stop: server.stop,
  };
  return node;
}

type Body = Question & { readonly id: number };

function serveOnSocket(respond: (body: Body | Body[]) => Promise<unknown>) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const result = await respond((await request.json()) as Body | Body[]);
      if (result === NO_ANSWER) return new Promise<Response>(() => {});
      return result instanceof Response ? result : Response.json(result);
    },
  });
  const port = server.port as number;
  return { url: `http://127.0.0.1:${port}`, port, stop: () => server.stop(true) };
}

/** Blocks and transactions of a chain, by hash. */
interface Index {
  readonly blocks: ReadonlyMap<string, FakeBlock>;
  readonly transactions: ReadonlyMap<string, readonly [FakeBlock, FakeTransaction]>;
}

const indexes = new WeakMap<readonly FakeBlock[], Index>();

/** Built once for each chain: a chain that has grown is a new array. */
function indexOf(chain: readonly FakeBlock[]): Index {
  let index = indexes.get(chain);
  if (index === undefined) {
    index = {
      blocks: new Map(chain.map((block) => [block.hash, block])),
      transactions: new Map(
        chain.flatMap((block) => block.transactions.map((one) => [one.hash, [block, one]] as const)),
      ),
    };
    indexes.set(chain, index);
  }
  return index;
}

export type Tag = string | { readonly blockHash: string };

/** Resolves a tag, a number or a hash to a block; undefined if the node does not have it. */
export function blockAt({ chain, finalizedDepth }: FakeNode, tag: Tag): FakeBlock | undefined {
  if (typeof tag === 'object') return indexOf(chain).blocks.get(tag.blockHash);
  if (tag === 'latest') return chain.at(-1);
  if (tag === 'finalized') {
    if (finalizedDepth === null) throw new Refusal(-32602, 'unknown block tag');
    return chain[Math.max(0, chain.length - 1 - finalizedDepth)];
  }
  return chain[Number(tag) - (chain[0]?.number ?? 0)];
}

function answer(node: FakeNode, { method, params }: Question): unknown {
  const { chain } = node;
  const at = (tag: Tag) => blockAt(node, tag);
  const stateAt = (tag: Tag): FakeBlock => {
    const block = at(tag);
    if (block === undefined) throw new Refusal(-32000, 'header not found');
    return block;
  };
  switch (method) {
    case 'eth_chainId':
      return hexOf(node.chainId);
    case 'eth_getBlockByNumber': {
      const block = at(params[0]);
      return block === undefined ? null : headerJson(block);
    }
    case 'eth_getBlockByHash': {
      const block = at({ blockHash: params[0] });
      return block === undefined ? null : headerJson(block);
    }
    case 'eth_getBlockReceipts': {
      const block = at({ blockHash: params[0] });
      return block === undefined ? null : receiptsJson(block);
    }
    case 'eth_getLogs': {
      const [filter] = params;
      if (filter.blockHash !== undefined) {
        const block = at(filter);
        if (block === undefined) throw new Refusal(-32000, 'unknown block');
        return logsJson(block, filter);
      }
      const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
      if (from > to) throw new Refusal(-32602, 'from is beyond to');
      const first = chain[0]?.number ?? 0;
      return chain
        .slice(Math.max(0, from - first), Math.max(0, to - first + 1))
        .flatMap((block) => logsJson(block, filter));
    }
    case 'eth_getTransactionByHash': {
      const found = indexOf(chain).transactions.get(params[0]);
      if (found === undefined) return null;
      const [block, { hash, from, to, input }] = found;
      return { hash, from, to, input, blockHash: block.hash, blockNumber: hexOf(block.number) };
    }
    case 'eth_getTransactionReceipt': {
      const [block] = indexOf(chain).transactions.get(params[0]) ?? [];
      return block === undefined ? null : receiptsJson(block).find((one) => one['transactionHash'] === params[0]);
    }
    case 'eth_call': {
      const [{ data }, tag] = params;
      const block = stateAt(tag);
      return block.check?.(data) ?? block.v1State(`0x${data.slice(-40)}`, data.slice(0, 10));
    }
    case 'eth_getStorageAt': {
      const [address, slot, tag] = params;
      const { storage } = stateAt(tag);
      const isV1 = address.toLowerCase() === MAINNET.registries[1];
      return isV1 && storage !== undefined ? storage(slot) : `0x${word(0n)}`;
    }
    case 'eth_getProof': {
      const [address, slots, tag] = params;
      const { proof } = stateAt(tag);
      if (proof === undefined) throw new Refusal(-32601, 'no method eth_getProof');
      return proof(address, slots);
    }
    case 'eth_getBalance':
      stateAt(params[1]);
      return '0x1';
    case 'eth_getCode': {
      // Test chains start at a high number: earlier blocks exist, but are empty.
      const isNumber = typeof params[1] === 'string' && params[1].startsWith('0x');
      const number = isNumber ? Number(params[1]) : stateAt(params[1]).number;
      return number >= node.codeSince ? '0x60' : '0x';
    }
    default:
      throw new Refusal(-32601, `no method ${method}`);
  }
}

interface Filter {
  address?: readonly string[];
  topics?: readonly (readonly string[])[];
}

export function logsJson(block: FakeBlock, { address, topics }: Filter) {
  let logIndex = 0;
  return block.transactions.flatMap((transaction, position) =>
    transaction.logs.flatMap((log) => {
      const json = {
        address: log.address,
        topics: log.topics,
        data: log.data,
        blockNumber: hexOf(block.number),
        blockHash: block.hash,
        transactionHash: transaction.hash,
        transactionIndex: hexOf(position),
        logIndex: hexOf(logIndex++),
        removed: false,
      };
      const wanted =
        (address?.includes(log.address.toLowerCase()) ?? true) && (topics?.[0]?.includes(log.topics[0] ?? '') ?? true);
      return wanted ? [json] : [];
    }),
  );
}

export const headerJson = (block: FakeBlock) => ({
  ...block.header,
  number: hexOf(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: hexOf(block.timestamp),
  logsBloom: block.header?.['logsBloom'] ?? bloomOf(block),
  transactions: block.transactions.map(({ hash }) => hash),
});

const bloomOf = ({ transactions }: Pick<FakeBlock, 'transactions'>) =>
  bloomOfLogs(transactions.flatMap(({ logs }) => logs));

const hashes = new Map<string, Uint8Array>();

const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
const EMPTY_ROOT = receiptsRoot([]);

export function bloomOfLogs(logs: readonly FakeLog[]): string {
  if (logs.length === 0) return EMPTY_BLOOM;
  const bloom = new Uint8Array(256);
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      const hash = hashes.get(value) ?? keccakBytes(Uint8Array.fromHex(value.slice(2)));
      hashes.set(value, hash);
      for (const at of [0, 2, 4]) {
        const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
        bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] as number) | (1 << (bit & 7));
      }
    }
  }
  return `0x${bloom.toHex()}`;
}

const receipts = new WeakMap<FakeBlock, Json[]>();

/** The receipts of all transactions of a block. */
export function receiptsJson(block: FakeBlock): readonly Json[] {
  let found = receipts.get(block);
  if (found === undefined) {
    const logs = logsJson(block, {});
    found = receiptsOf(block.transactions).map((receipt) => ({
      ...receipt,
      blockHash: block.hash,
      blockNumber: hexOf(block.number),
      logs: logs.filter(({ transactionHash }) => transactionHash === receipt['transactionHash']),
    }));
    receipts.set(block, found);
  }
  return found;
}

const receiptsOf = (transactions: readonly FakeTransaction[]): Json[] =>
  transactions.map(({ hash, logs }, position) => ({
    transactionHash: hash,
    transactionIndex: hexOf(position),
    status: '0x1',
    type: '0x2',
    cumulativeGasUsed: hexOf(50_000 * (position + 1)),
    logsBloom: bloomOfLogs(logs),
    logs,
  }));

/** The header of a block, with the hash that its fields give. */
export const sealedHeader = (
  { number, parentHash, timestamp, transactions }: Omit<FakeBlock, 'hash' | 'v1State'>,
  stateRoot: string,
  { extraData = '0x', isBloomFull = false } = {},
) =>
  sealed({
    ...{ number, parentHash, timestamp, stateRoot, extraData },
    receiptsRoot: transactions.length === 0 ? EMPTY_ROOT : receiptsRoot(receiptsOf(transactions)),
    logsBloom: isBloomFull ? `0x${'f'.repeat(512)}` : bloomOf({ transactions }),
    gasUsed: 50_000 * transactions.length,
  });

const TOPICS: Readonly<Record<string, string>> = {
  'v1.delegateForAll': '0x58781eab4a0743ab1c285a238be846a235f06cdb5b968030573a635e5f8c92fa',
  'v1.delegateForContract': '0x8d6b2f5255b8d815cc368855b2251146e003bf4e2fcccaec66145fff5c174b4f',
  'v1.delegateForToken': '0xe89c6ba1e8957285aed22618f52aa1dcb9d5bb64e1533d8b55136c72fcf5aa5d',
  'v1.revokeAllDelegates': '0x32d74befd0b842e19694e3e3af46263e18bcce41352c8b600ff0002b49edf662',
  'v1.revokeDelegate': '0x3e34a3ee53064fb79c0ee57448f03774a627a9270b0c41286efb7d8e32dcde93',
  'v1.revokeSelf': '0x3e34a3ee53064fb79c0ee57448f03774a627a9270b0c41286efb7d8e32dcde93',
  'v2.delegateAll': '0xda3ef6410e30373a9137f83f9781a8129962b6882532b7c229de2e39de423227',
  'v2.delegateContract': '0x021be15e24de4afc43cfb5d0ba95ca38e0783571e05c12bbe6aece8842ae82df',
  'v2.delegateERC721': '0x15e7a1bdcd507dd632d797d38e60cc5a9c0749b9a63097a215c4d006126825c6',
  'v2.delegateERC20': '0x6ebd000dfc4dc9df04f723f827bae7694230795e8f22ed4af438e074cc982d18',
  'v2.delegateERC1155': '0x27ab1adc9bca76301ed7a691320766dfa4b4b1aa32c9e05cf789611be7f8c75f',
};

const encoded = (value: string | boolean) =>
  word(typeof value === 'string' && value.startsWith('0x') ? value : BigInt(value));

/** The log of a call, as the registries emit it. */
export function logOfCall([registry, caller, name, args]: RegistryCall): FakeLog {
  const topic = TOPICS[`${registry}.${name}`] as string;
  if (registry === 'v1') {
    // The log of a revocation of one delegate names the vault, and who sent the revocation.
    const named = { revokeDelegate: [caller, caller], revokeSelf: [args[0] ?? '', caller] }[name] ?? [caller, ...args];
    const address = MAINNET.registries[1] as Address;
    return { address, topics: [topic], data: `0x${named.map(encoded).join('')}` };
  }
  // The delegate, and the contract if there is one, are indexed like the vault.
  const indexed = name === 'delegateAll' ? 1 : 2;
  return {
    address: MAINNET.registries[2] as Address,
    topics: [topic, ...[caller, ...args.slice(0, indexed)].map((value) => `0x${encoded(value)}`)],
    data: `0x${args.slice(indexed).map(encoded).join('')}`,
  };
}

/** A contract between wallet and registry: its transaction input does not show the registry call. */
const RELAY: Address = `0x${'ba'.repeat(20)}`;

export interface FakeCall {
  readonly call: RegistryCall;
  /** The wallet calls the registry directly. */
  readonly direct: boolean;
  /** In the same transaction as the call before it. */
  readonly joined?: boolean;
}

interface ChainOptions {
  /** Different marks give different hashes. */
  readonly mark?: number;
  /** Without proofs, the hashes of blocks do not depend on what is in them, as on some chains. */
  readonly isProvable?: boolean;
  /** Blooms that say nothing, as on busy chains. */
  readonly isBloomFull?: boolean;
}

/**
 * Builds blocks from calls, on any branch, and knows the truth at each block.
 */
export function createChainMaker(first: number, seconds = 12, start = 1_700_000_000, options: ChainOptions = {}) {
  const { mark = 0, isProvable = true, isBloomFull = false } = options;
  const histories = new Map<Bytes32, History>();
  let serial = 0;
  const hashOf = (rest: string): Bytes32 =>
    `0x${mark.toString(16).padStart(2, '0')}${(++serial).toString(16).padStart(6, '0')}${rest}`;

  function block(parent: FakeBlock | null, calls: readonly FakeCall[], time = seconds): FakeBlock {
    const number = parent === null ? first : parent.number + 1;
    const serialHash = hashOf(number.toString(16).padStart(56, '0'));
    const before = parent === null ? null : (histories.get(parent.hash) ?? null);
    const history: History = { parent: before, calls: calls.map(({ call }) => call) };
    const transactions: FakeTransaction[] = [];
    for (const { call, direct, joined } of calls) {
      const [, caller, name, args] = call;
      const before = joined ? transactions.pop() : undefined;
      const selector = name === 'revokeDelegate' ? 'fa352c00' : name === 'revokeSelf' ? '219044b0' : '00000000';
      const argument = typeof args[0] === 'string' ? word(args[0]) : '';
      const isDirect = direct && before === undefined;
      transactions.push({
        hash: hashOf(transactions.length.toString(16).padStart(56, 'f')),
        from: isDirect ? (caller as Address) : `0x${'ee'.repeat(20)}`,
        to: isDirect ? (MAINNET.registries[versionOf(call)] as Address) : RELAY,
        input: isDirect ? `0x${selector}${argument}` : '0x12345678',
        logs: [...(before?.logs ?? []), logOfCall(call)],
      });
    }
    const content = {
      number,
      parentHash: parent?.hash ?? (`0x${'0'.repeat(64)}` as const),
      timestamp: (parent?.timestamp ?? start) + time,
      transactions,
    };
    const { proof, ...state } = stateOf(history);
    const stateRoot = () => stateRootOf(stateAfter(history));
    const sealed = isProvable
      ? { ...sealedHeader(content, stateRoot(), { extraData: serialHash, isBloomFull }), proof }
      : { hash: serialHash };
    histories.set(sealed.hash, history);
    return { ...content, ...sealed, ...state };
  }

  const modelAt = (hash: Bytes32): Model => {
    const history = histories.get(hash);
    return history === undefined ? createModel() : stateAfter(history).model;
  };
  return {
    block,
    modelAt,
    /** All active delegations at the end of a block. */
    heldAt: (hash: Bytes32) => modelAt(hash).held(),
    /** All calls up to the end of a block. */
    callsAt(hash: Bytes32): RegistryCall[] {
      const calls: RegistryCall[] = [];
      for (let at = histories.get(hash) ?? null; at !== null; at = at.parent) calls.push(...at.calls);
      return calls;
    },
  };
}

/** Answers state queries at the end of a block from all calls up to it. */
export const stateOf = (history: History): Pick<Required<FakeBlock>, 'v1State' | 'check' | 'storage' | 'proof'> => ({
  v1State(vault, selector) {
    const data = getterOf(stateAfter(history), vault, selector);
    if (data === null) throw new Refusal(-32000, `no getter ${selector}`);
    return data;
  },
  check: (data) => answerOf(stateAfter(history), data),
  storage: (slot) => storedWord(stateAfter(history), slot),
  proof: (address, slots) => proofOf(stateAfter(history), address, slots),
});

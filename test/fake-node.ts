// A node that we write ourselves, on a real socket: a chain of blocks with both registries' logs, and any fault on demand.

import { createKeccak } from 'hash-wasm';
import type { Address, Bytes32, Delegation } from '../src/registry/delegation.ts';
import type { Call } from '../src/sandbox/transactions.ts';
import { createModel } from './model.ts';
import { MAINNET } from './vectors.ts';

const keccak = await createKeccak(256);

export interface FakeLog {
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
}

export interface Question {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: parameters are what each method takes
  readonly params: any[];
}

/** Thrown by a fault: an error as JSON-RPC has it. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Gives another answer than the honest one, or throws, or returns a Response of its own. */
export type Fault = (question: Question, honest: () => unknown) => unknown;

export interface FakeNode {
  readonly url: string;
  readonly port: number;
  /** The chain as this node sees it. */
  chain: readonly FakeBlock[];
  fault: Fault | null;
  chainId: number;
  /** How far behind the tip the finalized block is; null where the tag is unknown. */
  finalizedDepth: number | null;
  /** How many calls of each method came. */
  readonly calls: Map<string, number>;
  stop(): Promise<void>;
}

const hexOf = (value: number) => `0x${value.toString(16)}`;

export function startFakeNode(chain: readonly FakeBlock[] = []): FakeNode {
  const calls = new Map<string, number>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const body = (await request.json()) as (Question & { id: number })[] | (Question & { id: number });
      const answers = [];
      for (const question of Array.isArray(body) ? body : [body]) {
        calls.set(question.method, (calls.get(question.method) ?? 0) + 1);
        try {
          const honest = () => answer(node, question);
          const result = node.fault === null ? honest() : await node.fault(question, honest);
          if (result instanceof Response) return result;
          answers.push({ jsonrpc: '2.0', id: question.id, result });
        } catch (error) {
          const { code = -32000, message } = error as Partial<Refusal> & Error;
          answers.push({ jsonrpc: '2.0', id: question.id, error: { code, message } });
        }
      }
      return Response.json(Array.isArray(body) ? answers : answers[0]);
    },
  });
  const node: FakeNode = {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port as number,
    chain,
    fault: null,
    chainId: 1,
    finalizedDepth: 10,
    calls,
    stop: () => server.stop(true),
  };
  return node;
}

function answer(node: FakeNode, { method, params }: Question): unknown {
  const { chain } = node;
  const tip = chain.at(-1);
  const at = (tag: string | { blockHash: string }): FakeBlock | undefined => {
    if (typeof tag === 'object') return chain.find(({ hash }) => hash === tag.blockHash);
    if (tag === 'latest') return tip;
    if (tag === 'finalized') {
      if (node.finalizedDepth === null) throw new Refusal(-32602, 'unknown block tag');
      return chain[Math.max(0, chain.length - 1 - node.finalizedDepth)];
    }
    return chain[Number(tag) - (chain[0]?.number ?? 0)];
  };
  switch (method) {
    case 'eth_chainId':
      return hexOf(node.chainId);
    case 'eth_getBlockByNumber': {
      const block = at(params[0]);
      return block === undefined ? null : headerJson(block);
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
      return chain.filter(({ number }) => number >= from && number <= to).flatMap((block) => logsJson(block, filter));
    }
    case 'eth_getTransactionByHash': {
      const found = chain.flatMap(({ transactions }) => transactions).find(({ hash }) => hash === params[0]);
      return found === undefined ? null : { hash: found.hash, from: found.from, to: found.to, input: found.input };
    }
    case 'eth_getTransactionReceipt': {
      const block = chain.find(({ transactions }) => transactions.some(({ hash }) => hash === params[0]));
      if (block === undefined) return null;
      return { logs: logsJson(block, {}).filter(({ transactionHash }) => transactionHash === params[0]) };
    }
    case 'eth_call': {
      const [{ data }, tag] = params;
      const block = at(tag);
      if (block === undefined) throw new Refusal(-32000, 'header not found');
      return block.check?.(data) ?? block.v1State(`0x${data.slice(-40)}`, data.slice(0, 10));
    }
    case 'eth_getCode':
      return '0x60';
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
  number: hexOf(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: hexOf(block.timestamp),
  logsBloom: bloomOf(block),
});

function bloomOf({ transactions }: FakeBlock): string {
  const bloom = new Uint8Array(256);
  for (const { address, topics } of transactions.flatMap(({ logs }) => logs)) {
    for (const value of [address, ...topics]) {
      const hash = keccak
        .init()
        .update(Uint8Array.fromHex(value.slice(2)))
        .digest('binary');
      for (const at of [0, 2, 4]) {
        const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
        bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] as number) | (1 << (bit & 7));
      }
    }
  }
  return `0x${bloom.toHex()}`;
}

const word = (value: string | bigint) =>
  typeof value === 'bigint' ? value.toString(16).padStart(64, '0') : value.slice(2).toLowerCase().padStart(64, '0');
const flag = (value: unknown) => (value === true ? '1' : '0').padStart(64, '0');

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

/** The log of a call, as the registries write it. */
export function logOfCall([registry, caller, name, args]: Call): FakeLog {
  const topic = TOPICS[`${registry}.${name}`] as string;
  const [a, b, c, d, e] = args as [string, string, string, string, string];
  const amount = (value: unknown) => word(BigInt(value as string));
  if (registry === 'v1') {
    const parts: Readonly<Record<string, () => string[]>> = {
      delegateForAll: () => [word(caller), word(a), flag(b)],
      delegateForContract: () => [word(caller), word(a), word(b), flag(c)],
      delegateForToken: () => [word(caller), word(a), word(b), amount(c), flag(d)],
      revokeAllDelegates: () => [word(caller)],
      revokeDelegate: () => [word(caller), word(caller)],
      revokeSelf: () => [word(a), word(caller)],
    };
    const address = MAINNET.registries[1] as Address;
    return { address, topics: [topic], data: `0x${(parts[name] as () => string[])().join('')}` };
  }
  const parts: Readonly<Record<string, () => [string[], string[]]>> = {
    delegateAll: () => [[a], [word(b), flag(c)]],
    delegateContract: () => [
      [a, b],
      [word(c), flag(d)],
    ],
    delegateERC721: () => [
      [a, b],
      [amount(c), word(d), flag(e)],
    ],
    delegateERC20: () => [
      [a, b],
      [word(c), amount(d)],
    ],
    delegateERC1155: () => [
      [a, b],
      [amount(c), word(d), amount(e)],
    ],
  };
  const [indexed, words] = (parts[name] as () => [string[], string[]])();
  return {
    address: MAINNET.registries[2],
    topics: [topic, `0x${word(caller)}`, ...indexed.map((value) => `0x${word(value)}`)],
    data: `0x${words.join('')}`,
  };
}

/** A contract that stands between a wallet and the registry: its input tells nothing. */
const BATCHER: Address = `0x${'ba'.repeat(20)}`;

export interface FakeCall {
  readonly call: Call;
  /** Straight from the wallet to the registry. */
  readonly direct: boolean;
}

/** Builds chains of blocks from calls, branch by branch, and knows the truth at each. */
export function createChainMaker(first: number, seconds = 12, start = 1_700_000_000) {
  const models = new Map<Bytes32, readonly Call[]>();
  let serial = 0;

  function block(parent: FakeBlock | null, calls: readonly FakeCall[], time = seconds): FakeBlock {
    const number = parent === null ? first : parent.number + 1;
    const hash: Bytes32 = `0x${(++serial).toString(16).padStart(8, '0')}${number.toString(16).padStart(56, '0')}`;
    const done = [...(parent === null ? [] : (models.get(parent.hash) ?? [])), ...calls.map(({ call }) => call)];
    models.set(hash, done);
    const transactions = calls.map(({ call, direct }, position): FakeTransaction => {
      const [registry, caller, name, args] = call;
      const selector = name === 'revokeDelegate' ? 'fa352c00' : name === 'revokeSelf' ? '219044b0' : '00000000';
      const argument = typeof args[0] === 'string' ? word(args[0]) : '';
      return {
        hash: `0x${(++serial).toString(16).padStart(8, '0')}${position.toString(16).padStart(56, 'f')}`,
        from: direct ? (caller as Address) : `0x${'ee'.repeat(20)}`,
        to: direct ? (MAINNET.registries[registry === 'v1' ? 1 : 2] as Address) : BATCHER,
        input: direct ? `0x${selector}${argument}` : '0x12345678',
        logs: [logOfCall(call)],
      };
    });
    return {
      number,
      hash,
      parentHash: parent?.hash ?? `0x${'0'.repeat(64)}`,
      timestamp: (parent?.timestamp ?? start) + time,
      transactions,
      v1State: (vault, selector) => stateOf(heldAfter(done), vault, selector),
      check: (data) => checkOf(modelAfter(done), data) ?? v2ListOf(heldAfter(done), data),
    };
  }

  return {
    block,
    /** Everything that holds at the end of a block. */
    heldAt: (hash: Bytes32) => heldAfter(models.get(hash) ?? []),
    modelAt: (hash: Bytes32) => modelAfter(models.get(hash) ?? []),
  };
}

function modelAfter(calls: readonly Call[]) {
  const model = createModel();
  for (const call of calls) model.call(call);
  return model;
}

const heldAfter = (calls: readonly Call[]) => modelAfter(calls).held();

function stateOf(held: readonly Delegation[], vault: Address, selector: string): string {
  const own = held.filter(({ version, from }) => version === 1 && from === vault);
  const rows = {
    '0x1b61f675': own.filter(({ kind }) => kind === 'ALL').map(({ to }) => word(to)),
    '0xf956cf94': own
      .filter(({ kind }) => kind === 'CONTRACT')
      .map(({ contract, to }) => word(contract ?? '') + word(to)),
    '0x6f007d87': own
      .filter(({ kind }) => kind === 'TOKEN')
      .map(({ contract, tokenId, to }) => word(contract ?? '') + word(tokenId ?? 0n) + word(to)),
  }[selector];
  if (rows === undefined) throw new Refusal(-32000, `no getter ${selector}`);
  return `0x${word(32n)}${word(BigInt(rows.length))}${rows.join('')}`;
}

const TYPES: Readonly<Record<string, bigint>> = { ALL: 1n, CONTRACT: 2n, ERC721: 3n, ERC20: 4n, ERC1155: 5n };

/** The v2 registry's answer where it is asked for a list; null for any other call. */
function v2ListOf(held: readonly Delegation[], data: string): string | null {
  const wallet = `0x${data.slice(-40)}`;
  const side = ({ '0x42f87c25': 'to', '0x51525e9a': 'from' } as const)[data.slice(0, 10)];
  if (side === undefined) return null;
  const rows = held
    .filter((one) => one.version === 2 && one[side] === wallet)
    .map(({ kind, to, from, rights, contract, tokenId, amount }) =>
      [TYPES[kind] as bigint, to, from, rights ?? '0x', contract ?? '0x', tokenId ?? 0n, amount ?? 0n]
        .map(word)
        .join(''),
    );
  return `0x${word(32n)}${word(BigInt(rows.length))}${rows.join('')}`;
}

/** A registry's answer to one of its checks; null for any other call. */
function checkOf(model: ReturnType<typeof createModel>, data: string): string | null {
  const words = data.slice(10).match(/.{64}/g) ?? [];
  const address = (at: number) => `0x${(words[at] ?? '').slice(24)}`;
  const id = (at: number) => String(BigInt(`0x${words[at]}`));
  const rights = (at: number) => `0x${words[at]}`;
  const [to, from] = [address(0), address(1)];
  const checks: Readonly<Record<string, () => boolean | bigint>> = {
    '0x9c395bc2': () => model.v1('all', to, from),
    '0x90c9a2d0': () => model.v1('contract', to, from, address(2)),
    '0xaba69cf8': () => model.v1('token', to, from, address(2), id(3)),
    '0xe839bd53': () => model.v2('all', to, from, rights(2)),
    '0x8988eea9': () => model.v2('contract', to, from, address(2), rights(3)),
    '0xb9f36874': () => model.v2('erc721', to, from, address(2), id(3), rights(4)),
    '0xba63c817': () => model.v2('erc20', to, from, address(2), rights(3)),
    '0xb8705875': () => model.v2('erc1155', to, from, address(2), id(3), rights(4)),
  };
  const answer = checks[data.slice(0, 10)]?.();
  return answer === undefined ? null : `0x${word(BigInt(answer))}`;
}

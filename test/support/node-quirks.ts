// Known quirks of nodes and providers, as faults of a fake node. A quirk with parameters is a function that takes them; one that
// reads the chain takes its node.

import {
  blockAt,
  type FakeBlock,
  type FakeNode,
  type Fault,
  headerJson,
  NO_ANSWER,
  type Question,
  Refusal,
  type Tag,
} from './fake-node.ts';
import { below, pickFrom, type Random } from './random.ts';
import { word } from './registry-state.ts';

export type FaultMaker = (random: Random, node: FakeNode) => Fault;

interface LogJson {
  readonly topics: readonly string[];
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
}

const hexOf = (value: number) => `0x${value.toString(16)}`;
const isLogs = (method: string) => method === 'eth_getLogs';
const isRange = ({ method, params: [filter] }: Question) => isLogs(method) && filter.blockHash === undefined;

/** Changes the answer to one method. */
export const on =
  (method: string, change: (honest: () => unknown, params: readonly unknown[]) => unknown): Fault =>
  (question, honest) =>
    question.method === method ? change(honest, question.params) : honest();

/** Combines quirks; the first is the outermost. Each must return synchronously, and not its own Response. */
export const together =
  (...faults: readonly Fault[]): Fault =>
  (question, honest) =>
    faults.reduceRight<() => unknown>((inner, fault) => () => fault(question, inner), honest)();

/** Changes every eth_getLogs response, by range and by block hash. */
const everyLogs = (change: (logs: readonly LogJson[]) => unknown): Fault =>
  on('eth_getLogs', (honest) => change(honest() as LogJson[]));

/** Changes eth_getLogs responses by range only. */
const rangeLogs =
  (change: (logs: readonly LogJson[]) => unknown): Fault =>
  (question, honest) =>
    isRange(question) ? change(honest() as LogJson[]) : honest();

/** Changes each log, in eth_getLogs responses and in receipts. */
const eachLog =
  (change: (log: LogJson) => object): Fault =>
  ({ method }, honest) => {
    const answer = honest();
    if (isLogs(method)) return (answer as LogJson[]).map(change);
    if (method !== 'eth_getTransactionReceipt' || answer === null) return answer;
    return { ...(answer as object), logs: (answer as { logs: LogJson[] }).logs.map(change) };
  };

/** Answers as if the node had another chain. */
export function seeing<T>(node: FakeNode, chain: readonly FakeBlock[], ask: () => T): T {
  const own = node.chain;
  node.chain = chain;
  try {
    return ask();
  } finally {
    node.chain = own;
  }
}

/** Answers from another chain, made from the node's own whenever that has changed. */
export function showing(node: FakeNode, change: (whole: readonly FakeBlock[]) => readonly FakeBlock[]): Fault {
  let [whole, shown]: [readonly FakeBlock[], readonly FakeBlock[]] = [[], []];
  return (_, honest) => {
    if (node.chain !== whole) {
      whole = node.chain;
      shown = change(whole);
    }
    return seeing(node, shown, honest);
  };
}

// Caps on the number of logs

/** A range is truncated silently after the block of the n-th log (EthereumJS). */
export const capByCount = (most: number): Fault => rangeLogs((logs) => throughBlockOf(logs, most - 1));

/** A range is truncated silently after the block in which the response reaches this many bytes of JSON. */
export const capByBytes = (most: number): Fault =>
  rangeLogs((logs) => {
    let bytes = 0;
    return throughBlockOf(
      logs,
      logs.findIndex((log) => {
        bytes += JSON.stringify(log).length + 1;
        return bytes >= most;
      }),
    );
  });

function throughBlockOf(logs: readonly LogJson[], position: number): readonly LogJson[] {
  const last = logs[position];
  return last === undefined ? logs : logs.filter((log) => Number(log.blockNumber) <= Number(last.blockNumber));
}

/** A range is truncated silently after its first n logs, within a block. */
export const capMidBlock = (most: number): Fault => rangeLogs((logs) => logs.slice(0, most));

/** Only the newest n logs of a range are returned. */
export const newestOnly = (most: number): Fault => rangeLogs((logs) => logs.slice(Math.max(0, logs.length - most)));

// Unsupported parameters

/** Error codes that nodes return for an unsupported form of a parameter. */
export const UNKNOWN_FORM = [-32602, -32700, -32000] as const;

/** State queries by block hash are rejected: the node supports only numbers and tags. */
export const refusesBlockHash =
  (code: number): Fault =>
  ({ method, params }, honest) => {
    if (typeof stateTag(method, params) === 'object') throw new Refusal(code, 'invalid argument: block');
    return honest();
  };

// Fields of a log

/** How a node fills a log's `blockTimestamp`, which is not standardized. */
export const TIMES = {
  /** Correct. */
  right: hexOf,
  /** Explicitly unknown. */
  null: () => null,
  zero: () => '0x0',
  /** Correct, but as a JSON number. */
  number: (time: number) => time,
  /** Plausible but wrong: up to 50 minutes early. */
  wrong: (time: number) => hexOf(time - 60 * (1 + (time % 50))),
} as const;

/** Logs, in receipts too, have a `blockTimestamp`. */
export const logTimes = (node: FakeNode, kind: keyof typeof TIMES): Fault =>
  eachLog((log) => ({
    ...log,
    blockTimestamp: TIMES[kind](blockAt(node, { blockHash: log.blockHash })?.timestamp ?? 0),
  }));

/** Log indexes start at 0 in each transaction, in receipts too. */
export const logIndexPerTransaction = (node: FakeNode): Fault =>
  eachLog((log) => {
    const { transactions = [] } = blockAt(node, { blockHash: log.blockHash }) ?? {};
    const before = transactions.slice(0, Number(log.transactionIndex)).flatMap(({ logs }) => logs).length;
    return { ...log, logIndex: hexOf(Number(log.logIndex) - before) };
  });

// Pruned data

const headOf = ({ chain }: FakeNode) => chain.at(-1)?.number ?? 0;

/** Null for data in blocks more than n below the head; for all data if n is not given. */
const forgets = (method: string, node: FakeNode, olderThan: number): Fault =>
  on(method, (honest) => {
    const answer = honest() as { blockNumber: string } | null;
    return answer !== null && headOf(node) - Number(answer.blockNumber) > olderThan ? null : answer;
  });

/** No receipts, or none of blocks more than n below the head. */
export const noReceipts =
  (node: FakeNode, olderThan = -1): Fault =>
  (question, honest) => {
    const one = forgets('eth_getTransactionReceipt', node, olderThan)(question, honest);
    const isOfBlock = question.method === 'eth_getBlockReceipts';
    const block = isOfBlock ? blockAt(node, { blockHash: question.params[0] }) : undefined;
    return block !== undefined && headOf(node) - block.number > olderThan ? null : one;
  };

/** Ranges omit the logs of blocks a to b without an error; with `byHash`, queries by block hash do too. */
export const prunedSilently = (from: number, to: number, byHash = false): Fault =>
  (byHash ? everyLogs : rangeLogs)((logs) =>
    logs.filter(({ blockNumber }) => Number(blockNumber) < from || Number(blockNumber) > to),
  );

// State

/** The block parameter of a state query; undefined for other methods. */
function stateTag(method: string, params: readonly unknown[]): Tag | undefined {
  const at = { eth_call: 1, eth_getStorageAt: 2, eth_getProof: 2, eth_getCode: 1, eth_getBalance: 1 }[method];
  return at === undefined ? undefined : (params[at] as Tag);
}

/** The number of that block; undefined if this is not a state query or the block is unknown. */
function stateNumber(node: FakeNode, method: string, params: readonly unknown[]): number | undefined {
  const tag = stateTag(method, params);
  if (tag === undefined) return undefined;
  return typeof tag === 'string' && tag.startsWith('0x') ? Number(tag) : blockAt(node, tag)?.number;
}

function isOld(node: FakeNode, method: string, params: readonly unknown[], depth: number): boolean {
  const number = stateNumber(node, method, params);
  return number !== null && number !== undefined && headOf(node) - number > depth;
}

/** State of blocks more than n below the head is rejected. */
export const noOldState =
  (node: FakeNode, depth: number): Fault =>
  ({ method, params }, honest) => {
    if (isOld(node, method, params, depth)) throw new Refusal(-32000, 'missing trie node');
    return honest();
  };

/** State of blocks more than n below the head is empty without an error: no return data, zero words, no balance. */
export const emptyOldState =
  (node: FakeNode, depth: number): Fault =>
  ({ method, params }, honest) => {
    const nothing = { eth_call: '0x', eth_getStorageAt: `0x${word(0n)}`, eth_getBalance: '0x0' }[method];
    return nothing !== undefined && isOld(node, method, params, depth) ? nothing : honest();
  };

/** eth_getCode returns no code for blocks more than n below the head. */
export const noOldCode =
  (node: FakeNode, depth: number): Fault =>
  ({ method, params }, honest) =>
    method === 'eth_getCode' && isOld(node, method, params, depth) ? '0x' : honest();

/** Calls or other state queries are answered from the state n blocks earlier. */
export const staleState =
  (node: FakeNode, behind: number, methods: readonly string[] = ['eth_call']): Fault =>
  ({ method, params }, honest) => {
    const number = stateNumber(node, method, params);
    const [first] = node.chain;
    if (number === undefined || first === undefined || !methods.includes(method)) return honest();
    const tag = hexOf(Math.max(first.number, number - behind));
    return node.answer({ method, params: [...params.slice(0, -1), tag] });
  };

// Forged logs

/** Every range with a v2 grant of everything gets a copy of it with another delegate. */
const forges = (change: object): Fault =>
  rangeLogs((logs) => {
    const one = logs.find(({ topics }) => topics.length === 3);
    if (one === undefined) return logs;
    const topics = [...one.topics.slice(0, 2), `0x${word(`0x${'99'.repeat(20)}`)}`];
    const forged = { ...one, logIndex: '0x99', transactionIndex: '0x99', topics, ...change };
    const end = logs.findLastIndex(({ blockHash }) => blockHash === one.blockHash) + 1;
    return [...logs.slice(0, end), forged, ...logs.slice(end)];
  });

// Other chains

/** From the n-th request on, the URL leads to another chain. */
export const becomesOtherChain = (
  node: FakeNode,
  other: { readonly chainId: number; readonly chain: readonly FakeBlock[] },
  after = 0,
): Fault => {
  let asked = 0;
  return (question, honest) => {
    if (asked++ < after) return honest();
    return question.method === 'eth_chainId' ? hexOf(other.chainId) : seeing(node, other.chain, honest);
  };
};

// Faults that come and go

/** Changes the answer to one method, with some probability. */
const sometimes =
  (method: string, change: (answer: never) => unknown, share = 1): FaultMaker =>
  (random) =>
  (question, honest) => {
    const answer = honest();
    return question.method === method && answer !== null && random() < share ? change(answer as never) : answer;
  };

/** Gives the same answer to every method, with some probability. */
const says =
  (make: () => unknown, share: number): FaultMaker =>
  (random) =>
  (_, honest) =>
    random() < share ? make() : honest();

/** Longer ranges are rejected. */
export const limitedRanges =
  (most: number): Fault =>
  (question, honest) => {
    const [filter] = question.params;
    if (isRange(question) && Number(filter.toBlock) - Number(filter.fromBlock) >= most) {
      throw new Refusal(-32005, 'too large');
    }
    return honest();
  };

/** Answers about the head are of another moment each time. */
const headOfAnotherMoment: FaultMaker = (random, node) => (question, honest) => {
  if (question.method !== 'eth_getBlockByNumber' || question.params[0] !== 'latest') return honest();
  const { chain } = node;
  return seeing(node, chain.slice(0, Math.max(1, chain.length - below(random, 6))), honest);
};

/** Repeats a log of another block in every k-th block, in an existing transaction or in none. */
const forgesOften: FaultMaker = (random, node) => {
  const every = 2 + below(random, 8);
  const isTransactionReal = random() < 0.5;
  const forgedIn = (block: FakeBlock, like: object) => ({
    ...like,
    blockNumber: `0x${block.number.toString(16)}`,
    blockHash: block.hash,
    transactionHash:
      (isTransactionReal && block.transactions.at(-1)?.hash) ||
      `0x${'f0'.repeat(28)}${String(block.number).padStart(8, '0')}`,
    transactionIndex: '0x77',
    logIndex: '0x77',
  });
  return (question, honest) => {
    const logs = honest();
    if (question.method !== 'eth_getLogs' || !Array.isArray(logs) || logs.length === 0) return logs;
    const [{ fromBlock, toBlock, blockHash }] = question.params;
    const forged = node.chain
      .filter(({ number, hash }) =>
        blockHash === undefined ? number >= Number(fromBlock) && number <= Number(toBlock) : hash === blockHash,
      )
      .filter(({ number }) => number % every === 0)
      .map((block) => forgedIn(block, logs[block.number % logs.length]));
    return [...logs, ...forged];
  };
};

/** Answers for the `finalized` tag. */
const onFinalized = (answer: () => unknown): Fault =>
  on('eth_getBlockByNumber', (honest, [tag]) => (tag === 'finalized' ? answer() : honest()));

const someNumber = (random: Random, { chain }: FakeNode) => pickFrom(random, chain).number;

/** Every quirk of this file by name, with random parameters. A node's other chain has the same blocks with another chain id and other hashes. */
export const QUIRKS = {
  capByCount: (random) => capByCount(1 + below(random, 20)),
  capByBytes: (random) => capByBytes(1 + below(random, 10_000)),
  capMidBlock: (random) => capMidBlock(1 + below(random, 20)),
  newestOnly: (random) => newestOnly(1 + below(random, 20)),
  /** No logs, instead of an error, for a block hash that the node does not know. */
  emptyForUnknownHash:
    (_, node) =>
    ({ method, params: [filter] }, honest) =>
      isLogs(method) && filter.blockHash !== undefined && blockAt(node, filter) === undefined ? [] : honest(),
  /** The head's logs for a range that begins beyond the head. */
  headLogsBeyondHead: (_, node) => (question, honest) => {
    const [filter] = question.params;
    const head = node.chain.at(-1)?.number ?? Number.POSITIVE_INFINITY;
    if (!isRange(question) || Number(filter.fromBlock) <= head) return honest();
    return node.answer({ ...question, params: [{ ...filter, fromBlock: hexOf(head), toBlock: hexOf(head) }] });
  },
  refusesBlockHash: (random) => refusesBlockHash(pickFrom(random, UNKNOWN_FORM)),
  refusesFinalized: (random) => {
    const code = pickFrom(random, UNKNOWN_FORM);
    return onFinalized(() => {
      throw new Refusal(code, 'invalid block tag');
    });
  },
  finalizedIsHead: (_, node) =>
    onFinalized(() => node.answer({ method: 'eth_getBlockByNumber', params: ['latest', false] })),
  /** Always block 0. */
  finalizedIsGenesis: (_, node) =>
    onFinalized(() => {
      const block = { number: 0, hash: `0x${word(1n)}`, parentHash: `0x${word(0n)}`, timestamp: 0 } as const;
      return headerJson({ ...(node.chain[0] as FakeBlock), ...block, transactions: [] });
    }),
  logTimesRight: (_, node) => logTimes(node, 'right'),
  logTimesNull: (_, node) => logTimes(node, 'null'),
  logTimesZero: (_, node) => logTimes(node, 'zero'),
  logTimesNumber: (_, node) => logTimes(node, 'number'),
  logTimesWrong: (_, node) => logTimes(node, 'wrong'),
  logIndexPerTransaction: (_, node) => logIndexPerTransaction(node),
  noReceipts: (_, node) => noReceipts(node),
  noOldReceipts: (random, node) => noReceipts(node, below(random, 30)),
  noTransactions: (_, node) => forgets('eth_getTransactionByHash', node, -1),
  /** The node has no index of old ones. */
  noOldTransactions: (random, node) => forgets('eth_getTransactionByHash', node, below(random, 30)),
  prunedBelow: (random, node) => prunedSilently(0, someNumber(random, node), random() < 0.5),
  prunedWithin: (random, node) => {
    const from = someNumber(random, node);
    return prunedSilently(from, from + below(random, 20), random() < 0.5);
  },
  /** Logs of some blocks are rejected: by block hash, and in any range that overlaps them. */
  prunedWithError: (random, node) => {
    const from = random() < 0.5 ? 0 : someNumber(random, node);
    const to = someNumber(random, node);
    return ({ method, params: [filter] }, honest) => {
      if (!isLogs(method)) return honest();
      const block = filter.blockHash === undefined ? undefined : blockAt(node, filter)?.number;
      const [lowest, highest] = [block ?? Number(filter.fromBlock), block ?? Number(filter.toBlock)];
      if (lowest <= to && highest >= from) throw new Refusal(4444, 'pruned history unavailable');
      return honest();
    };
  },
  noOldState: (random, node) => noOldState(node, below(random, 30)),
  emptyOldState: (random, node) => emptyOldState(node, below(random, 30)),
  noOldCode: (random, node) => noOldCode(node, below(random, 30)),
  staleCalls: (random, node) => staleState(node, 1 + below(random, 10)),
  staleState: (random, node) => staleState(node, 1 + below(random, 10), ['eth_call', 'eth_getStorageAt']),
  saysTrue: () => on('eth_call', () => `0x${word(1n)}`),
  saysFalse: () => on('eth_call', () => `0x${word(0n)}`),
  saysNothing: () => on('eth_call', () => '0x'),
  /** Of an existing transaction, whose receipt does not contain it. */
  forgesLog: () => forges({}),
  /** Of a transaction that does not exist. */
  forgesTransaction: () => forges({ transactionHash: `0x${'f0'.repeat(32)}` }),
  keepsBackAll: () => everyLogs(() => []),
  /** The logs of about every k-th transaction are withheld, always of the same transactions. */
  keepsBackTransactions: (random) => {
    const every = 2 + below(random, 5);
    return everyLogs((logs) =>
      logs.filter(({ transactionHash }) => Number.parseInt(transactionHash.slice(2, 10), 16) % every !== 0),
    );
  },
  keepsBackFirst: () => everyLogs((logs) => logs.slice(1)),
  keepsBackLast: () => everyLogs((logs) => logs.slice(0, -1)),
  /** The node is some blocks behind its chain. */
  lagging: (random, node) => {
    const blocks = 1 + below(random, 10);
    return showing(node, (whole) => whole.slice(0, Math.max(1, whole.length - blocks)));
  },
  /** The node is stuck at its current head. */
  frozen: (_, node) => {
    const { chain } = node;
    return (_, honest) => seeing(node, chain, honest);
  },
  becomesOtherChain: (random, node) =>
    becomesOtherChain(node, { chainId: 5, chain: otherChain(node.chain) }, below(random, 20)),
  // Unavailable nodes.
  unavailable: says(() => new Response('', { status: 503 }), 0.3),
  down: says(() => new Response('', { status: 502 }), 1),
  tooManyRequests: says(() => new Response('{"error":"slow down"}', { status: 429 }), 0.4),
  html: says(() => new Response('<html>', { status: 200 }), 0.3),
  hangs: says(() => NO_ANSWER, 0.3),
  noResult: says(() => undefined, 0.2),
  limitExceeded: (random) => (_, honest) => {
    if (random() < 0.3) throw new Refusal(-32005, 'limit exceeded');
    return honest();
  },
  nullBlocks: sometimes('eth_getBlockByNumber', () => null, 0.3),
  headOfAnotherMoment,
  // Logs.
  limitedRanges: (random) => limitedRanges(1 + below(random, 5)),
  oftenNoLogs: sometimes('eth_getLogs', () => [], 0.5),
  oftenNotTheLast: sometimes('eth_getLogs', (logs: object[]) => logs.slice(0, -1), 0.5),
  noRanges: () => (question, honest) => (isRange(question) ? [] : honest()),
  reversed: sometimes('eth_getLogs', (logs: object[]) => [...logs].reverse()),
  doubled: sometimes('eth_getLogs', (logs: object[]) => logs.flatMap((log) => [log, log])),
  removed: sometimes('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, removed: true })), 0.3),
  logTimesMalformed: sometimes('eth_getLogs', (logs: object[]) =>
    logs.map((log) => ({ ...log, blockTimestamp: 'just now' })),
  ),
  refusesLogsByHash: (random) => {
    const code = pickFrom(random, UNKNOWN_FORM);
    return ({ method, params: [filter] }, honest) => {
      if (method === 'eth_getLogs' && filter.blockHash !== undefined)
        throw new Refusal(code, 'unknown field blockHash');
      return honest();
    };
  },
  forgesOften,
  // Headers.
  fullBloom: sometimes('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: `0x${'f'.repeat(512)}` })),
  noBloom: sometimes('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: undefined })),
  emptyBloom: sometimes('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: `0x${'0'.repeat(512)}` })),
  finalizedIsNull: () => onFinalized(() => null),
  // State.
  noState: () => (question, honest) => {
    if (/^eth_(call|getStorageAt|getProof|getBalance|getCode)$/.test(question.method))
      throw new Refusal(-32000, 'missing trie');
    return honest();
  },
} as const satisfies Readonly<Record<string, FaultMaker>>;

/** The same blocks under other hashes. */
function otherChain(chain: readonly FakeBlock[]): FakeBlock[] {
  const other = (hash: FakeBlock['hash']): FakeBlock['hash'] => `0x${'5c'}${hash.slice(4)}`;
  return chain.map((block) => ({
    ...block,
    hash: other(block.hash),
    parentHash: other(block.parentHash),
    transactions: block.transactions.map((one) => ({ ...one, hash: other(one.hash) })),
  }));
}

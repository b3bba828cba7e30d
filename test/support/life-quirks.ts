// The faults of nodes in a simulation: all known quirks of nodes, and faults that only show over time.

import { type FakeBlock, type FakeNode, type Fault, NO_ANSWER, Refusal } from './fake-node.ts';
import { LIAR_QUIRKS } from './liar-quirks.ts';
import { type FaultMaker, QUIRKS, type Random, UNKNOWN_FORM } from './node-quirks.ts';

export interface LifeQuirk {
  readonly name: string;
  readonly make: FaultMaker;
  /** Returns false data, where other quirks only omit data, fail, or return malformed data. */
  readonly invents: boolean;
  /** The quirk must end: if it lasted forever, nobody could tell which of two nodes is right. */
  readonly passes: boolean;
}

type Question = Parameters<Fault>[0];

/** Changes the answer to one method, with some probability. */
const change =
  (method: string, to: (answer: never) => unknown, share = 1): FaultMaker =>
  (random) =>
  (question, honest) => {
    const answer = honest();
    return question.method === method && answer !== null && random() < share ? to(answer as never) : answer;
  };

/** Gives the same answer to every method, with some probability. */
const says =
  (make: () => unknown, share: number): FaultMaker =>
  (random) =>
  (_, honest) =>
    random() < share ? make() : honest();

const below = (random: Random, end: number) => Math.floor(random() * end);
const isRange = ({ method, params: [filter] }: Question) => method === 'eth_getLogs' && filter.blockHash === undefined;

export const limitedRanges =
  (most: number): Fault =>
  (question, honest) => {
    const [filter] = question.params;
    if (isRange(question) && Number(filter.toBlock) - Number(filter.fromBlock) >= most) {
      throw new Refusal(-32005, 'too large');
    }
    return honest();
  };

function headOfAnotherMoment(random: Random, node: FakeNode): Fault {
  return (question, honest) => {
    if (question.method !== 'eth_getBlockByNumber' || question.params[0] !== 'latest') return honest();
    const { chain } = node;
    node.chain = chain.slice(0, Math.max(1, chain.length - below(random, 6)));
    try {
      return honest();
    } finally {
      node.chain = chain;
    }
  };
}

const MORE: Readonly<Record<string, FaultMaker>> = {
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
  nullBlocks: change('eth_getBlockByNumber', () => null, 0.3),
  headOfAnotherMoment,
  // Logs.
  limitedRanges: (random) => limitedRanges(1 + below(random, 5)),
  oftenNoLogs: change('eth_getLogs', () => [], 0.5),
  oftenNotTheLast: change('eth_getLogs', (logs: object[]) => logs.slice(0, -1), 0.5),
  noRanges: () => (question, honest) => (isRange(question) ? [] : honest()),
  reversed: change('eth_getLogs', (logs: object[]) => [...logs].reverse()),
  doubled: change('eth_getLogs', (logs: object[]) => logs.flatMap((log) => [log, log])),
  removed: change('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, removed: true })), 0.3),
  logTimesMalformed: change('eth_getLogs', (logs: object[]) =>
    logs.map((log) => ({ ...log, blockTimestamp: 'just now' })),
  ),
  refusesLogsByHash: (random) => {
    const code = UNKNOWN_FORM[below(random, UNKNOWN_FORM.length)] as number;
    return ({ method, params: [filter] }, honest) => {
      if (method === 'eth_getLogs' && filter.blockHash !== undefined)
        throw new Refusal(code, 'unknown field blockHash');
      return honest();
    };
  },
  forgesOften: forgesOften(),
  // Headers.
  fullBloom: change('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: `0x${'f'.repeat(512)}` })),
  noBloom: change('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: undefined })),
  emptyBloom: change('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: `0x${'0'.repeat(512)}` })),
  finalizedIsNull: () => (question, honest) => (question.params[0] === 'finalized' ? null : honest()),
  // State.
  noState: () => (question, honest) => {
    if (/^eth_(call|getStorageAt|getProof|getBalance|getCode)$/.test(question.method))
      throw new Refusal(-32000, 'missing trie');
    return honest();
  },
};

/** Repeats a log of another block in every k-th block, in an existing transaction or in none. */
function forgesOften(): FaultMaker {
  return (random, node) => {
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
}

const INVENTING = new Set([
  'finalizedIsHead',
  'logTimesZero',
  'logTimesWrong',
  'emptyOldState',
  'staleCalls',
  'staleState',
  'saysTrue',
  'saysFalse',
  'forgesLog',
  'forgesTransaction',
  'forgesOften',
  'emptyBloom',
  'becomesOtherChain',
  ...Object.keys(LIAR_QUIRKS),
]);
const PASSING = new Set(['frozen', 'becomesOtherChain', 'ownBranch', 'staleCalls', 'staleState', 'emptyOldState']);

export const LIFE_QUIRKS: readonly LifeQuirk[] = Object.entries({ ...QUIRKS, ...MORE, ...LIAR_QUIRKS }).map(
  ([name, make]) => ({
    name,
    make,
    invents: INVENTING.has(name),
    passes: PASSING.has(name),
  }),
);

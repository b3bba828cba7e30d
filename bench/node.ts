// Runs the benchmark's JSON-RPC node as a process: it serves the same generated history on every chain. The path of its URL is
// the chain id. Prints the URL. Arguments: the number of blocks with events, and the options of start-node.ts as JSON. A GET request
// returns the number of calls.

import { receiptsRoot } from '../src/chain/prove/receipts.ts';
import type { Json } from '../src/chain/rpc/node.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { sealed } from '../test/support/sealed.ts';
import { eventAt, logOf, logsIn, topicOf } from './history.ts';
import type { NodeOptions, Throttle } from './start-node.ts';

/** Empty blocks after the events, so that the events are final by every finality rule. */
const TAIL_BLOCKS = 300;
const FINAL_DEPTH = 64;
const OLD_BLOCK_SECONDS = 2;

const [blocksText = '200000', optionsText = '{}'] = process.argv.slice(2);
const blocks = Number(blocksText);
const {
  isLive = false,
  every,
  throttle,
  startedAt = Math.floor(Date.now() / 1000),
} = JSON.parse(optionsText) as NodeOptions;
const throttler = throttle === undefined ? null : createThrottler(throttle);
const startedTip = blocks + TAIL_BLOCKS;

const hex = (value: number) => `0x${value.toString(16)}`;
const transactionHash = (number: number, position: number) =>
  `0xa${(number * 10 + position).toString(16).padStart(63, '0')}`;
const NO_BLOOM = `0x${'0'.repeat(512)}`;
const FULL_BLOOM = `0x${'f'.repeat(512)}`;
const NO_HASH = `0x${'0'.repeat(64)}`;
const NOBODY = `0x${'0'.repeat(40)}`;

interface Chain {
  readonly id: number;
  readonly registry: string;
  readonly blockSeconds: number;
  /** By number. */
  readonly hashes: string[];
  readonly numbers: Map<string, number>;
}

const chains = new Map<string, Chain>();

function chainAt(path: string): Chain {
  let chain = chains.get(path);
  if (chain === undefined) {
    const id = Number(path.slice(1)) || 1;
    const network = NETWORKS.get(id);
    const [registry, blockSeconds] = [network?.registries[2] ?? '0x', Math.max(1, network?.blockSeconds ?? 1)];
    chain = { id, registry, blockSeconds, hashes: [], numbers: new Map() };
    chains.set(path, chain);
  }
  // Every hash is computed from its parent's.
  for (let { length: number } = chain.hashes; number <= tipOf(chain); number++) {
    const { hash } = headerOf(number, chain);
    chain.hashes.push(hash);
    chain.numbers.set(hash, number);
  }
  return chain;
}

const tipOf = ({ blockSeconds }: Chain) =>
  startedTip + (isLive ? Math.floor((Date.now() / 1000 - startedAt) / blockSeconds) : 0);

const timeOf = (number: number, { blockSeconds }: Chain) =>
  startedAt + (number - startedTip) * (number < startedTip ? OLD_BLOCK_SECONDS : blockSeconds);

function eventsIn(number: number): number {
  if (number < 1 || number > blocks) return 0;
  if (every === undefined) return logsIn(number);
  return number % every === 0 ? 1 : 0;
}

/** Every event has a transaction of its own. */
function receiptsOf(number: number, { registry }: Chain): Json[] {
  return Array.from({ length: eventsIn(number) }, (_, position) => ({
    status: '0x1',
    cumulativeGasUsed: hex(50_000 * (position + 1)),
    logsBloom: NO_BLOOM,
    logs: [{ address: registry, ...logOf(eventAt(number, position)) }],
    transactionHash: transactionHash(number, position),
  }));
}

function headerOf(number: number, chain: Chain) {
  const many = eventsIn(number);
  return sealed({
    number,
    parentHash: chain.hashes[number - 1] ?? NO_HASH,
    timestamp: timeOf(number, chain),
    stateRoot: NO_HASH,
    receiptsRoot: receiptsRoot(receiptsOf(number, chain)),
    logsBloom: many === 0 ? NO_BLOOM : FULL_BLOOM,
    gasUsed: 50_000 * many,
    extraData: '0x',
  });
}

function blockText(number: number, chain: Chain, withTransactions: boolean): string {
  const { hash, header } = headerOf(number, chain);
  const transactions = Array.from({ length: withTransactions ? eventsIn(number) : 0 }, (_, position) => ({
    hash: transactionHash(number, position),
    transactionIndex: hex(position),
    blockHash: hash,
    blockNumber: hex(number),
    from: NOBODY,
    to: chain.registry,
  }));
  return JSON.stringify({ hash, ...header, transactions });
}

type Topics = readonly (string | readonly string[] | null)[];

/** Built as text for speed: the node must not limit what is measured. */
function logsText(from: number, to: number, chain: Chain, [asked = null]: Topics): string {
  const texts: string[] = [];
  for (let number = from; number <= to; number++) {
    const shared = `"address":"${chain.registry}","blockNumber":"${hex(number)}","blockHash":"${chain.hashes[number]}","blockTimestamp":"${hex(timeOf(number, chain))}","removed":false`;
    for (let position = 0; position < eventsIn(number); position++) {
      const event = eventAt(number, position);
      if (asked !== null && !asked.includes(topicOf(event))) continue;
      const { topics, data } = logOf(event);
      texts.push(
        `{${shared},"topics":${JSON.stringify(topics)},"data":"${data}","transactionHash":"${transactionHash(number, position)}","transactionIndex":"${hex(position)}","logIndex":"${hex(position)}"}`,
      );
    }
  }
  return `[${texts.join(',')}]`;
}

interface NodeQuestion {
  readonly id: number | string;
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface LogsAsked {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
  readonly topics?: Topics;
}

const TOO_LARGE = '{"code":-32005,"message":"block range too large"}';
const UNKNOWN = '{"code":-32601,"message":"method not found"}';

/** Null for a method that the node does not have. */
function resultText({ method, params = [] }: NodeQuestion, chain: Chain): string | null {
  const tip = tipOf(chain);
  const [first, second] = params;
  switch (method) {
    case 'eth_chainId':
      return `"${hex(chain.id)}"`;
    case 'net_version':
      return `"${chain.id}"`;
    case 'eth_blockNumber':
      return `"${hex(tip)}"`;
    case 'eth_getBlockByHash': {
      const number = chain.numbers.get(String(first));
      return number === undefined ? 'null' : blockText(number, chain, second === true);
    }
    case 'eth_getBlockReceipts':
      return JSON.stringify(receiptsOf(chain.numbers.get(String(first)) ?? Number(first), chain));
    case 'eth_getBlockByNumber': {
      const number = first === 'latest' ? tip : first === 'finalized' ? tip - FINAL_DEPTH : Number(first);
      return number > tip ? 'null' : blockText(number, chain, second === true);
    }
    case 'eth_getLogs': {
      const { fromBlock, toBlock, blockHash, topics = [] } = first as LogsAsked;
      const number = chain.numbers.get(blockHash ?? '');
      if (number !== undefined) return logsText(number, number, chain, topics);
      return logsText(Number(fromBlock), Math.min(tip, Number(toBlock)), chain, topics);
    }
    default:
      return null;
  }
}

function isTooLarge({ method, params: [first] = [] }: NodeQuestion): boolean {
  if (throttle === undefined || method !== 'eth_getLogs') return false;
  const { fromBlock, toBlock } = first as LogsAsked;
  return Number(toBlock) - Number(fromBlock) >= throttle.maxBlocks;
}

/** A token bucket that holds the calls of one second. */
function createThrottler({ latencyMs, callsPerSecond, above }: Throttle) {
  let [tokens, filledAt] = [callsPerSecond, performance.now()];
  let [answered, rejected] = [0, 0];
  return {
    /** Waits as long as the node would take. False if the calls are rejected. */
    async admit(calls: number): Promise<boolean> {
      const now = performance.now();
      tokens = Math.min(callsPerSecond, tokens + ((now - filledAt) * callsPerSecond) / 1000);
      filledAt = now;
      const isRejected = tokens < calls && above === 'reject';
      if (isRejected) rejected += calls;
      else [tokens, answered] = [tokens - calls, answered + calls];
      await Bun.sleep(latencyMs + Math.max(0, (1000 * -tokens) / callsPerSecond));
      return !isRejected;
    },
    get calls() {
      return { answered, rejected };
    },
  };
}

/** What an archive service sends for so many blocks at once, whatever the limits of the node are. */
const SERVED = '/finalized-stream';
const SERVED_BLOCKS = 50_000;

interface ServedRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

function served(chain: Chain, { fromBlock, toBlock }: ServedRange): Response {
  const to = Math.min(toBlock, fromBlock + SERVED_BLOCKS - 1);
  const lines: string[] = [];
  for (let number = fromBlock; number <= to; number++) {
    const many = eventsIn(number);
    if (many === 0 && number < to) continue;
    const logs = Array.from({ length: many }, (_, logIndex) => ({
      address: chain.registry,
      ...logOf(eventAt(number, logIndex)),
      logIndex,
      transactionHash: transactionHash(number, logIndex),
    }));
    const [hash, parentHash] = [chain.hashes[number], chain.hashes[number - 1] ?? NO_HASH];
    lines.push(`${JSON.stringify({ header: { number, hash, parentHash, timestamp: timeOf(number, chain) }, logs })}\n`);
  }
  return new Response(lines.join(''));
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith(SERVED))
      return served(chainAt(pathname.slice(0, -SERVED.length)), (await request.json()) as ServedRange);
    if (request.method === 'GET') return Response.json(throttler?.calls ?? {});
    const chain = chainAt(pathname);
    const body = (await request.json()) as NodeQuestion | NodeQuestion[];
    if (throttler !== null && !(await throttler.admit([body].flat().length))) {
      return new Response('Too many requests', { status: 429, headers: { 'retry-after': '1' } });
    }
    const answer = (one: NodeQuestion) => {
      const result = isTooLarge(one) ? TOO_LARGE : (resultText(one, chain) ?? UNKNOWN);
      const outcome = result === TOO_LARGE || result === UNKNOWN ? `"error":${result}` : `"result":${result}`;
      return `{"jsonrpc":"2.0","id":${JSON.stringify(one.id)},${outcome}}`;
    };
    const text = Array.isArray(body) ? `[${body.map(answer).join(',')}]` : answer(body);
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  },
});
// Before anything is measured.
chainAt('/1');
console.log(`http://127.0.0.1:${server.port}`);

// A JSON-RPC node with a long, simple history that it generates on demand: old enough for the follower to backfill.

import { eventTopics } from '../../src/registry/event.ts';
import { MAINNET } from './vectors.ts';

export interface HistoryNode {
  readonly url: string;
  /** Unix seconds, of the newest block. */
  readonly time: number;
  /** Calls by method. */
  readonly calls: Map<string, number>;
  /** All logs as `block/index`, in order. */
  readonly logs: readonly string[];
  stop(): Promise<void>;
}

export interface NodeRange {
  readonly from: number;
  readonly to: number;
}

export interface HistoryNodeOptions {
  /** The newest block. */
  readonly tip: number;
  readonly logsIn: (block: number) => number;
  /** Called for each request before it is answered: with the range of an `eth_getLogs` call, otherwise with null. */
  readonly reject?: (range: NodeRange | null) => Response | null;
  /** Changes the logs of a range, or throws a JSON-RPC error. */
  readonly answer?: <T>(logs: readonly T[], range: NodeRange) => readonly T[];
}

interface NodeRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const TIME = 1_700_000_000;
const FINAL_DEPTH = 64;
const hex = (value: number) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;

export function startHistoryNode(options: HistoryNodeOptions): HistoryNode {
  const { tip, logsIn, reject = () => null, answer = (logs) => logs } = options;
  const timeOf = (block: number) => TIME - (tip - block) * 12;
  const calls = new Map<string, number>();
  const header = (block: number) => ({
    number: hex(block),
    hash: word(block + 1),
    parentHash: word(block),
    timestamp: hex(timeOf(block)),
  });
  const logAt = (block: number, logIndex: number) => ({
    address: MAINNET.registries[2],
    blockNumber: hex(block),
    blockHash: word(block + 1),
    blockTimestamp: hex(timeOf(block)),
    transactionHash: word(block * 1000 + logIndex),
    transactionIndex: hex(logIndex),
    logIndex: hex(logIndex),
    topics: [eventTopics(2)[0], word(block), word(1_000_000 + logIndex)],
    data: `0x${'0'.repeat(64)}${word(1).slice(2)}`,
    removed: false,
  });
  const rangeOf = (filter: unknown): NodeRange => {
    const { fromBlock, toBlock, blockHash } = filter as { fromBlock: string; toBlock: string; blockHash?: string };
    const at = blockHash === undefined ? null : Number(blockHash) - 1;
    return { from: at ?? Number(fromBlock), to: Math.min(tip, at ?? Number(toBlock)) };
  };
  const result = ({ method, params: [first] }: NodeRequest): unknown => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (method === 'eth_chainId') return '0x1';
    if (method === 'eth_getBlockByNumber') {
      return header(first === 'latest' ? tip : first === 'finalized' ? tip - FINAL_DEPTH : Number(first));
    }
    if (method !== 'eth_getLogs') return null;
    const range = rangeOf(first);
    const found = [];
    for (let block = range.from; block <= range.to; block++) {
      for (let index = 0; index < logsIn(block); index++) found.push(logAt(block, index));
    }
    return answer(found, range);
  };
  const respond = (request: NodeRequest) => {
    try {
      return { jsonrpc: '2.0', id: request.id, result: result(request) };
    } catch (error) {
      return { jsonrpc: '2.0', id: request.id, error: { code: -32005, message: (error as Error).message } };
    }
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const body = (await request.json()) as NodeRequest | NodeRequest[];
      const isLogs = !Array.isArray(body) && body.method === 'eth_getLogs';
      const rejected = reject(isLogs ? rangeOf(body.params[0]) : null);
      return rejected ?? Response.json(Array.isArray(body) ? body.map(respond) : respond(body));
    },
  });
  return {
    url: server.url.href,
    time: TIME,
    calls,
    logs: Array.from({ length: tip }, (_, position) =>
      Array.from({ length: logsIn(position + 1) }, (_, index) => `${position + 1}/${index}`),
    ).flat(),
    stop: () => server.stop(true),
  };
}

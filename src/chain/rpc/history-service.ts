// Reads old logs from an archive service instead of a node: lines of JSON over HTTP, each a block's header with its logs. Such a service is
// believed even less than a node: see follow/history-source.ts.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { isBytes32, type NodeLog, parseLogs, parseObject } from './node.ts';
import { registryFilter } from './registry-logs.ts';

/** The service failed, or what it sent is not what the protocol says. The message never contains the URL. */
export class HistoryFault extends Error {
  override readonly name = 'HistoryFault';
}

/** Consecutive blocks with all their logs, and the hash of the last one, as the service says. */
export interface ServedPart {
  readonly from: number;
  readonly to: number;
  readonly hash: Bytes32;
  readonly logs: readonly NodeLog[];
}

/** No whole line may come for so long. */
const STALL_MS = 5000;
/** A block with more is not of a chain. */
const MAX_LINE = 16 * 1024 * 1024;
const PART_LOGS = 8000;
/** A part ends after this time, so that who asked can stop between two. */
const PART_MS = 5000;

const FIELDS = {
  block: { number: true, hash: true, parentHash: true, timestamp: true },
  log: { address: true, topics: true, data: true, logIndex: true, transactionHash: true },
};

interface HistoryReading {
  readonly signal: AbortSignal;
  readonly stallMs?: number;
  readonly partMs?: number;
}

/** Reads a range from `url`, a dataset such as https://archive.example/datasets/ethereum-mainnet. A part ends where a response ends, or has many logs, or took long. */
export async function* readHistoryService(
  url: string,
  network: Network,
  from: number,
  last: number,
  { signal, stallMs = STALL_MS, partMs = PART_MS }: HistoryReading,
): AsyncGenerator<ServedPart> {
  const { address, topics } = registryFilter(network);
  for (let next = from; next <= last; ) {
    const logs = [{ address, topic0: topics[0] }];
    const body = JSON.stringify({ type: 'evm', fromBlock: next, toBlock: last, logs, fields: FIELDS });
    const began = next;
    let before: { readonly number: number; readonly hash: Bytes32 } | null = null;
    let found: NodeLog[] = [];
    let partAt = performance.now();
    for await (const line of linesOf(url, body, signal, stallMs)) {
      const block = parseBlock(line);
      const { number, parentHash } = block;
      if (number < next || number > last || (before !== null && number <= before.number))
        throw new HistoryFault(`block ${number} was not asked, or is in the wrong order`);
      if (before?.number === number - 1 && parentHash !== before.hash)
        throw new HistoryFault(`block ${number} does not follow from block ${before.number}`);
      if (before !== null && (found.length >= PART_LOGS || performance.now() - partAt >= partMs)) {
        yield { from: next, to: before.number, hash: before.hash, logs: found };
        [next, found, partAt] = [before.number + 1, [], performance.now()];
      }
      for (const log of block.logs) found.push(log);
      before = block;
    }
    if (before === null) throw new HistoryFault(`nothing came from block ${began} on`);
    yield { from: next, to: before.number, hash: before.hash, logs: found };
    next = before.number + 1;
  }
}

function parseBlock(line: string) {
  try {
    const { header: value, logs } = parseObject('line', JSON.parse(line));
    const header = parseObject('header', value);
    const { number, hash, parentHash, timestamp } = header;
    if (!isCount(number) || !isCount(timestamp) || !isBytes32(hash) || !isBytes32(parentHash))
      throw new HistoryFault('a header is incomplete');
    const blockNumber = quantity(number);
    const blockTimestamp = quantity(timestamp);
    const inBlock = (log: unknown) => {
      const one = parseObject('log', log);
      return {
        ...one,
        logIndex: quantity(one['logIndex']),
        blockNumber,
        blockTimestamp,
        blockHash: hash,
        removed: false,
      };
    };
    return { number, hash, parentHash, logs: parseLogs(Array.isArray(logs) ? logs.map(inBlock) : (logs ?? [])) };
  } catch (error) {
    throw error instanceof HistoryFault
      ? error
      : new HistoryFault(`a line cannot be read: ${(error as Error).message}`);
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const quantity = (value: unknown) => (isCount(value) ? `0x${value.toString(16)}` : value);

async function* linesOf(url: string, body: string, signal: AbortSignal, stallMs: number): AsyncGenerator<string> {
  const stalled = new AbortController();
  const startTimer = () => setTimeout(() => stalled.abort(), stallMs);
  let timer = startTimer();
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/finalized-stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
      body,
      signal: AbortSignal.any([signal, stalled.signal]),
      redirect: 'error',
    });
    if (response.status !== 200) throw new HistoryFault(`HTTP ${response.status}`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new HistoryFault('a line is too long');
      if (lines.length === 0) continue;
      // What was read may take long to commit.
      clearTimeout(timer);
      for (const line of lines) if (line !== '') yield line;
      timer = startTimer();
    }
    if (rest.trim() !== '') throw new HistoryFault('the last line was cut off');
  } catch (error) {
    if (error instanceof HistoryFault || signal.aborted) throw error;
    throw new HistoryFault(stalled.signal.aborted ? `nothing came for ${stallMs} ms` : 'the connection failed');
  } finally {
    clearTimeout(timer);
  }
}

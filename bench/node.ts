// A node for the benchmark, in a process of its own: a million registry events over 200,000 blocks, made up as they are
// asked for. Prints its URL.

import { eventTopics } from '../src/registry/event.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { addressFrom } from './delegations.ts';

const [chainId = 1, blocks = 200_000] = process.argv.slice(2).map(Number);
/** Five on average; always the same would look like a node that cuts its answers off. */
const logsIn = (number: number) => 1 + ((number * 7) % 9);
const registry = NETWORKS.get(chainId)?.registries[2];
const [topic] = eventTopics(2).slice(2);
const start = Math.floor(Date.now() / 1000) - blocks * 2;

const hex = (value: number) => `0x${value.toString(16)}`;
const hash = (lead: string, of: number) => `0x${lead}${of.toString(16).padStart(63, '0')}`;
const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`;
const tail = `${'0'.repeat(64)}${'1'.padStart(64, '0')}`;

const header = (number: number) => ({
  number: hex(number),
  hash: hash('b', number),
  parentHash: hash('b', number - 1),
  timestamp: hex(start + 2 * number),
  logsBloom: `0x${'0'.repeat(512)}`,
});

/** As text: what a node says is no part of what is measured, but it must come fast. */
function logsText(from: number, to: number): string {
  const texts: string[] = [];
  for (let number = Math.max(1, from); number <= Math.min(to, blocks); number++) {
    const shared = `"address":"${registry}","blockNumber":"${hex(number)}","blockHash":"${hash('b', number)}","blockTimestamp":"${hex(start + 2 * number)}","removed":false`;
    for (let position = 0; position < logsIn(number); position++) {
      const id = number * 10 + position;
      const topics = [
        topic,
        word(addressFrom(id >> 1)),
        word(addressFrom(0x40000000 + id)),
        word(addressFrom(0x20000000 + (id % 5000))),
      ];
      texts.push(
        `{${shared},"topics":${JSON.stringify(topics)},"data":"0x${id.toString(16).padStart(64, '0')}${tail}","transactionHash":"${hash('a', id)}","transactionIndex":"${hex(position)}","logIndex":"${hex(position)}"}`,
      );
    }
  }
  return `[${texts.join(',')}]`;
}

interface Asked {
  readonly id: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: parameters are what each method takes
  readonly params: any[];
}

function resultText({ method, params }: Asked): string {
  if (method === 'eth_chainId') return JSON.stringify(hex(chainId));
  if (method === 'eth_getLogs') {
    const [{ fromBlock, toBlock, blockHash }] = params;
    if (blockHash !== undefined) return logsText(Number(`0x${blockHash.slice(3)}`), Number(`0x${blockHash.slice(3)}`));
    return logsText(Number(fromBlock), Number(toBlock));
  }
  if (method === 'eth_getBlockByNumber') {
    const tag = params[0];
    const number = tag === 'latest' ? blocks : tag === 'finalized' ? blocks - 64 : Number(tag);
    return number > blocks ? 'null' : JSON.stringify(header(number));
  }
  return 'null';
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  async fetch(request) {
    const body = (await request.json()) as Asked | Asked[];
    const answer = (one: Asked) => `{"jsonrpc":"2.0","id":${one.id},"result":${resultText(one)}}`;
    return new Response(Array.isArray(body) ? `[${body.map(answer).join(',')}]` : answer(body));
  },
});
console.log(`http://127.0.0.1:${server.port}`);

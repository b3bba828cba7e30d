// How fast a history is read from a node, where the time goes, and what checks of another chain notice of it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registryFilter } from '../src/chain/filter.ts';
import { createFollower } from '../src/chain/follower.ts';
import { groupLogs } from '../src/chain/logs.ts';
import { createNode } from '../src/chain/node.ts';
import { createProviders } from '../src/chain/providers.ts';
import { resolveBlocks } from '../src/chain/resolve.ts';
import { createRpc } from '../src/chain/rpc.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { openStore } from '../src/store/open.ts';
import { startServe } from '../test/serve-process.ts';
import { ownCpu } from './cpu.ts';
import { addressFrom } from './delegations.ts';
import { line, printMachine } from './print.ts';

const BLOCKS = 200_000;

export async function benchBackfill(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-bench-'));
  printMachine();
  const nodes = [await startNode(1, BLOCKS), await startNode(8453, 500)];
  const [node, other] = nodes as [BenchNode, BenchNode];
  try {
    const beforeStore = await shares(node);
    await alone(node, folder, beforeStore);
    await beside(node, other, folder);
  } finally {
    for (const one of nodes) one.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface BenchNode {
  readonly url: string;
  stop(): void;
}

async function startNode(chainId: number, blocks: number): Promise<BenchNode> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/node.ts`, String(chainId), String(blocks)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return { url: new TextDecoder().decode(value).trim(), stop: () => child.kill() };
}

/** The whole follower over a store, in this process. */
async function alone({ url }: BenchNode, folder: string, beforeStore: number): Promise<void> {
  const network = NETWORKS.get(1) as Network;
  const store = await openStore(`sqlite:${join(folder, 'backfill.db')}`);
  const providers = createProviders(1, [url]);
  const follower = createFollower({ network, store, providers, now: Date.now, firstBlock: 1 });
  const [began, cpu] = [performance.now(), ownCpu()];
  while ((await follower.tick()).more) {
    // Until the tip.
  }
  const [seconds, used] = [(performance.now() - began) / 1000, ownCpu() - cpu];
  const { logs } = follower;
  console.log(`\n${logs} events in ${BLOCKS} blocks, read into SQLite:`);
  line('speed', `${Math.round(logs / seconds).toLocaleString('en')} events/s`);
  line('CPU of the follower', `${(used / logs).toFixed(1)} µs an event`, 'the node has a process of its own');
  line('of that the store', `${(used / logs - beforeStore).toFixed(1)} µs`, 'what the steps above do not take');
  await store.close();
}

/** What the parts cost that are not the store. */
async function shares({ url }: BenchNode): Promise<number> {
  const network = NETWORKS.get(1) as Network;
  const filter = registryFilter(network);
  const [from, to] = [1, 2000];
  const rpc = createRpc(url);
  const node = createNode(rpc);
  const logs = await node.logs(filter, from, to);
  const cost = async (work: () => unknown) => {
    await work();
    const before = ownCpu();
    for (let turn = 0; turn < 5; turn++) await work();
    return (ownCpu() - before) / 5 / logs.length;
  };
  const params = [{ ...filter, fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }];
  const fetched = await cost(() => rpc.call('eth_getLogs', params));
  const checked = await cost(() => node.logs(filter, from, to));
  const decoded = await cost(() => resolveBlocks({ node, others: [] }, network, groupLogs(logs)));
  console.log('CPU of each step, an event:');
  line('fetching and JSON', `${fetched.toFixed(1)} µs`);
  line('checking each field', `${(checked - fetched).toFixed(1)} µs`);
  line('ordering and decoding', `${decoded.toFixed(1)} µs`);
  return checked + decoded;
}

/** Checks of one chain while the history of another is read: the whole program. */
async function beside(node: BenchNode, other: BenchNode, folder: string): Promise<void> {
  const small = { RPC_URL_8453: other.url, START_BLOCK_8453: '1', MAX_LAG_8453: '86400', MAX_LAG_1: '86400' };
  const idle = await startServe(`sqlite:${join(folder, 'idle.db')}`, small);
  const before = await latencies(idle.url, 8000);
  await idle.stop();
  const busy = await startServe(`sqlite:${join(folder, 'busy.db')}`, {
    ...small,
    RPC_URL_1: node.url,
    START_BLOCK_1: '1',
  });
  const during = await latencies(busy.url, 15_000);
  const [network] = (await (await fetch(`${busy.url}/networks`)).json()) as { head: { number: number } | null }[];
  await busy.stop();
  console.log(
    `\nChecks of one chain, one at a time, while another is read (it came to block ${network?.head?.number}):`,
  );
  for (const [name, times] of [
    ['idle', before],
    ['while reading', during],
  ] as const) {
    line(name, `half within ${at(times, 0.5)} ms`, `99 in 100 within ${at(times, 0.99)} ms`, `${times.length} checks`);
  }
  console.log(
    `  99th percentile: ${(Number(at(during, 0.99)) / Number(at(before, 0.99))).toFixed(1)} times the idle one`,
  );
}

async function latencies(url: string, ms: number): Promise<number[]> {
  const path = `/registry/v2/check/all?to=${addressFrom(1)}&from=${addressFrom(2)}&chainId=8453`;
  while ((await fetch(url + path)).status !== 200) await Bun.sleep(50);
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const began = performance.now();
    await (await fetch(url + path)).text();
    times.push(performance.now() - began);
    await Bun.sleep(1);
  }
  return times.slice(200).sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number) =>
  (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);

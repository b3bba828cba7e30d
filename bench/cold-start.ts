// Measures how long a new machine takes to its first answer about a chain with a long history: from an archive, from an archive service,
// and from a node with limits alone.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkUrl } from '../src/api/url.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { eventually } from '../test/support/eventually.ts';
import { PROGRAM } from '../test/support/serve-process.ts';
import { count, megabytes, times } from './figures.ts';
import { eventAt } from './history.ts';
import type { Bench } from './part.ts';
import { readByOurs } from './reading.ts';
import type { Section } from './section.ts';
import { stopped } from './servers.ts';
import { startNode } from './start-node.ts';

/** In full, the history takes 20,000 calls: about as many as mainnet's at 500 blocks a call. */
const LIMITS = { latencyMs: 50, maxBlocks: 200, above: 'queue' } as const;
const EVENT_EVERY = 4;
const PATIENCE = { seconds: 7200 };

interface Start {
  readonly name: string;
  readonly seconds: number;
  readonly calls: number;
}

export async function benchColdStart({ sizes, folder }: Bench): Promise<Section[]> {
  const { coldBlocks: blocks, coldCalls: callsPerSecond } = sizes;
  const events = blocks / EVENT_EVERY;
  const archives = join(folder, 'archives');
  mkdirSync(archives);
  const startedAt = Math.floor(Date.now() / 1000);
  const same = { every: EVENT_EVERY, startedAt };
  const source = `sqlite:${join(folder, 'cold-source.db')}`;
  {
    await using node = await startNode(blocks, same);
    await readByOurs({ name: 'source', databaseUrl: source, rpcUrl: node.url(1), blocks, events });
  }
  const [file, size] = exportArchive(source, archives);

  await using web = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => new Response(Bun.file(join(archives, new URL(request.url).pathname))),
  });
  const measure = async (name: string, run: (url: string) => Promise<number>): Promise<Start> => {
    await using node = await startNode(blocks, { ...same, throttle: { ...LIMITS, callsPerSecond } });
    const began = performance.now();
    const seconds = ((await run(node.url(1))) - began) / 1000;
    return { name, seconds, calls: (await node.calls()).answered };
  };
  const database = (name: string) => `sqlite:${join(folder, `cold-${name}.db`)}`;
  const imported = await measure(`an archive of ${megabytes(size)}`, async (rpcUrl) => {
    const databaseUrl = database('import');
    const environment = { ...process.env, DATABASE_URL: databaseUrl, RPC_URL_1: rpcUrl, TMPDIR: folder };
    const { exitCode, stderr } = await runImport(`http://127.0.0.1:${web.port}/${file}`, environment);
    if (exitCode !== 0) throw new Error(stderr);
    return firstAnswer(databaseUrl, rpcUrl, blocks);
  });
  // Both mostly wait for their nodes.
  const [served, alone] = await Promise.all([
    measure('an archive service beside the node', (url) => firstAnswer(database('service'), url, blocks, url)),
    measure('the node alone', (url) => firstAnswer(database('node'), url, blocks)),
  ]);
  rmSync(archives, { recursive: true });

  return [
    {
      title: 'First answer on a new machine',
      about: `From an empty SQLite database to a check at the head, for a history of ${count(blocks)} blocks with ${count(events)} grants and revocations. The node has ${LIMITS.latencyMs} ms latency and allows ${callsPerSecond} calls per second, and ${LIMITS.maxBlocks} blocks per eth_getLogs call: ${count(blocks / LIMITS.maxBlocks)} calls cover the history, about as many as Ethereum's takes at 500 blocks a call. The newest 10,000 final blocks are proven before they are answered, a call for each block that the archive does not have. What is imported is compared with the node afterwards, while it is answered. The last two run at the same time, and mostly wait.`,
      columns: ['Start', 'first answer', 'the node alone, over it', 'calls by then'],
      rows: [imported, served, alone].map(({ name, seconds, calls }) => [
        name,
        `${seconds.toFixed(1)} s`,
        times(alone.seconds / seconds),
        count(calls),
      ]),
      ratios: [imported, served].map(({ name, seconds }) => ({
        what: `First answer: the node alone, over ${name}`,
        figure: times(alone.seconds / seconds),
      })),
    },
  ];
}

function exportArchive(databaseUrl: string, folder: string): [file: string, size: number] {
  const environment = { ...process.env, DATABASE_URL: databaseUrl };
  const { exitCode } = Bun.spawnSync([...PROGRAM, 'export', '--to', folder], { env: environment });
  if (exitCode !== 0) throw new Error('the archive was not written');
  const file = 'ethereum.delegations.gz';
  return [file, Bun.file(join(folder, file)).size];
}

async function runImport(url: string, env: Record<string, string | undefined>) {
  const child = Bun.spawn([...PROGRAM, 'import', url], { env, stdout: 'ignore', stderr: 'pipe' });
  const stderr = await new Response(child.stderr).text();
  return { exitCode: await child.exited, stderr };
}

/** Starts the service and returns when it answered a check at the head. */
async function firstAnswer(databaseUrl: string, rpcUrl: string, blocks: number, historyUrl?: string): Promise<number> {
  const port = freePort();
  const child = Bun.spawn([...PROGRAM, 'serve'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      RPC_URL_1: rpcUrl,
      START_BLOCK_1: '1',
      // The chain makes no blocks while it is read.
      MAX_LAG_1: '86400',
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
      ANONYMOUS_LIMIT: 'off',
      ...(historyUrl === undefined ? {} : { HISTORY_URL_1: historyUrl }),
    },
    stdout: 'ignore',
    stderr: 'inherit',
  });
  const { from, to } = eventAt(blocks, 0).delegation;
  const url = `http://127.0.0.1:${port}${checkUrl({ version: 2, scope: 'all', from, to, rights: NO_RIGHTS })}`;
  const isAtHead = async () => {
    const { status, headers } = await fetch(url);
    return status === 200 && Number(headers.get('x-block-number')) > blocks;
  };
  await eventually('the first answer', isAtHead, { ...PATIENCE, child });
  const answeredAt = performance.now();
  await stopped(child);
  return answeredAt;
}

// What a check costs over HTTP, as a ratio to nginx sending a static `true`: same requests, same client, same run.

import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccounts } from '../src/accounts/accounts.ts';
import { createApp, findRoute } from '../src/http/app.ts';
import { checksummed } from '../src/http/checksum.ts';
import { type CheckOperation, OPERATIONS } from '../src/http/operations.ts';
import { targetOf } from '../src/http/query.ts';
import { readCheck } from '../src/http/request.ts';
import type { Question } from '../src/registry/check.ts';
import type { Address } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { findProgram } from '../test/programs.ts';
import { createRandom } from '../test/random.ts';
import { ownCpu, treeCpu } from './cpu.ts';
import { createMass } from './delegations.ts';
import { line, printMachine } from './print.ts';

const DELEGATIONS = 1_000_000;
const QUESTIONS = 20_000;
const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 16;
const CHECK = OPERATIONS.find(({ path }) => path === '/registry/v2/check/contract') as CheckOperation;

type Case = (address: Address) => string;
const CASES: readonly (readonly [string, Case])[] = [
  ['lower case', (address) => address],
  ['checksummed', checksummed],
];

export async function benchHttp(options: string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-bench-'));
  const kept = options[0]?.startsWith('sqlite:') ? options[0] : undefined;
  const databaseUrl = kept ?? `sqlite:${join(folder, 'store.db')}`;
  const running: { stop(): Promise<void> }[] = [];
  try {
    printMachine();
    const questions = await fill(databaseUrl);
    const ours = await startOurs(folder, databaseUrl);
    running.push(ours);
    const nginx = await startNginx(folder);
    running.push(nginx);

    const key = await keyOf(databaseUrl);
    const scripts = CASES.map(([, write], position) => {
      const path = join(folder, `paths-${position}.lua`);
      writeFileSync(
        path,
        luaOf(
          questions.map((question) => pathOf(question, write)),
          key,
        ),
      );
      return path;
    });
    const costs = new Map<string, number[]>();
    const note = (name: string, cost: number) => costs.set(name, [...(costs.get(name) ?? []), cost]);
    for (let round = 0; round <= ROUNDS; round++) {
      const figures: [string, number][] = [['nginx', load(nginx, scripts[0] as string)]];
      for (const [position, [name]] of CASES.entries()) figures.push([name, load(ours, scripts[position] as string)]);
      // The first round warms up.
      if (round > 0) for (const [name, cost] of figures) note(name, cost);
    }
    const nginxCost = median(costs.get('nginx') ?? []);
    console.log(
      'One check of a contract, SQLite, 1 M delegations, a key, headers and request log on; CPU of the server:',
    );
    line('nginx, static true', `${nginxCost.toFixed(1)} µs`, 'access log on');
    for (const [name] of CASES) {
      const cost = median(costs.get(name) ?? []);
      line(`ours, ${name}`, `${cost.toFixed(1)} µs`, `${(cost / nginxCost).toFixed(1)} times nginx`);
    }
    await ours.stop();
    await shares(databaseUrl, questions, new Map(CASES.map(([name]) => [name, median(costs.get(name) ?? [])])));
  } finally {
    for (const server of running) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills a store, and gives back checks: half of pairs that have something, half of pairs that do not. */
async function fill(url: string): Promise<Question[]> {
  const store = await openStore(url);
  const mass = createMass(1);
  let state = (await store.chain(1)) ?? (await store.claim(1, 1000));
  const isNew = state.head === null;
  while (mass.grants < DELEGATIONS) {
    const blocks = mass.next(50_000);
    if (!isNew) continue;
    const head = blocks.at(-1);
    if (head === undefined) break;
    ({ state } = await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks, head }));
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${mass.grants} of ${DELEGATIONS} delegations`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const number = (state.head?.number ?? 0) + 1;
  const head = {
    number,
    hash: `0x${number.toString(16).padStart(64, 'e')}`,
    timestamp: Math.floor(Date.now() / 1000),
  } as const;
  if (!isNew) state = await store.claim(1, 1000);
  await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks: [], head });
  await store.close();
  const random = createRandom(3);
  const drawn = mass.sample.filter(
    ({ version, contract, rights }) => version === 2 && contract && /^0x0*$/.test(rights ?? ''),
  );
  return Array.from({ length: QUESTIONS }, (_, turn): Question => {
    const one = drawn[Math.floor(random() * drawn.length)];
    const other = drawn[Math.floor(random() * drawn.length)];
    if (one?.contract == null || one.rights === null || other === undefined) throw new Error('nothing to ask');
    const { from, contract, rights } = one;
    return { version: 2, scope: 'contract', from, to: (turn % 2 === 0 ? one : other).to, contract, rights };
  });
}

function pathOf(question: Question, write: Case): string {
  if (question.scope !== 'contract') throw new Error('another scope');
  const { to, from, contract } = question;
  return `${CHECK.path}?to=${write(to)}&from=${write(from)}&contract=${write(contract)}`;
}

/** A key: without one, a caller would be refused after 25 requests. */
async function keyOf(database: string): Promise<string> {
  const accounts = await openAccounts(database);
  const created = await accounts.create({ label: 'bench', now: Math.floor(Date.now() / 1000) });
  await accounts.close();
  return created?.text ?? '';
}

/** A script for wrk that asks one path after the other. */
const luaOf = (paths: readonly string[], key: string) => `local requests = {}
function init()
${paths.map((path, position) => `requests[${position + 1}] = wrk.format("GET", "${path}", {["X-API-KEY"] = "${key}"})`).join('\n')}
end
local turn = 0
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
function done(summary, latency)
  print("bad " .. (summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
`;

interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** CPU microseconds of the server for one request. */
function load(server: Server, script: string): number {
  const before = treeCpu(server.pid);
  const { stdout, stderr } = Bun.spawnSync([
    findProgram('wrk'),
    ...['-t', '1', '-c', String(CONNECTIONS), '-d', `${SECONDS}s`, '-s', script, server.url],
  ]);
  const text = stdout.toString();
  const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
  if (requests === 0 || !/^bad 0$/m.test(text)) throw new Error(`wrk failed: ${text}${stderr.toString()}`);
  return (treeCpu(server.pid) - before) / requests;
}

async function startOurs(folder: string, databaseUrl: string): Promise<Server> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/../src/cli/main.ts`, 'serve'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      MAX_LAG_1: '86400',
    },
    stdout: openSync(join(folder, 'ours.log'), 'w'),
    stderr: 'inherit',
  });
  const url = await eventually(async () => {
    const first = (await Bun.file(join(folder, 'ours.log')).text()).split('\n')[0] ?? '';
    return first === '' ? undefined : (JSON.parse(first) as { url: string }).url;
  });
  return { url, pid: child.pid, stop: () => stopped(child) };
}

async function startNginx(folder: string): Promise<Server> {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log ${folder}/nginx.log combined;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server { listen 127.0.0.1:${port}; default_type application/json; location / { return 200 'true'; } }
}
`,
  );
  const child = Bun.spawn([findProgram('nginx'), '-c', config, '-e', join(folder, 'nginx-error.log')], {
    stdout: 'ignore',
    stderr: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => ((await fetch(url).catch(() => null))?.ok ? true : undefined));
  return { url, pid: child.pid, stop: () => stopped(child) };
}

async function stopped(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM');
  await child.exited;
}

async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let left = 200; left > 0; left--) {
    const found = await attempt();
    if (found !== undefined) return found;
    await Bun.sleep(50);
  }
  throw new Error('a server did not start within 10 s');
}

/** Where the time goes: each step alone, in this process, and the socket as what is left of the whole. */
async function shares(url: string, questions: readonly Question[], whole: ReadonlyMap<string, number>): Promise<void> {
  const store = await openStore(url, { readOnly: true });
  const app = createApp({
    store,
    chainIds: new Set([1]),
    now: () => Date.now() / 1000,
    maxLag: () => 86_400,
    answerTimeout: 60,
  });
  for (const [name, write] of CASES) {
    const paths = questions.map((question) => pathOf(question, write));
    const queries = paths.map((path) => path.slice(path.indexOf('?') + 1));
    const requests = paths.map((path) => new Request(`http://127.0.0.1${path}`));
    const each = async (work: (turn: number) => unknown) => {
      const cost = [];
      for (let pass = 0; pass < 8; pass++) {
        const before = ownCpu();
        for (let turn = 0; turn < QUESTIONS; turn++) await work(turn);
        cost.push((ownCpu() - before) / QUESTIONS);
      }
      return median(cost.slice(1));
    };
    const idle = await each(() => undefined);
    const routing = (await each((turn) => findRoute(targetOf((requests[turn] as Request).url).path))) - idle;
    const validation = (await each((turn) => readCheck(CHECK, queries[turn] as string))) - idle;
    const lookup = (await each((turn) => store.check(1, questions[turn] as Question))) - idle;
    const all = (await each((turn) => app.fetch(requests[turn] as Request))) - idle;
    const total = whole.get(name) ?? all;
    const share = (cost: number) => `${cost.toFixed(1)} µs (${((100 * cost) / total).toFixed(0)} %)`;
    console.log(`\nWhere it goes, ${name}:`);
    line('routing', share(routing));
    line('validation', share(validation));
    line('lookup', share(lookup));
    line('response', share(all - routing - validation - lookup));
    line('socket, log and metrics', share(total - all));
  }
  await store.close();
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

// Runs npm run sandbox as after a fresh clone.

import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATIONS } from '../src/api/operations.ts';
import { splitQuestion } from '../src/api/question.ts';
import { readRequest } from '../src/api/request.ts';
import { decodeAnswer, encodeCheck } from '../src/chain/registry-calls.ts';
import { createRpc } from '../src/chain/rpc.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { COLD, CONTRACTS, HOT } from '../src/sandbox/wallets.ts';
import { type SandboxProcess, startSandbox } from './support/sandbox-process.ts';
import { runCommand } from './support/serve-process.ts';

const scratch = mkdtempSync(join(tmpdir(), 'delegations-sandbox-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Sandbox extends SandboxProcess {
  /** The directory of its temporary files. */
  readonly folder: string;
}

function start(environment: Record<string, string> = {}): Sandbox {
  const folder = mkdtempSync(join(scratch, 'run-'));
  return { ...startSandbox({ TMPDIR: folder, ...environment }), folder };
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let left = 600; !isTrue(); left--) {
    if (left === 0) throw new Error(`not within 60 s: ${what}`);
    await Bun.sleep(100);
  }
}

/** The descendants of a process. */
function processesBelow(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        return Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === pid;
      } catch {
        return false;
      }
    });
  return children.flatMap((id) => [id, ...processesBelow(id)]);
}
const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

async function expectNothingLeft(processes: readonly number[], folder: string): Promise<void> {
  await until('all processes are gone', () => !processes.some(isAlive));
  await until('all files are gone', () => readdirSync(folder).length === 0);
}

/** The token gates in docs/integrating.md, which name the sandbox's wallets, give what is shown there. */
async function expectDocumentedGates(origin: string): Promise<void> {
  const docs = readFileSync(join(import.meta.dir, '../docs/integrating.md'), 'utf8');
  const examples = [...docs.matchAll(/curl 'http:\/\/localhost:8080(\/registry\/any\/holders\/\S+)'\n(.+)\n/g)];
  expect(examples.length).toBeGreaterThanOrEqual(2);
  for (const [, path = '', shown = ''] of examples) {
    const text = await (await fetch(origin + path)).text();
    const [holds, balance] = [/"holds":\w+/, /"balance":"?\d+"?/].map((part) => part.exec(shown)?.[0] ?? '?');
    expect(text).toContain(holds as string);
    expect(text).toContain(balance as string);
  }
}

/** The command answers as the API does. */
async function expectHolders(origin: string): Promise<void> {
  const lights = ['--contract', CONTRACTS['Harbour Lights'], '--url', origin];
  const yes = await runCommand(['holders', HOT.Cleo, '--token-id', '42', ...lights]);
  expect([yes.code, yes.stderr]).toEqual([0, '']);
  expect(yes.stdout).toMatch(
    /^yes \(at block \d+, \S+Z\)\nOWNER +BALANCE +BY +SINCE\n0x\w+ +1 +v2 ERC721 +\d+, \S+Z\n$/,
  );
  const itself = await runCommand(['holders', COLD.Ben, '--json', ...lights]);
  expect([itself.code, JSON.parse(itself.stdout)]).toMatchObject([0, { holders: [{ balance: '2', delegations: [] }] }]);
  const no = await runCommand(['holders', HOT.Cleo, '--token-id', '11', ...lights]);
  expect([no.code, no.stdout]).toEqual([1, expect.stringMatching(/^no \(at block \d+, \S+Z\)\n$/)]);
  const notAToken = await runCommand(['holders', HOT.Cleo, '--contract', COLD.Ada, '--url', origin]);
  expect([notAToken.code, notAToken.stderr]).toEqual([2, expect.stringContaining('has no contract at that block')]);
  const incomplete = await runCommand(['holders', HOT.Cleo, '--standard', 'ERC1155', ...lights]);
  expect([incomplete.code, incomplete.stderr]).toEqual([
    2,
    expect.stringContaining('--token-id is required with standard=ERC1155'),
  ]);
  expect((await runCommand(['holders', HOT.Cleo])).stderr).toContain('--contract is required');
}

test('gives the printed answers, which the contracts confirm, keeps producing blocks, and cleans up after Ctrl-C', async () => {
  const sandbox = start();
  await sandbox.ready();
  const text = sandbox.text();
  expect(text).toContain('SANDBOX');
  const printed = [...text.matchAll(/curl '([^']+)'\n {4}(\S+)\n/g)].map(([, url = '', answer = '']) => ({
    url,
    answer,
  }));
  expect(printed.length).toBeGreaterThanOrEqual(5);
  const processes = processesBelow(sandbox.child.pid);
  const node = processes
    .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
    .find((words) => words.some((word) => word.endsWith('evm-process.ts')));
  const rpc = createRpc(`http://127.0.0.1:${node?.[2]}`);
  const { registries } = NETWORKS.get(1) as Network;
  let checks = 0;
  for (const { url, answer } of printed) {
    const response = await fetch(url);
    // The next block has another number.
    if (url.includes('/holders/')) {
      expect(await response.json()).toMatchObject({ holds: true, holders: [{ balance: 1 }] });
      expect(answer).toMatch(/^\{"wallet":"0x\w+","holds":true,/);
      continue;
    }
    expect([url, await response.text()]).toEqual([url, answer]);
    expect(response.headers.get('x-sandbox')).toBe('true');
    // The contract agrees at the block that the answer names.
    const { pathname, search } = new URL(url);
    const operation = OPERATIONS.find(({ path }) => path === pathname);
    if (operation?.kind !== 'check') continue;
    const { question } = splitQuestion(operation, readRequest(operation, {}, search.slice(1)));
    const at = `0x${Number(response.headers.get('x-block-number')).toString(16)}`;
    if (question.version === 'any') continue;
    const data = await rpc.call('eth_call', [{ to: registries[question.version], data: encodeCheck(question) }, at]);
    expect([url, String(decodeAnswer(question, String(data)))]).toEqual([url, answer]);
    checks++;
  }
  expect(checks).toBeGreaterThanOrEqual(4);
  const { origin } = new URL(printed[0]?.url ?? '');
  await expectDocumentedGates(origin);
  await expectHolders(origin);
  expect(new Set(printed.map(({ answer }) => answer)).size).toBeGreaterThan(2);
  for (const [, link = ''] of text.matchAll(/^ {4}(http:\S+\/\w+) /gm)) expect((await fetch(link)).status).toBe(200);
  await until('something happens', () => /^ {2}· /m.test(sandbox.text()));

  sandbox.child.kill('SIGINT');
  expect(await sandbox.child.exited).toBe(0);
  expect(sandbox.text()).toContain('Stopped. All data was deleted.');
  await expectNothingLeft(processes, sandbox.folder);
});

test('when its chain dies, it exits with an error and cleans up', async () => {
  const sandbox = start();
  await sandbox.ready();
  const processes = processesBelow(sandbox.child.pid);
  const node = processes.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('evm-process.ts'));
  process.kill(node as number, 'SIGKILL');
  expect(await sandbox.child.exited).toBe(2);
  expect(await new Response(sandbox.child.stderr).text()).toContain('The local chain exited, so the sandbox stops.');
  await expectNothingLeft(processes, sandbox.folder);
});

test('when it is killed, its child processes exit too', async () => {
  const sandbox = start();
  await sandbox.ready();
  const processes = processesBelow(sandbox.child.pid);
  expect(processes.length).toBeGreaterThanOrEqual(2);
  sandbox.child.kill('SIGKILL');
  await sandbox.child.exited;
  await until('all processes are gone', () => !processes.some(isAlive));
});

test('a port in use, a directory that is not writable and an invalid setting are clear errors', async () => {
  const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  for (const [environment, why] of [
    [
      { PORT: String(taken.port) },
      `Port ${taken.port} is already in use. Choose another one: PORT=${Number(taken.port) + 1} npm run sandbox`,
    ],
    [{ TMPDIR: '/nowhere' }, 'Cannot create a folder in /nowhere'],
    [{ PORT: 'eighty' }, 'PORT must be an integer'],
  ] as const) {
    const sandbox = start(environment);
    expect(await sandbox.child.exited).toBe(2);
    const said = await new Response(sandbox.child.stderr).text();
    expect(said).toContain(why);
    expect(said).not.toContain('    at ');
  }
  await taken.stop(true);
});

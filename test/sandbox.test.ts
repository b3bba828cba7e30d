// Runs npm run sandbox as after a fresh clone.

import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATIONS } from '../src/api/operations.ts';
import { splitQuestion } from '../src/api/question.ts';
import { readRequest } from '../src/api/request.ts';
import { decodeAnswer, encodeCheck } from '../src/chain/audit/registry-answers.ts';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { requirePorts, sandboxSettings } from '../src/sandbox/sandbox-settings.ts';
import { COLD, CONTRACTS, HOT } from '../src/sandbox/wallets.ts';
import { eventually } from './support/eventually.ts';
import { type SandboxProcess, startSandbox } from './support/sandbox-process.ts';
import { runCommand } from './support/serve-process.ts';

const scratch = mkdtempSync(join(tmpdir(), 'delegations-sandbox-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Sandbox extends SandboxProcess {
  /** The directory of its temporary files. */
  readonly folder: string;
}

function start(environment: Record<string, string> = {}, ...options: string[]): Sandbox {
  const folder = mkdtempSync(join(scratch, 'run-'));
  return { ...startSandbox({ TMPDIR: folder, ...environment }, ...options), folder };
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
  await eventually('all processes are gone', () => !processes.some(isAlive));
  await eventually('all files are gone', () => readdirSync(folder).length === 0);
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
  const rpc = createRpc(/^ +JSON-RPC +(\S+)/m.exec(text)?.[1] ?? '');
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
  await expectHolders(origin);
  expect(new Set(printed.map(({ answer }) => answer)).size).toBeGreaterThan(2);
  for (const [, link = ''] of text.matchAll(/^ {4}(http:\S+\/\w+) /gm)) expect((await fetch(link)).status).toBe(200);
  await eventually('something happens', () => /^ {2}· /m.test(sandbox.text()));

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
  await eventually('all processes are gone', () => !processes.some(isAlive));
});

test('when it is stopped, it exits at once: nothing keeps it alive until the next transaction', async () => {
  const sandbox = start({}, '--interval', '86400');
  await sandbox.ready();
  const processes = processesBelow(sandbox.child.pid);
  sandbox.child.kill('SIGINT');
  expect(await sandbox.child.exited).toBe(0);
  await expectNothingLeft(processes, sandbox.folder);
});

test('its JSON-RPC has another port if 8545 is in use', () => {
  let taken: Bun.Server<undefined> | null = null;
  try {
    taken = Bun.serve({ hostname: '127.0.0.1', port: 8545, reusePort: false, fetch: () => new Response() });
  } catch {
    // Another program has it.
  }
  const settings = sandboxSettings({}, { port: 0, quiet: true });
  const port = requirePorts(settings);
  expect([port === 8545, port > 0]).toEqual([false, true]);
  void taken?.stop(true);
});

test('a port in use, a directory that is not writable and an invalid setting are clear errors', async () => {
  const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const port = String(taken.port);
  for (const [environment, options, why] of [
    [{}, ['--port', port], `Port ${port} is already in use. Choose another one: --port ${Number(port) + 1}`],
    [{}, ['--rpc-port', port], `Port ${port} is already in use. Choose another one: --rpc-port ${Number(port) + 1}`],
    [{ METRICS_PORT: port }, [], `Choose another one: METRICS_PORT=${Number(port) + 1}`],
    [{ TMPDIR: '/nowhere' }, [], 'Cannot create a folder in /nowhere'],
    [{ METRICS_PORT: 'eighty' }, [], 'PORT must be an integer'],
    [{}, ['--port', '65536'], '--port must be from 0 to 65535, got 65536.'],
    [{}, ['--interval', '86401'], '--interval must be from 0 to 86400 seconds, got 86401.'],
    [{}, ['--scenario', '/nowhere/steps.json'], 'Cannot read the scenario /nowhere/steps.json'],
  ] as const) {
    const sandbox = start(environment, ...options);
    expect(await sandbox.child.exited).toBe(2);
    const said = await new Response(sandbox.child.stderr).text();
    expect(said).toContain(why);
    expect(said).not.toContain('    at ');
  }
  await taken.stop(true);
});

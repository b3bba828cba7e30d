// Every code block of the documentation is run: here against a running sandbox, or by the test that is named here. What is
// not run is listed with its reason.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { encodeCall, type RegistryCall } from '../src/registry/registry-call.ts';
import { COLD, CONTRACTS, HOT } from '../src/sandbox/wallets.ts';
import { type CodeBlock, codeBlock, codeBlocks, curlExamples, PAGES } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { run } from './support/packed-client.ts';
import { findProgram } from './support/programs.ts';
import { startRpcProxy } from './support/rpc-proxy.ts';
import { checkTypes, isRunnable, type Program, programsOf, write } from './support/run-block.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import { runProgram } from './support/serve-process.ts';
import { MAINNET } from './support/vectors.ts';

const ROOT = join(import.meta.dir, '..');

/** Throws if a block of Go is not formatted. */
function checkFormat({ text }: CodeBlock): void {
  const folder = temporaryPath('gofmt');
  const gofmt = join(dirname(findProgram('go')), 'gofmt');
  const changes = run(folder, gofmt, '-d', write(folder, 'main.go', text));
  if (changes !== '') throw new Error(changes);
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const BLOCK = /(block |"number":)\d+/g;

/** Whether a text is the expected one. Blocks and times are those of another day. */
function isAsShown(printed: string, shown: string): boolean {
  const plain = (text: string) => text.trim().replace(TIME, 'TIME').replace(BLOCK, '$1N');
  const pattern = plain(shown)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`, 's').test(plain(printed));
}

/** Blocks that another test runs, by a text in them. */
const ELSEWHERE: readonly (readonly [page: string, text: string, testFile: string])[] = [
  ['docs/architecture.md', 'api --> registry', 'test/imports.test.ts'],
  ['docs/architecture.md', 'prove --> rpc', 'test/imports.test.ts'],
  ['docs/architecture.md', 'limits --> wire', 'test/imports.test.ts'],
  ['docs/integrating.md', '"type": "delegations.changes"', 'test/integrating.test.ts'],
  ['docs/integrating.md', 'const copy = ', 'test/integrating.test.ts'],
  ['docs/integrating.md', "from 'standardwebhooks'", 'test/webhook-receiver.test.ts'],
  ['docs/integrating.md', 'BaseHTTPRequestHandler', 'test/webhook-receiver.test.ts'],
  ['docs/integrating.md', 'func isSigned', 'test/webhook-receiver.test.ts'],
  ['docs/integrating.md', 'new EventSource', 'test/event-source.test.ts'],
  ['docs/integrating.md', '"name": "api-post"', 'src/http/answers/votes.test.ts'],
  ['docs/integrating.md', 'delegations allowlist', 'test/claim.test.ts'],
  ['docs/integrating.md', 'function claimOf', 'test/claim.test.ts'],
  ['docs/integrating.md', '"grant": "ERC20"', 'test/sandbox-fixture.test.ts'],
  ['docs/integrating.md', "spawn('delegations'", 'test/sandbox-fixture.test.ts'],
  ['docs/integrating.md', "from './sandbox.js'", 'test/sandbox-fixture.test.ts'],
  ['docs/integrating.md', 'trap ', 'test/sandbox-fixture.test.ts'],
  ['docs/migrating.md', 'function mayAct', 'test/migrating.test.ts'],
  ['docs/operating.md', 'delegations backup backup.db', 'test/operating.test.ts'],
  ['docs/operating.md', 'pg_dump --format=custom', 'test/operating.test.ts'],
  ['docs/operating.md', 'sqlite3 -bail', 'test/operating.test.ts'],
  ['docs/operating.md', 'keys create', 'test/operating.test.ts'],
  ['docs/operating.md', 'iptables -A', 'test/operating.test.ts'],
  ['docs/operating.md', 'FROM delegations_current', 'test/views.test.ts'],
  ['docs/operating.md', 'FORMAT parquet', 'test/views.test.ts'],
];

const NOT_RUN: readonly (readonly [page: string, text: string, why: string])[] = [
  ['README.md', 'npm ci && npm test', 'it installs the project and runs all tests, of which this is one'],
  ['README.md', 'chain RPCs ──►', 'it is a picture'],
  ['client/README.md', 'npm install', 'it is not published; client/test/package.test.ts packs and installs it'],
  ['docs/architecture.md', 'chain RPCs ──►', 'it is a picture'],
  ['docs/operating.md', 'npx ./dist/delegations-0.1.0.tgz', 'test/package.test.ts does the same in an empty folder'],
  ['docs/operating.md', 'docker load', 'it needs Docker; test/image.test.ts builds and runs the image without it'],
  ['docs/operating.md', 'docker compose', 'it needs Docker; deploy/deploy.test.ts checks the files'],
  [
    'docs/operating.md',
    'useradd',
    'it changes the users and services of the machine; deploy/deploy.test.ts checks the units',
  ],
  [
    'docs/operating.md',
    './delegations import https://archive.example',
    'it needs an archive and a node; test/published-archives.test.ts imports what a service publishes',
  ],
  ['docs/operating.md', 'systemd-run', 'it needs a machine that systemd has started'],
  ['docs/integrating.md', '"command": "npx"', 'it configures another program; test/mcp.test.ts starts the same server'],
  ['docs/integrating.md', '"type": "http"', 'it configures another program; test/mcp.test.ts asks the same server'],
  ['docs/operating.md', 'kubectl apply', 'it needs a cluster; deploy/deploy.test.ts checks the manifests'],
];

const CLIENT_PAGE = 'client/README.md';
const NPM_START = / npm start$/m;
const SESSION = codeBlock('docs/integrating.md', 'mayPlay = ()');

const ALL = PAGES.flatMap(codeBlocks);
const at = ({ page, line }: CodeBlock) => `${page}:${line}`;
const isListed = (list: readonly (readonly [string, string, string])[]) => {
  const places = new Set(list.map(([page, text]) => at(codeBlock(page, text))));
  return (block: CodeBlock) => places.has(at(block));
};
const answered = new Set(
  ['docs/integrating.md', 'docs/migrating.md']
    .flatMap(curlExamples)
    .flatMap(({ command, answer }) => [at(command), at(answer)]),
);
const isListedElsewhere = isListed(ELSEWHERE);
/** The client's own test runs every block of its README: they belong together. */
const isOfClient = ({ page, language }: CodeBlock) => page === CLIENT_PAGE && language.startsWith('ts');
const elsewhere = ALL.filter((block) => isListedElsewhere(block) || answered.has(at(block)) || isOfClient(block));
const notRun = ALL.filter(isListed(NOT_RUN));
const here = ALL.filter((block) => !elsewhere.includes(block) && !notRun.includes(block));

test('every block is run, or says why not', () => {
  console.log(
    `code blocks: ${here.length} run here, ${elsewhere.length} by other tests, ${notRun.length} not run, ${ALL.length} in all`,
  );
  for (const [page, text, why] of NOT_RUN) console.log(`not run: ${at(codeBlock(page, text))}: ${why}`);
  expect(here.filter((block) => !isRunnable(block)).map(at)).toEqual([]);
  expect(elsewhere.filter((block) => notRun.includes(block)).map(at)).toEqual([]);
});

test('the tests that run a block exist, and name its page', () => {
  for (const [page, , testFile] of [...ELSEWHERE, [CLIENT_PAGE, '', 'client/test/readme.test.ts'] as const]) {
    const text = readFileSync(join(ROOT, testFile), 'utf8');
    expect([testFile, text.includes(page)]).toEqual([testFile, true]);
  }
});

test('the reasons name files that exist', () => {
  const files = NOT_RUN.flatMap(([, , why]) => why.match(/[\w/-]+\.test\.ts/g) ?? []);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('a shell can parse what is not run', async () => {
  for (const block of notRun.filter(({ language }) => language === 'sh')) {
    const { code, stderr } = await runProgram(['bash', '-n', '-c', block.text]);
    expect([at(block), code, stderr]).toEqual([at(block), 0, '']);
  }
});

test(
  'TypeScript compiles in a strict project',
  () => checkTypes(here.filter(({ language }) => language === 'ts')),
  300_000,
);

test('Go is formatted', () => here.filter(({ language }) => language === 'go').forEach(checkFormat));

const runs = ({ command, folder, environment }: Program) => runProgram(command, { folder, environment });

describe('against a sandbox', () => {
  let sandbox: QuietSandbox;
  beforeAll(async () => {
    sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' });
  });
  afterAll(() => sandbox.stop());

  const examples = here.filter((block) => !NPM_START.test(block.text) && at(block) !== at(SESSION));

  for (const block of examples) {
    test(`${at(block)} (${block.language}) prints what is shown`, async () => {
      const programs = programsOf(block, sandbox);
      expect(programs.length).toBeGreaterThan(0);
      for (const program of programs) {
        const { stdout, stderr, code } = await runs(program);
        expect([code, stderr]).toEqual([0, expect.anything()]);
        expect(program.output).not.toBe('');
        if (!isAsShown(stdout, program.output)) expect(stdout).toBe(program.output);
      }
    });
  }

  for (const block of here.filter(({ text }) => NPM_START.test(text))) {
    test(`${at(block)} follows the chain and answers`, async () => {
      const chainId = /RPC_URL_(\d+)/.exec(block.text)?.[1] ?? '1';
      const node = startRpcProxy(sandbox.rpcUrl);
      node.lies = ({ method }) => (method === 'eth_chainId' ? `0x${Number(chainId).toString(16)}` : undefined);
      const providers = [node.url, node.url.replace('127.0.0.1', 'localhost')];
      const command = block.text.replace(/https:\/\/node[\w-]*\.example(\/key)?/g, () => providers.shift() ?? '');
      const child = Bun.spawn(['bash', '-c', `exec env ${command}`], {
        cwd: ROOT,
        env: {
          ...process.env,
          DATABASE_URL: `sqlite:${temporaryPath('start.db')}`,
          PORT: '0',
          METRICS_PORT: '0',
          [`START_BLOCK_${chainId}`]: '0',
          ANONYMOUS_LIMIT: 'off',
        },
        stdout: 'pipe',
        stderr: 'inherit',
      });
      let log = '';
      void (async () => {
        for await (const chunk of child.stdout) log += new TextDecoder().decode(chunk);
      })();
      try {
        const path = `/registry/v2/check/all?from=${COLD.Ada}&to=${HOT.Ada}&chainId=${chainId}`;
        await eventually('it answers yes', async () => {
          const [, own] = /"message":"listening","url":"([^"]+)"/.exec(log) ?? [];
          return own !== undefined && (await (await fetch(own + path)).text()) === 'true';
        });
      } finally {
        child.kill('SIGTERM');
        await child.exited;
        await node.stop();
      }
    });
  }

  test(`${at(SESSION)} ends when the vault revokes`, async () => {
    const [program] = programsOf(SESSION, sandbox);
    if (program === undefined) throw new Error('no program');
    const child = Bun.spawn([...program.command], { cwd: program.folder, stdout: 'pipe', stderr: 'inherit' });
    const lines: string[] = [];
    const decoder = new TextDecoder();
    const ended = (async () => {
      for await (const chunk of child.stdout) lines.push(decoder.decode(chunk).trim());
    })();
    await eventually('the session starts', async () => lines.length > 0);
    const play = `0x${Buffer.from('play').toString('hex').padEnd(64, '0')}`;
    const revokes: RegistryCall = ['v2', COLD.Ada, 'delegateERC721', [HOT.Ben, CONTRACTS.Foghorns, '7', play, false]];
    const transaction = { from: COLD.Ada, to: MAINNET.registries[2], data: encodeCall(revokes), gas: '0x2dc6c0' };
    await createRpc(sandbox.rpcUrl).call('eth_sendTransaction', [transaction]);
    await ended;
    expect([await child.exited, lines.join('\n')]).toEqual([0, program.output]);
  });
});

describe('without an answer', () => {
  const problem = { type: '/docs#problem-chain-stale', title: 'Chain stale', status: 503, detail: 'Chain 1 is stale.' };
  let server: Bun.Server<undefined>;
  beforeAll(() => {
    // A pause that the client does not wait for.
    const init = { status: 503, headers: { 'Retry-After': '600', 'Content-Type': 'application/problem+json' } };
    server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(problem, init) });
  });
  afterAll(() => server.stop(true));

  const isRecipe = ({ language, text }: CodeBlock) => language !== 'sh' || text.startsWith('curl -f');
  const recipes = here.filter((block) => isRecipe(block) && !NPM_START.test(block.text));

  test('there are recipes in four languages', () => {
    expect([...new Set(recipes.map(({ language }) => language))].sort()).toEqual(['go', 'python', 'sh', 'ts']);
  });

  for (const block of recipes) {
    test(`${at(block)} (${block.language}) fails and prints nothing`, async () => {
      const url = `http://127.0.0.1:${server.port}`;
      for (const program of programsOf(block, { url, rpcUrl: url })) {
        const { code, stdout, stderr } = await runs(program);
        expect([code === 0, stdout]).toEqual([false, '']);
        expect(stderr).toMatch(/503|Chain stale/);
      }
    });
  }
});

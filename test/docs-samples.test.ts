// Every sample of /docs, in each language, gives the answer that is printed beside it: on the sandbox that its reader has.
// Only the newest block differs, which grows while the tests run, and cursors, which name it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES } from '../src/api/examples.ts';
import { GROUP_PATHS } from '../src/web/docs/docs-pages.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { findProgram } from './support/programs.ts';
import { checkTypes, programsOf } from './support/run-block.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import { runProgram } from './support/serve-process.ts';

interface DocsExample {
  /** The id of its section. */
  readonly section: string;
  readonly summary: string;
  /** By language. */
  readonly samples: ReadonlyMap<string, string>;
  readonly answer: unknown;
}

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const textOf = (html: string) =>
  html.replace(/<[^>]+>/g, '').replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => SIGNS[name] ?? '');

/** The samples of /docs and the pages below it as a reader sees them. */
async function docsExamples(url: string): Promise<DocsExample[]> {
  let html = '';
  for (const path of ['/docs', ...GROUP_PATHS]) html += await (await fetch(url + path)).text();
  return html
    .split('<section id="')
    .slice(1)
    .flatMap((section) =>
      section
        .split('<div class="example">')
        .slice(1)
        .map((example) => ({
          section: section.slice(0, section.indexOf('"')),
          summary: textOf(/<h\d class="about">(.*?)<\/h\d>/.exec(example)?.[1] ?? ''),
          samples: new Map(
            [...example.matchAll(/<pre data-language="(\w+)">(.*?)<\/pre>/gs)].map(([, language = '', code = '']) => [
              language,
              textOf(code),
            ]),
          ),
          answer: JSON.parse(textOf(/<pre class="answer"[^>]*>(.*?)<\/pre>/s.exec(example)?.[1] ?? '')),
        })),
    );
}

async function printed(command: readonly string[], folder: string): Promise<string> {
  const { stdout, stderr, code } = await runProgram(command, { folder, environment: {} });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

async function runCurl(samples: readonly string[]): Promise<string[]> {
  findProgram('curl');
  const outputs: string[] = [];
  for (const sample of samples)
    outputs.push(await printed(['bash', '-c', sample.replace(/^curl/, 'curl --no-progress-meter')], '.'));
  return outputs;
}

const PYTHON = `
import contextlib, io, json, sys
outputs = []
for sample in json.load(open(sys.argv[1])):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(sample, "sample", "exec"), {"__name__": "__main__"})
    outputs.append(output.getvalue())
print(json.dumps(outputs))
`;

/** In one process, one after the other: starting it takes longer than a sample. */
async function runPython(samples: readonly string[]): Promise<string[]> {
  const file = temporaryPath('samples.json');
  writeFileSync(file, JSON.stringify(samples));
  return JSON.parse(await printed([findProgram('python3'), '-c', PYTHON, file], '.'));
}

const TYPESCRIPT = `
const outputs = [];
const print = console.log;
for (const file of process.argv.slice(2)) {
  const values = [];
  console.log = (...some) => values.push(...some);
  await import('./' + file);
  outputs.push(values);
}
print(JSON.stringify(outputs, (_, value) => (typeof value === 'bigint' ? value + 'n' : value)));
`;

/** The values that each prints. A bigint is a text with an "n". In one process, like Python. */
async function runTypeScript(samples: readonly string[], url: string): Promise<unknown[][]> {
  const programs = samples.flatMap((text) =>
    programsOf({ page: '/docs', line: 0, language: 'ts', text }, { url, rpcUrl: '' }),
  );
  const folder = programs[0]?.folder ?? '';
  writeFileSync(join(folder, 'run-all.js'), TYPESCRIPT);
  const files = programs.map(({ command }) => command[1] ?? '');
  return JSON.parse(await printed([process.execPath, 'run-all.js', ...files], folder));
}

let sandbox: QuietSandbox;
let examples: readonly DocsExample[];
beforeAll(async () => {
  sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' });
  // The sandbox finds out right after its start which blocks are final.
  await eventually('final blocks', async () => {
    examples = await docsExamples(sandbox.url);
    return !JSON.stringify(examples.map(({ answer }) => answer)).includes('"final":false');
  });
});
afterAll(() => sandbox.stop());

const samplesOf = (language: string) =>
  examples.flatMap((example) => {
    const text = example.samples.get(language);
    return text === undefined ? [] : [{ example, text, name: `${example.section}: ${example.summary}` }];
  });

/** The newest block stands in `chains`, beside the id of a chain of votes, or as the one block of a batch or of a token gate. */
const comparable = (value: unknown) =>
  JSON.stringify(
    value,
    (name, part) => {
      if (name === 'cursor') return 'any cursor';
      if (name === 'chains') return (part as { chainId: number }[]).map(({ chainId }) => ({ chainId }));
      const names = typeof part === 'object' && part !== null ? Object.keys(part) : [];
      const isAsOfOne = names.includes('holds') || names.includes('answers') || names.join() === 'chainId,block';
      if (isAsOfOne) return { ...part, block: 'any block' };
      return part;
    },
    2,
  );

test('the page has every example, with a sample in each language, or a curl command for what is refused', () => {
  expect(examples.length).toBe(EXAMPLES.length + 1);
  for (const { request, problem } of EXAMPLES) {
    const found = examples.filter(({ samples }) => samples.get('sh')?.includes(`'${sandbox.url}${request}'`));
    expect([request, found.length > 0]).toEqual([request, true]);
    // Votes are asked by others than our client.
    const languages = request.startsWith('/registry/any/votes') ? ['sh', 'python'] : ['sh', 'ts', 'python'];
    expect([...(found[0]?.samples.keys() ?? [])]).toEqual(problem === undefined ? languages : ['sh']);
  }
});

test('the printed answers have the blocks of this sandbox, not those of another chain', async () => {
  const vaults = examples.find(({ section }) => section === 'operation-vaults')?.answer as {
    vaults: { grants: { since: { block: number; timestamp: number } }[] }[];
  };
  const { block, timestamp } = vaults.vaults[0]?.grants[0]?.since ?? { block: 0, timestamp: 0 };
  const response = await fetch(sandbox.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getBlockByNumber',
      params: [`0x${block.toString(16)}`, false],
    }),
  });
  const { result } = (await response.json()) as { result: { timestamp: string } };
  expect(Number(result.timestamp)).toBe(timestamp);
});

test('every curl command answers as printed', async () => {
  const samples = samplesOf('sh');
  const outputs = await runCurl(samples.map(({ text }) => text));
  for (const [index, { name, example }] of samples.entries())
    expect([name, comparable(JSON.parse(outputs[index] ?? ''))]).toEqual([name, comparable(example.answer)]);
});

test('every Python program prints the answer', async () => {
  const samples = samplesOf('python');
  const outputs = await runPython(samples.map(({ text }) => text));
  for (const [index, { name, example }] of samples.entries())
    expect([name, comparable(JSON.parse(outputs[index] ?? ''))]).toEqual([name, comparable(example.answer)]);
});

test('every TypeScript program compiles in a strict project', () => {
  checkTypes(samplesOf('ts').map(({ text }, index) => ({ page: '/docs', line: index, language: 'ts', text })));
});

interface Row {
  readonly from?: string;
  readonly to?: string;
  readonly vault?: string;
  readonly delegate?: string;
  readonly contract: string | null;
}
/** The client has one shape of a delegation, in full detail. */
const shortRow = ({ vault, delegate, from = vault, to = delegate, contract }: Row) => ({ from, to, contract });

type Body = Readonly<Record<string, readonly unknown[]>> & { readonly holds?: boolean };

/** The client has the version in every delegation. */
const withVersion = (one: unknown) => {
  const { delegation } = one as { readonly delegation: object | null };
  return { ...(one as object), delegation: delegation && { version: 2, ...delegation } };
};

/** What the client makes of an answer, as it is printed. */
function printedBy(section: string, answer: unknown): unknown[] {
  if (typeof answer === 'boolean') return [answer];
  if (typeof answer !== 'object') return [`${answer}n`];
  const body = answer as Body;
  switch (section) {
    case 'operation-vaults':
      return [body['vaults']];
    case 'operation-delegates':
      return [body['delegates']];
    case 'operation-holders':
      return [body.holds];
    case 'operation-history':
      return [body['grants']];
    case 'operation-listAny':
      return [body['delegations']];
    case 'operation-changes':
      return [...(body['changes'] ?? [])];
    case 'operation-exclusiveWallet':
    case 'operation-exclusiveOwner':
      return [withVersion(answer)];
    case 'operation-exclusiveVaults':
      return [body['vaults']?.map(withVersion)];
    case 'operation-vaultsBatch':
    case 'operation-delegatesBatch':
    case 'operation-holdersBatch': {
      const name = section.slice('operation-'.length, -'Batch'.length);
      return (body['answers'] as readonly Record<string, unknown>[]).map((one) =>
        name === 'holders' ? one['holds'] : one[name],
      );
    }
    case 'operation-checkBatch':
      return (body['answers'] as readonly { result?: boolean | string; problem?: { title: string } }[]).map(
        ({ result, problem }) => (typeof result === 'string' ? `${result}n` : (result ?? problem?.title)),
      );
    default:
      return [(answer as readonly Row[]).map(shortRow)];
  }
}

test('every TypeScript program prints the same as the client’s values, and what its comment says', async () => {
  const samples = samplesOf('ts');
  const outputs = await runTypeScript(
    samples.map(({ text }) => text),
    sandbox.url,
  );
  for (const [index, { name, example, text }] of samples.entries()) {
    const values = outputs[index] ?? [];
    const isList = /^operation-listV\d$/.test(example.section);
    const seen = isList ? values.map((rows) => (rows as readonly Row[]).map(shortRow)) : values;
    expect([name, comparable(seen)]).toEqual([name, comparable(printedBy(example.section, example.answer))]);
    const [, comment] = /console\.log\(answer\); \/\/ (.+)$/.exec(text) ?? [];
    if (comment !== undefined) expect([name, String(values[0])]).toEqual([name, comment]);
  }
});

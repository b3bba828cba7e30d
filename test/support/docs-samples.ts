// The samples of /docs as a reader sees them, and how the ones of each language are run.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryPath } from './engines.ts';
import { findProgram } from './programs.ts';
import { programsOf } from './run-block.ts';
import { runProgram } from './serve-process.ts';

export interface DocsExample {
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

export async function docsExamples(url: string): Promise<DocsExample[]> {
  const html = await (await fetch(`${url}/docs`)).text();
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

export async function runCurl(samples: readonly string[]): Promise<string[]> {
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
export async function runPython(samples: readonly string[]): Promise<string[]> {
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
export async function runTypeScript(samples: readonly string[], url: string): Promise<unknown[][]> {
  const programs = samples.flatMap((text) =>
    programsOf({ page: '/docs', line: 0, language: 'ts', text }, { url, rpcUrl: '' }),
  );
  const folder = programs[0]?.folder ?? '';
  writeFileSync(join(folder, 'run-all.js'), TYPESCRIPT);
  const files = programs.map(({ command }) => command[1] ?? '');
  return JSON.parse(await printed([process.execPath, 'run-all.js', ...files], folder));
}

// Breaks the program in one small place at a time, and looks whether a test notices:
// npm run mutate [-- src/store --count 100 --seed 7]
// A mutation meets the test files that import its file, then the compiler, then all tests that start no process and run its line, then
// the nearest of the others; the first failure ends it. Those that no caller can notice are in mutate-equivalent.json, with the reason.

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Glob } from 'bun';
import ts from 'typescript';
import equivalent from './mutate-equivalent.json' with { type: 'json' };
import { FAST, needsOf, TIME, testFiles } from './support/needs.ts';
import { startPostgres } from './support/postgres.ts';
import { createRandom } from './support/random.ts';
import timings from './timings.json' with { type: 'json' };

interface Mutation {
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

/** Each operator, and what it becomes. */
const OPERATORS = new Map(
  '< <= >=, <= < >, > >= <=, >= > <, === !==, !== ===, && ||, || &&, + -, - +, * /, / *, &&= =, ||= =, ??= ='
    .split(', ')
    .map((text) => text.split(' '))
    .map(([operator = '', ...others]) => [operator, others]),
);

/**
 * The places of a source file where one small change makes another program: conditions, bounds, constants, and statements and awaits
 * that can be left out. What only types or messages say is left alone.
 */
function mutationsOf(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const replace = (node: ts.Node, after: string) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ path, line, start, end, before: text.slice(start, end), after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return;
    if (ts.isIfStatement(node)) for (const other of ['true', 'false']) replace(node.expression, other);
    if (ts.isConditionalExpression(node)) for (const other of ['true', 'false']) replace(node.condition, other);
    if (ts.isBinaryExpression(node)) {
      const { left, operatorToken, right } = node;
      const operator = operatorToken.getText();
      const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
      if (!isText) for (const other of OPERATORS.get(operator) ?? []) replace(operatorToken, other);
      if (operator === '??') replace(node, `(${left.getText()})`);
    }
    if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node))
      for (const other of numbersNear(node)) replace(node, other);
    if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, 'true');
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      replace(node, node.operand.getText());
    if (ts.isAwaitExpression(node)) replace(node, `(${node.expression.getText()})`);
    if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node))
      replace(node, '{}');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function numbersNear(node: ts.NumericLiteral | ts.BigIntLiteral): string[] {
  if (ts.isBigIntLiteral(node)) return [`(${node.getText()} + 1n)`];
  const value = Number(node.getText().replaceAll('_', ''));
  return value > 9 ? [`${value + 1}`, `${value * 10}`, '1'] : [`${value + 1}`];
}

const HELP = `Usage: npm run mutate [-- <path>... --count 100 --seed 1]

Breaks the program in random small places, one at a time, and prints which of them no test notices.

  <path>     only files whose path starts so; by default src/registry, api, store, chain, http, accounts and webhooks
  --count    how many places (100)
  --seed     which (1)
`;
const ROOT = join(import.meta.dir, '..');
const FOLDERS = ['registry', 'api', 'store', 'chain', 'http', 'accounts', 'webhooks'].map((name) => `src/${name}/`);
/** What a run of the tests of one mutation may take: more is a mutation that hangs, which a test run would notice too. */
const LONGEST_MS = 300_000;
/** How much of the files that start processes are tried, in milliseconds of their usual durations. */
const MOST_SLOW_MS = 60_000;
const isInProcess = (test: string) => needsOf(test).every((need) => need === TIME);
/** Of the sources alone; what nobody uses is not an error. */
const COMPILE = ['node_modules/.bin/tsgo', '--noEmit', '--project', 'tsconfig.mutate.json'];
const compilerOptions = { allowUnreachableCode: true, noUnusedLocals: false, noUnusedParameters: false };
const COMPILED = { include: ['src'], exclude: ['src/**/*.test.ts'], compilerOptions };

/** By the line that they are in, without the space around it. */
const KEPT: Readonly<Record<'path' | 'line' | 'before' | 'after' | 'reason', string>>[] = equivalent;
interface Outcome {
  readonly mutation: Mutation;
  readonly is: 'killed' | 'survived' | 'equivalent';
  /** Who killed it, or the reason why it is equivalent. */
  readonly because: string;
}

const { values, positionals } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
});
const [count, seed] = [Number(values.count), Number(values.seed)];
const isBad = ![count, seed].every((one) => Number.isSafeInteger(one) && one > 0);
if (values.help || isBad) {
  console.log(isBad ? `--count and --seed are whole numbers above 0.\n\n${HELP}` : HELP);
  process.exit(isBad ? 2 : 0);
}

const TIMINGS: Readonly<Record<string, number>> = timings.files;
const PATHS = [...new Glob('{src,client,test,deploy,contracts,chaos,bench}/**/*.ts').scanSync(ROOT)].sort();
/** As they were at the start: somebody may edit meanwhile. */
const TEXTS = new Map(PATHS.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const textOf = (path: string) => TEXTS.get(path) as string;
const IMPORTS = new Map(PATHS.map((path) => [path, importsOf(path)]));
const starts = positionals.length === 0 ? FOLDERS : positionals;
const sources = PATHS.filter((path) => !path.endsWith('.test.ts') && starts.some((start) => path.startsWith(start)));
const chosen = shuffled(sources.flatMap((path) => mutationsOf(path, textOf(path)))).slice(0, count);
if (chosen.length === 0) throw new Error(`No source file starts with ${positionals.join(' or ')}.`);

const server = await startPostgres({ max_connections: '200' });
const folder = mkdtempSync(join(tmpdir(), 'delegations-mutate-'));
const outcomes: Outcome[] = [];
/** The tests that run a line, by path and line, of those that start no process. */
const runBy = new Map<string, Set<string>>();
let [isStopped, next] = [false, 0];
process.once('SIGINT', () => {
  isStopped = true;
});
try {
  const copies = Array.from({ length: availableParallelism() }, (_, job) => join(folder, `${job}`));
  const toMeasure = testFiles().filter(isInProcess);
  console.log(`Finds out which lines ${toMeasure.length} test files run.`);
  await Promise.all(copies.map((copy) => prepare(copy, toMeasure)));
  await Promise.all(copies.map(work));
} finally {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
}
report();

/** Makes a copy of the project, and finds out which lines each of these tests runs. */
async function prepare(copy: string, tests: string[]): Promise<void> {
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.git|data|dist)$/.test(path) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'tsconfig.mutate.json'), JSON.stringify({ extends: './tsconfig.json', ...COMPILED }));
  const coverage = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${copy}.lines`];
  let broken = await failureOf(COMPILE, {}, copy);
  for (let test = tests.pop(); test !== undefined && broken === null; test = tests.pop()) {
    broken = await failureOf([...run([test]), ...coverage], FAST, copy);
    let path = '';
    for (const line of readFileSync(join(`${copy}.lines`, 'lcov.info'), 'utf8').split('\n')) {
      if (line.startsWith('SF:')) path = line.slice(3);
      const [, number, times] = /^DA:(\d+),(\d+)$/.exec(line) ?? [];
      if (number === undefined) continue;
      const by = runBy.get(`${path}:${number}`) ?? new Set();
      runBy.set(`${path}:${number}`, times === '0' ? by : by.add(test));
    }
  }
  if (broken !== null) throw new Error(`Without a mutation, there is a failure already: ${broken}.`);
}

/** Tries mutations in a copy of the project, until none is left. */
async function work(copy: string): Promise<void> {
  while (next < chosen.length && !isStopped) {
    const mutation = chosen[next++] as Mutation;
    const outcome = await tried(mutation, copy);
    const done = outcomes.push(outcome);
    console.log(`${done} of ${chosen.length}: ${describe(mutation)}: ${outcome.is} ${outcome.because}`);
  }
}

async function tried(mutation: Mutation, copy: string): Promise<Outcome> {
  const { path, start, end, before, after } = mutation;
  const text = textOf(path);
  const line = text.split('\n')[mutation.line - 1]?.trim();
  const isSame = (one: (typeof KEPT)[number]) => one.line === line && one.before === before && one.after === after;
  const kept = KEPT.find((one) => one.path === path && isSame(one));
  if (kept !== undefined) return { mutation, is: 'equivalent', because: kept.reason };
  writeFileSync(join(copy, path), text.slice(0, start) + after + text.slice(end));
  try {
    for (const [command, environment] of stagesOf(mutation)) {
      const because = await failureOf(command, environment, copy);
      if (because !== null) return { mutation, is: 'killed', because: `by ${because}` };
    }
    return { mutation, is: 'survived', because: '' };
  } finally {
    writeFileSync(join(copy, path), text);
  }
}

/** What could notice a change of a file, in the order in which it is tried. */
function stagesOf({ path, line, before }: Mutation): [command: string[], environment: Record<string, string>][] {
  const away = new Map<string, number>();
  for (const test of testFiles()) {
    const distance = distanceOf(test, path);
    if (distance !== null) away.set(test, distance);
  }
  // A test of the same name comes first.
  const isNamed = (test: string) => basename(test).startsWith(basename(path, '.ts'));
  const cost = (test: string) => (isNamed(test) ? 0 : (away.get(test) as number) * 3000 + (TIMINGS[test] ?? 1000));
  const tests = [...away.keys()].sort((one, other) => cost(one) - cost(other));
  const lines = Array.from(before.split('\n'), (_, nth) => runBy.get(`${path}:${line + nth}`));
  const isRun = (test: string) => lines.some((by) => by === undefined || by.has(test));
  const near = tests.filter((test) => away.get(test) === 1);
  let left = MOST_SLOW_MS;
  const slow = tests.filter((test) => {
    if (!isInProcess(test) && !isNamed(test)) left -= TIMINGS[test] ?? 1000;
    return !isInProcess(test) && left > 0;
  });
  return [
    [run(near.filter(isInProcess)), FAST],
    [COMPILE, {}],
    [run(tests.filter((test) => isInProcess(test) && isRun(test) && !near.includes(test))), FAST],
    [run([...new Set([...near, ...slow])]), { ...FAST, TEST_FAST: '' }],
  ];
}

function run(files: readonly string[]): string[] {
  const test = [process.execPath, 'test', '--isolate', '--bail'];
  return files.length === 0 ? [] : [...test, ...files.map((file) => `./${file}`)];
}

/** The name of the first test that fails, or what else does; null if nothing does. */
async function failureOf(command: string[], more: Record<string, string>, copy: string): Promise<string | null> {
  if (command.length === 0) return null;
  const log = Bun.file(`${copy}.log`);
  await Bun.write(log, '');
  const env = { ...process.env, TEST_MINUTES: '1', TEST_POSTGRES: server.url, ...more };
  const how = { cwd: copy, env, timeout: LONGEST_MS, killSignal: 'SIGKILL' } as const;
  const child = Bun.spawn(command, { ...how, stdio: ['ignore', log, log] });
  const code = await child.exited;
  if (code === 0) return null;
  const printed = await log.text();
  const [before = '', name] = printed.split(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m);
  const file = [...before.matchAll(/^(\S+\.test\.ts):$/gm)].at(-1)?.[1] ?? '';
  if (name !== undefined) return `${file}: ${name}`;
  return `${printed.includes('error TS') ? 'the compiler' : file} (exit code ${child.signalCode ?? code})`;
}

function report(): void {
  const of = (is: Outcome['is']) => outcomes.filter((one) => one.is === is);
  const marked = (mark: string, lines: string) => lines.replace(/^/gm, mark);
  for (const { mutation } of of('survived')) {
    const { path, line, start, end, after } = mutation;
    const text = textOf(path);
    const [from, to] = [text.lastIndexOf('\n', start) + 1, text.indexOf('\n', end)];
    console.log(`\n${path}:${line}\n${marked('- ', text.slice(from, to))}`);
    console.log(marked('+ ', text.slice(from, start) + after + text.slice(end, to)));
  }
  const [killed, survived, same] = [of('killed').length, of('survived').length, of('equivalent').length];
  const share = ((100 * killed) / Math.max(1, killed + survived)).toFixed(1);
  console.log(`\n${killed} killed, ${survived} survived, ${same} equivalent: ${share} % of ${killed + survived}`);
  process.exitCode = survived > 0 ? 1 : 0;
}

function describe({ path, line, before, after }: Mutation): string {
  return `${path}:${line} ${before.slice(0, 60)} -> ${after.slice(0, 60)}`.replace(/\s+/g, ' ');
}

function shuffled<T>(list: T[]): T[] {
  const random = createRandom(seed);
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [list[at], list[other]] = [list[other] as T, list[at] as T];
  }
  return list;
}

/** What a file imports at run time. */
function importsOf(path: string): string[] {
  const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(textOf(path)).map((one) => one.path);
  return imports.filter((one) => one.startsWith('.') && one.endsWith('.ts')).map((one) => join(dirname(path), one));
}

/** How many imports lead from one file to another; null if none do. */
function distanceOf(from: string, to: string): number | null {
  const seen = new Set([from]);
  for (let [steps, edge] = [1, [from]]; edge.length > 0; steps++) {
    const further = edge.flatMap((path) => IMPORTS.get(path) ?? []).filter((path) => !seen.has(path));
    if (further.includes(to)) return steps;
    for (const path of further) seen.add(path);
    edge = [...new Set(further)];
  }
  return null;
}

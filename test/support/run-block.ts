// Runs a code block of the documentation, and tells what it should print.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeBlock } from './code-blocks.ts';
import { temporaryPath } from './engines.ts';
import { packClient, run } from './packed-client.ts';
import { findProgram } from './programs.ts';

const ROOT = join(import.meta.dir, '../..');

/** Where the services of a reader are. */
export interface Addresses {
  readonly url: string;
  readonly rpcUrl: string;
}

export interface Program {
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it prints. "…" stands for any text. */
  readonly output: string;
}

/** The programs of a block: each command of a shell is one. */
export function programsOf({ language, text }: CodeBlock, addresses: Addresses): Program[] {
  const local = text
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8080/g, addresses.url)
    .replaceAll('http://127.0.0.1:8545', addresses.rpcUrl);
  return LANGUAGES[language]?.(local, printedComments(text)) ?? [];
}

/** Without a C compiler and without downloads. */
export const GO_ENVIRONMENT = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOPROXY: 'off' };

const LANGUAGES: Readonly<Record<string, (text: string, output: string) => Program[]>> = {
  sh: shellPrograms,
  ts(text, output) {
    const folder = clientProject();
    return [{ command: [process.execPath, write(folder, `run-${++files}.ts`, text)], folder, environment: {}, output }];
  },
  python(text, output) {
    const folder = temporaryPath('python');
    return [{ command: [findProgram('python3'), write(folder, 'main.py', text)], folder, environment: {}, output }];
  },
  go(text, output) {
    const folder = temporaryPath('go');
    const command = [findProgram('go'), 'run', write(folder, 'main.go', text)];
    return [{ command, folder, environment: GO_ENVIRONMENT, output }];
  },
};

export const isRunnable = ({ language }: CodeBlock): boolean => Object.hasOwn(LANGUAGES, language);

const COMMAND = /^(curl|\.\/delegations) /;
const isComplete = (command: string) => command.split("'").length % 2 === 1 && !command.endsWith('\\');

/** A command goes on while a quote is open. What follows it is its output. */
function shellPrograms(text: string): Program[] {
  const programs: { command: string; output: string[] }[] = [];
  for (const line of text.split('\n')) {
    const last = programs.at(-1);
    if (last !== undefined && !isComplete(last.command)) last.command += `\n${line}`;
    else if (COMMAND.test(line)) programs.push({ command: line, output: [] });
    else if (last !== undefined && line !== '' && !line.startsWith('#')) last.output.push(line);
  }
  for (const name of ['curl', 'jq'] as const) findProgram(name);
  return programs.map(({ command, output }) => ({
    command: ['bash', '-o', 'pipefail', '-c', command],
    folder: ROOT,
    environment: {},
    output: output.join('\n'),
  }));
}

/** The comment after each statement that prints, or the printed text itself. */
function printedComments(text: string): string {
  const printing = /^\s*(?:console\.log|print|fmt\.Println)\((.*)\);?(?:\s+(?:\/\/|#) (.+))?$/gm;
  return [...text.matchAll(printing)].map(([, value = '', comment]) => comment ?? value.slice(1, -1)).join('\n');
}

let project: string | undefined;

/** A project with the packed client and viem, as after `npm install`. */
function clientProject(): string {
  if (project === undefined) {
    ({ project } = packClient());
    for (const name of ['viem', 'bun-types', '@types'])
      symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  }
  return project;
}

export function write(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return name;
}

let files = 0;

/** Throws if a block of TypeScript does not compile in a strict project of its reader. */
export function checkTypes(blocks: readonly CodeBlock[]): void {
  const folder = clientProject();
  const names = blocks.map(({ line, text }) => write(folder, `line-${line}.ts`, text));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext'];
  run(folder, join(ROOT, 'node_modules/.bin/tsgo'), ...options, '--types', 'bun', ...names);
}

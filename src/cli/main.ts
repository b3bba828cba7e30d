// The command line: finds the command, and says in a sentence what went wrong.

import { writeSync } from 'node:fs';
import { version } from '../../package.json' with { type: 'json' };
import { nearest } from '../api/query.ts';
import { RpcError } from '../chain/rpc.ts';
import { aligned } from '../service/aligned.ts';
import { ConfigError, VARIABLES } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';
import { ArchiveError } from '../store/archive-format.ts';
import { StoreError } from '../store/errors.ts';
import { callOf, helpOf } from './command.ts';
import { COMMANDS } from './commands.ts';
import { writeOut } from './output.ts';
import { worker } from './worker.ts';

const HELP = `Usage: delegations <command>

May this hot wallet act for that cold wallet, here, now or at block N?

Commands:
${aligned(COMMANDS.map(({ name, summary }) => [name, summary]))}

delegations <command> --help tells more of each.

Configuration, from the environment [default]:
${aligned(VARIABLES.map(([name, otherwise, about]) => [name, `${about} [${otherwise}]`]))}
`;

// A reader of ours that is gone must not end the program with a code that says no.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(2));

const [name, ...rest] = process.argv.slice(2);
const asksHelp = name === 'help' || [name, ...rest].some((word) => word === '--help' || word === '-h');

try {
  const command = [...COMMANDS, worker].find((one) => one.name === (name === 'help' ? rest[0] : name));
  if (name === 'help' && rest.length > 0 && command === undefined)
    fail(`There is no command ${rest[0]}. See delegations --help.`);
  else if (name === '--version') await writeOut(`${version}\n`);
  else if (asksHelp) await writeOut(command === undefined ? HELP : helpOf(command));
  else if (command !== undefined) await command.run(callOf(command, rest, process.env));
  else if (name === undefined) fail(`A command is missing.\n\n${HELP}`);
  else fail(`There is no command ${name}${suggestion(name)} See delegations --help.`);
} catch (error) {
  // Never 1, which says no.
  fail(sentenceOf(error));
}

/** What went wrong, for people; whoever read our output and is gone is told nothing. */
function sentenceOf(error: unknown): string | null {
  const { message, name: kind } = error as Error;
  const code = String((error as { code?: unknown }).code);
  if (error instanceof ConfigError) return `The configuration has faults:\n${message}`;
  if ([StoreError, UsageError, RpcError, ArchiveError].some((one) => error instanceof one)) return message;
  if (code.startsWith('ERR_PARSE_ARGS')) return `${message.split(/[.\n]/)[0]}. See delegations ${name} --help.`;
  if (code === 'EPIPE') return null;
  if (code === 'EADDRINUSE') return 'The port is taken: set PORT or METRICS_PORT to another.';
  if (kind === 'AbortError' || /^(ConnectionClosed|ECONNRESET)$/.test(code))
    return 'The service stopped in the middle of its answer.';
  if (/^E[A-Z]+$/.test(code)) return message;
  return `This is a fault of the program: ${(error as Error).stack ?? error}`;
}

function suggestion(word: string): string {
  const near = nearest(
    word,
    COMMANDS.map((one) => one.name),
  );
  return near === null ? '.' : `: did you mean ${near}?`;
}

function fail(message: string | null): void {
  process.exitCode = 2;
  try {
    if (message !== null) writeSync(2, `${message}\n`);
  } catch {
    // Nobody is there to read it.
  }
}

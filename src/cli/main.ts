// The entry point: finds the command, runs it, and prints errors as one sentence.

import { writeSync } from 'node:fs';
import { version } from '../../package.json' with { type: 'json' };
import { nearest } from '../api/query.ts';
import { RpcError } from '../chain/rpc/rpc.ts';
import { ListenError } from '../http/server/listener.ts';
import { addNetworks } from '../registry/network.ts';
import { readNetworks } from '../service/chain-config.ts';
import { ConfigError } from '../service/config.ts';
import { createLog, flushLog } from '../service/log.ts';
import { alignColumns, UsageError } from '../service/terminal.ts';
import { ArchiveError } from '../store/archive.ts';
import { StoreError } from '../store/errors.ts';
import { type Command, helpOf, parseInvocation } from './command.ts';
import { COMMANDS } from './commands.ts';
import { writeOut } from './output.ts';
import { worker } from './services.ts';
import { runWithNames } from './wallet-names.ts';

const HELP = `Usage: delegations <command>

Indexes delegation registries and answers: may this hot wallet act for that cold wallet, now or at block N?

Commands:
${alignColumns(COMMANDS.map(({ name, summary }) => [name, summary]))}

For the options of a command: delegations <command> --help
For the environment variables: delegations config --help
`;

// A closed pipe must not end the program with code 1, which means no.
process.stdout.on('error', () => process.exit(2));
// A service continues without standard error, for example when its terminal is closed.
process.stderr.on('error', () => {});

const [name, ...rest] = process.argv.slice(2);
const asksHelp = name === 'help' || [name, ...rest].some((word) => word === '--help' || word === '-h');

addNetworks(readNetworks(process.env));

const command = [...COMMANDS, worker].find((one) => one.name === (name === 'help' ? rest[0] : name));
try {
  if (name === 'help' && rest.length > 0 && command === undefined)
    fail(`Unknown command: ${rest[0]}. See delegations --help.`);
  else if (name === '--version') await writeOut(`${version}\n`);
  else if (asksHelp) await writeOut(command === undefined ? HELP : helpOf(command));
  else if (command !== undefined) await run(command);
  else if (name === undefined) fail(`Missing command.\n\n${HELP}`);
  else fail(`Unknown command: ${name}.${suggestion(name)} See delegations --help.`);
} catch (error) {
  // A reader that has seen enough, such as head, is not an error. The exit code is the command's own.
  if ((error as { code?: unknown }).code !== 'EPIPE') await end(error);
}
// A write that nobody reads would keep the process alive.
if (!(await flushLog())) process.exit();

async function run(command: Command): Promise<void> {
  const call = parseInvocation(command, rest, process.env);
  await (command.takesNames ? runWithNames(command, call) : command.run(call));
}

/** What ends a service is the last line of its log. Mistakes in a command are told to who typed it. */
async function end(error: unknown): Promise<void> {
  const message = errorMessage(error);
  const isTyped =
    error instanceof UsageError || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');
  if (command?.isService && !isTyped) {
    await flushLog();
    createLog('error', (line) => writeTo(1, line))('error', 'ended by an error', { error: message });
    process.exitCode = 2;
    if (!process.stderr.isTTY) return;
  }
  fail(message);
}

function errorMessage(error: unknown): string {
  const { message, name: kind } = error as Error;
  const code = String((error as { code?: unknown }).code);
  if (error instanceof ConfigError) return `Invalid configuration:\n${message}`;
  if ([StoreError, UsageError, RpcError, ArchiveError, ListenError].some((one) => error instanceof one)) return message;
  if (code.startsWith('ERR_PARSE_ARGS')) return `${message.split(/[.\n]/)[0]}. See delegations ${name} --help.`;
  if (kind === 'AbortError' || /^(ConnectionClosed|ECONNRESET)$/.test(code))
    return 'The service closed the connection before the response was complete.';
  if (/^E[A-Z]+$/.test(code)) return message;
  return `Internal error, please report it: ${(error as Error).stack ?? error}`;
}

function suggestion(word: string): string {
  const names = COMMANDS.map((one) => one.name);
  const near = nearest(word, names);
  return near === null ? '' : ` Did you mean ${near}?`;
}

/** Exit code 2, never 1, which means no. */
function fail(message: string): void {
  process.exitCode = 2;
  writeTo(2, `${message}\n`);
}

function writeTo(output: 1 | 2, text: string): void {
  try {
    writeSync(output, text);
  } catch {
    // It is closed.
  }
}

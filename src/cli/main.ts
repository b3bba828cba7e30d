// The command line: finds the command, and says in a sentence what went wrong.

import { RpcError } from '../chain/rpc.ts';
import { nearest } from '../http/query.ts';
import { ArchiveError } from '../store/archive.ts';
import { StoreError } from '../store/errors.ts';
import { aligned, callOf, helpOf, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';
import { ConfigError, VARIABLES } from './config.ts';

const HELP = `Usage: delegations <command>

May this hot wallet act for that cold wallet, here, now or at block N?

Commands:
${aligned(COMMANDS.map(({ name, summary }) => [name, summary]))}

delegations <command> --help tells more of each.

Configuration, from the environment [default]:
${aligned(VARIABLES.map(([name, otherwise, about]) => [name, `${about} [${otherwise}]`]))}
`;

const [name, ...rest] = process.argv.slice(2);
const asksHelp = name === 'help' || [name, ...rest].some((word) => word === '--help' || word === '-h');

try {
  const command = COMMANDS.find((one) => one.name === (name === 'help' ? rest[0] : name));
  if (asksHelp) process.stdout.write(command === undefined ? HELP : helpOf(command));
  else if (command !== undefined) await command.run(callOf(command, rest, process.env));
  else if (name === undefined) fail(`A command is missing.\n\n${HELP}`);
  else fail(`There is no command ${name}${suggestion(name)} See delegations --help.`);
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  if (error instanceof ConfigError) fail(`The configuration has faults:\n${message}`);
  else if ([StoreError, UsageError, RpcError, ArchiveError].some((kind) => error instanceof kind)) fail(message);
  else if (code?.startsWith('ERR_PARSE_ARGS')) fail(`${message.split('. ')[0]}. See delegations ${name} --help.`);
  else if (code === 'EADDRINUSE') fail('The port is taken: set PORT or METRICS_PORT to another.');
  // Never 1, which says no.
  else fail(`This is a fault of the program: ${(error as Error).stack ?? error}`);
}

function suggestion(word: string): string {
  const near = nearest(
    word,
    COMMANDS.map((one) => one.name),
  );
  return near === null ? '.' : `: did you mean ${near}?`;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}

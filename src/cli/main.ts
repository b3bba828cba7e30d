// The command line: finds the command, and says in a sentence what went wrong.

import { RpcError } from '../chain/rpc.ts';
import { ArchiveError } from '../store/archive.ts';
import { StoreError } from '../store/errors.ts';
import { EXPORT_HELP, exportIndex, IMPORT_HELP, importIndex } from './archive.ts';
import { AUDIT_HELP, audit } from './audit.ts';
import { ConfigError, VARIABLES } from './config.ts';
import { FOLLOW_HELP, follow } from './follow.ts';
import { REWIND_HELP, rewind } from './rewind.ts';
import { SERVE_HELP, serve } from './serve.ts';
import { UsageError } from './usage.ts';

const variables = VARIABLES.map(([name, otherwise, about]) => `  ${name.padEnd(26)}${about} [${otherwise}]`).join('\n');

interface Command {
  readonly help: string;
  readonly takesArguments?: true;
  run(environment: NodeJS.ProcessEnv, args: string[]): Promise<void>;
}

const COMMANDS = new Map<string, Command>([
  ['serve', { help: SERVE_HELP, run: serve }],
  ['follow', { help: FOLLOW_HELP, run: follow }],
  ['audit', { help: AUDIT_HELP, run: audit, takesArguments: true }],
  ['export', { help: EXPORT_HELP, run: exportIndex, takesArguments: true }],
  ['import', { help: IMPORT_HELP, run: importIndex, takesArguments: true }],
  ['rewind', { help: REWIND_HELP, run: rewind, takesArguments: true }],
]);

const HELP = `Usage: delegations <command>

May this hot wallet act for that cold wallet, here, now or at block N?

Commands:
  serve               follow chains and answer over HTTP
  follow              follow chains, and do not answer
  audit               compare an index with the chain itself
  rewind              forget the newest blocks of a chain
  export, import      move an index to another machine

\`delegations <command> --help\` tells more of each.

Configuration, from the environment [default]:
${variables}
`;

const [command, ...rest] = process.argv.slice(2);
const asksHelp = [command, ...rest].some((word) => word === '--help' || word === '-h');

try {
  const known = command === undefined ? undefined : COMMANDS.get(command);
  if (known !== undefined) {
    if (asksHelp) process.stdout.write(known.help);
    else if (rest.length > 0 && !known.takesArguments)
      fail(`${command} takes no arguments, and was given ${rest.join(' ')}.`);
    else await known.run(process.env, rest);
  } else if (asksHelp) {
    process.stdout.write(HELP);
  } else {
    fail(`${command === undefined ? 'A command is missing' : `There is no command ${command}`}.\n\n${HELP}`);
  }
} catch (error) {
  if (error instanceof ConfigError) fail(`The configuration has faults:\n${error.message}`);
  else if ([StoreError, UsageError, RpcError, ArchiveError].some((kind) => error instanceof kind))
    fail((error as Error).message);
  else if (String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')) fail((error as Error).message);
  else if ((error as { code?: string }).code === 'EADDRINUSE')
    fail('The port is taken: set PORT or METRICS_PORT to another.');
  else throw error;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}

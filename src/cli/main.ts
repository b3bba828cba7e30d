// The command line: finds the command, and says in a sentence what went wrong.

import { StoreError } from '../store/errors.ts';
import { ConfigError, VARIABLES } from './config.ts';
import { FOLLOW_HELP, follow } from './follow.ts';
import { SERVE_HELP, serve } from './serve.ts';

const variables = VARIABLES.map(([name, otherwise, about]) => `  ${name.padEnd(26)}${about} [${otherwise}]`).join('\n');

const COMMANDS = new Map([
  ['serve', { help: SERVE_HELP, run: serve }],
  ['follow', { help: FOLLOW_HELP, run: follow }],
]);

const HELP = `Usage: delegations <command>

May this hot wallet act for that cold wallet, here, now or at block N?

Commands:
  serve               follow chains and answer over HTTP
  follow              follow chains, and do not answer

Configuration, from the environment [default]:
${variables}
`;

const [command, ...rest] = process.argv.slice(2);
const asksHelp = [command, ...rest].some((word) => word === '--help' || word === '-h');

try {
  const known = command === undefined ? undefined : COMMANDS.get(command);
  if (known !== undefined) {
    if (asksHelp) process.stdout.write(known.help);
    else if (rest.length > 0) fail(`${command} takes no arguments, and was given ${rest.join(' ')}.`);
    else await known.run(process.env);
  } else if (asksHelp) {
    process.stdout.write(HELP);
  } else {
    fail(`${command === undefined ? 'A command is missing' : `There is no command ${command}`}.\n\n${HELP}`);
  }
} catch (error) {
  if (error instanceof ConfigError) fail(`The configuration has faults:\n${error.message}`);
  else if (error instanceof StoreError) fail(error.message);
  else if ((error as { code?: string }).code === 'EADDRINUSE')
    fail('The port is taken: set PORT or METRICS_PORT to another.');
  else throw error;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}

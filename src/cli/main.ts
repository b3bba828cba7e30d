// The command line: finds the command, and says in a sentence what went wrong.

import { StoreError } from '../store/errors.ts';
import { ConfigError, VARIABLES } from './config.ts';
import { SERVE_HELP, serve } from './serve.ts';

const variables = VARIABLES.map(([name, otherwise, about]) => `  ${name.padEnd(20)}${about} [${otherwise}]`).join('\n');

const HELP = `Usage: delegations <command>

May this hot wallet act for that cold wallet, here, now or at block N?

Commands:
  serve               open the store and answer over HTTP

Configuration, from the environment [default]:
${variables}
`;

const [command, ...rest] = process.argv.slice(2);
const asksHelp = [command, ...rest].some((word) => word === '--help' || word === '-h');

try {
  if (command === 'serve') {
    if (asksHelp) process.stdout.write(SERVE_HELP);
    else if (rest.length > 0) fail(`serve takes no arguments, and was given ${rest.join(' ')}.`);
    else await serve(process.env);
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

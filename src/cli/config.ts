// delegations config: shows the effective configuration and checks it.

import { readConfig, VARIABLES } from '../service/config.ts';
import { configWarnings, describeConfig } from '../service/describe-config.ts';
import { alignColumns } from '../service/terminal.ts';
import type { Command } from './command.ts';
import { tableOf, writeOut } from './output.ts';

export const config: Command = {
  name: 'config',
  summary: 'show and check the configuration',
  about: `Shows the value of every variable as the service would use it, with secrets masked, and warns about names that are not used.
Connects to nothing and writes nothing. Exit code: 0 valid, 1 valid with warnings, 2 invalid.

Environment variables [default]:
${alignColumns(VARIABLES.map(([name, otherwise, about]) => [name, `${about} [${otherwise}]`]))}`,
  options: { json: { about: 'print settings and warnings as JSON' } },
  examples: ['delegations config', 'delegations config --json'],
  async run(call) {
    const read = readConfig(call.environment);
    const settings = describeConfig(call.environment, read);
    const warnings = configWarnings(call.environment, read);
    if (warnings.length > 0) process.exitCode = 1;
    if (call.isSet('json')) return writeOut(`${JSON.stringify({ settings, warnings })}\n`);
    const cells = settings.map(({ name, value, source }) => [name, value, source]);
    await writeOut(`${tableOf(['NAME', 'VALUE', 'FROM'], cells)}\n`);
    for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`);
  },
};

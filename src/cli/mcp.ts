// delegations mcp: answers the questions of a program over the Model Context Protocol, on standard input and output.

import { serveMcpOnStdio } from '../mcp/server.ts';
import type { Command } from './command.ts';
import { SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'answer the questions of a language model (MCP server on stdio)',
  about: `Serves read-only tools over the Model Context Protocol, on standard input and output: may_act, explain, vaults, delegates, holders,
history and networks. Each answer names its block.

${SOURCE_ABOUT} ${STALE_ABOUT}`,
  options: SOURCE_OPTIONS,
  examples: ['delegations mcp --url http://localhost:8080', 'DELEGATIONS_URL=http://localhost:8080 delegations mcp'],
  run: (call) => withSource(call, serveMcpOnStdio),
};

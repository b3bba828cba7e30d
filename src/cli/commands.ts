// All commands, in the order of delegations --help.

import { backup, exportCommand, importCommand } from './archive.ts';
import { audit, rewind } from './audit.ts';
import { changes } from './changes.ts';
import { check } from './check.ts';
import type { Command } from './command.ts';
import { completionOf } from './completion.ts';
import { config } from './config.ts';
import { health } from './health.ts';
import { holders } from './holders.ts';
import { keys } from './keys.ts';
import { delegates, history, list, vaults } from './lists.ts';
import { networks } from './networks.ts';
import { api, follow, mcp, migrate, sandbox, serve } from './services.ts';
import { webhooks } from './webhooks.ts';

export const COMMANDS: readonly Command[] = [
  sandbox,
  serve,
  follow,
  api,
  check,
  vaults,
  delegates,
  list,
  history,
  changes,
  holders,
  networks,
  health,
  mcp,
  keys,
  webhooks,
  config,
  audit,
  rewind,
  migrate,
  backup,
  exportCommand,
  importCommand,
  completionOf(() => COMMANDS),
];

// All commands, in the order of the overview.

import { exportCommand, importCommand } from './archive.ts';
import { audit } from './audit.ts';
import type { Command } from './command.ts';
import { follow } from './follow.ts';
import { rewind } from './rewind.ts';
import { sandbox } from './sandbox.ts';
import { serve } from './serve.ts';

export const COMMANDS: readonly Command[] = [sandbox, serve, follow, audit, rewind, exportCommand, importCommand];

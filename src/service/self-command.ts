// The command line that starts this program again. Configuration comes from the environment alone, never from a .env file.

import { basename, join } from 'node:path';

/** The path of a program in `src`. Bundled, all of them are in one folder. */
export const programPath = (path: `${string}.ts`): string =>
  import.meta.path.endsWith('.js')
    ? join(import.meta.dir, `${basename(path, '.ts')}.js`)
    : join(import.meta.dir, '..', path);

export const selfCommand = (...args: string[]): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath, ...args]
    : [process.execPath, '--no-env-file', programPath('cli/main.ts'), ...args];

// The command line that starts this program again. Configuration comes from the environment alone, never from a .env file.

/** Bundled, all parts are in one folder. */
const PROGRAM = `${import.meta.dir}/${import.meta.path.endsWith('.js') ? 'main.js' : '../cli/main.ts'}`;

export const selfCommand = (...args: string[]): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath, ...args] : [process.execPath, '--no-env-file', PROGRAM, ...args];

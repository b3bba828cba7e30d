// The command line that starts this program again. Configuration comes from the environment alone, never from a .env file.

const PROGRAM = `${import.meta.dir}/../cli/main.ts`;

export const selfCommand = (...args: string[]): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath, ...args] : [process.execPath, '--no-env-file', PROGRAM, ...args];

// The command line that starts this program again.

const PROGRAM = `${import.meta.dir}/../cli/main.ts`;

export const selfCommand = (...args: string[]): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath, ...args] : [process.execPath, PROGRAM, ...args];

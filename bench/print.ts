// Prints figures and progress.

export const line = (what: string, ...figures: string[]) => console.log(`  ${what.padEnd(28)}${figures.join(', ')}`);

/** Overwrites the current line of a terminal with the progress. */
export const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`);

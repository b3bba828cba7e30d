// A line of figures, for the parts that only print.

export const line = (what: string, ...figures: string[]) => console.log(`  ${what.padEnd(28)}${figures.join(', ')}`);

/** What goes on meanwhile, for people. */
export const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`);

// What every benchmark prints in the same way.

import { arch, cpus } from 'node:os';

export const printMachine = () =>
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${arch()}, Bun ${Bun.version}\n`);

export const line = (what: string, ...figures: string[]) => console.log(`  ${what.padEnd(28)}${figures.join(', ')}`);

// Builds the executable as npm run build does, without writing into the repository.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { scripts } from '../../package.json' with { type: 'json' };

/** In a whole run it is there already. */
export function buildExecutable(outfile: string): void {
  const built = process.env['TEST_PROGRAM'];
  if (built !== undefined) {
    copyFileSync(built, outfile);
    return;
  }
  const command = scripts.build.replace('dist/delegations', outfile).replace(/^bun /, `${process.execPath} `);
  const { exitCode, stderr } = Bun.spawnSync(command.split(' '), { cwd: join(import.meta.dir, '../..') });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

// Builds the executable as npm run build does, without writing into the repository.

import { join } from 'node:path';
import { scripts } from '../../package.json' with { type: 'json' };

export function buildExecutable(outfile: string): void {
  const command = scripts.build.replace('dist/delegations', outfile).replace(/^bun /, `${process.execPath} `);
  const { exitCode, stderr } = Bun.spawnSync(command.split(' '), { cwd: join(import.meta.dir, '../..') });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

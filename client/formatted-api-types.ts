// The generated types in the format of the repository.

import { apiTypes } from './api-types.ts';

export function formattedApiTypes(): string {
  const root = `${import.meta.dir}/..`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [`${root}/node_modules/.bin/biome`, 'format', '--stdin-file-path=client/src/api.ts'],
    { cwd: root, stdin: Buffer.from(apiTypes()) },
  );
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

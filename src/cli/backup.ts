// delegations backup: copies a SQLite store while the service runs.

import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';
import { backUpSqlite } from '../store/backup.ts';
import { sqlitePath } from '../store/sqlite.ts';
import type { Command } from './command.ts';
import { writeOut } from './output.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'copy a SQLite database to a file',
  usage: '<file>',
  about: `Writes index and keys of the SQLite database of DATABASE_URL to a new file, all of one moment, and checks the copy. The
service can keep running. The file has secrets, so only its owner can read it. To restore it, stop the service and put the
file in the place of the database, without the old -wal and -shm files. For PostgreSQL, use pg_dump.`,
  operands: [1, 1],
  examples: ['delegations backup /backups/delegations-$(date +%F).db'],
  async run({ environment, operands: [file = ''] }) {
    const path = sqlitePath(readConfig(environment).databaseUrl);
    if (path === null) throw new UsageError('DATABASE_URL is a PostgreSQL database. Use pg_dump to back it up.');
    const bytes = backUpSqlite(path, file);
    await writeOut(`Wrote ${file}, ${(bytes / 1e6).toFixed(1)} MB.\n`);
  },
};

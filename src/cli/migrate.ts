// delegations migrate: brings the database to the schema of this version.

import { migrateStore } from '../service/migrate-store.ts';
import type { Command } from './command.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: "bring the database to this version's schema",
  about: `Migrates the tables of DATABASE_URL, or creates them, and logs each step. Everything is one transaction: if it is cut off, nothing has
changed. A service does the same when it starts. Processes of an older version answer 503 from then on.`,
  examples: ['DATABASE_URL=postgres://localhost/delegations delegations migrate'],
  run: ({ environment }) => migrateStore(environment),
};

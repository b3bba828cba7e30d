// Gives a program that it is preloaded into a second migration of the store, as a later version would have.

import { STORE_SCHEMA } from '../../src/store/schema.ts';

export const NEXT_MIGRATION = () => [
  'CREATE TABLE later (version INTEGER)',
  'INSERT INTO later (version) SELECT version FROM schema_version',
];

if (process.env['NEXT_SCHEMA'] !== undefined) STORE_SCHEMA.migrations.push(NEXT_MIGRATION);

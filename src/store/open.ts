// Opens a store by its URL.

import type { EngineOptions } from './engine.ts';
import { StoreError } from './errors.ts';
import { createIndexHash, readIdentity } from './index-hash.ts';
import { fenced, type OnMigration } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { createReads } from './read/reads.ts';
import { migrate, requireSchema, STORE_SCHEMA } from './schema.ts';
import { openSqlite, sqlitePath } from './sqlite.ts';
import type { Store } from './store.ts';
import { createWrites } from './write/writes.ts';

/** `sqlite:<path>` or `postgres://…`. A writer creates or migrates the tables first. */
export async function openStore(
  url: string,
  options: EngineOptions & { readonly onMigration?: OnMigration } = {},
): Promise<Store & AsyncDisposable> {
  const { readOnly = false, mustExist = false } = options;
  const opened = await openEngine(url, options);
  const engine = fenced(opened, STORE_SCHEMA);
  try {
    await (readOnly || mustExist ? requireSchema(opened) : migrate(opened, options.onMigration));
    const { id, secret } = await readIdentity(engine);
    const hash = createIndexHash(secret);
    return {
      id,
      notices: engine.notices,
      pool: engine.pool,
      ...createReads(engine, hash),
      ...createWrites(engine, hash),
      close: () => engine.close(),
      [Symbol.asyncDispose]: () => engine.close(),
    };
  } catch (cause) {
    await engine.close();
    if (cause instanceof StoreError && cause.code !== 'failed') throw cause;
    throw new StoreError('bad-store', `Cannot open the store: ${(cause as Error).message}`, { cause });
  }
}

export function openEngine(url: string, options: EngineOptions) {
  const path = sqlitePath(url);
  if (path !== null && path !== ':memory:') return openSqlite(path, options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  // The URL may contain a password, so the message does not repeat it.
  throw new StoreError(
    'bad-store',
    'Invalid store URL: must be sqlite:<path>, such as sqlite:./data/delegations.db, or postgres://user@host/database.',
  );
}

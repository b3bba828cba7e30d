// Runs SQL statements on a store's database over a separate connection.

import { Database } from 'bun:sqlite';

/** Returns the rows of the statement as objects. */
export async function runSql(url: string, statement: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    const database = new Database(url.slice('sqlite:'.length));
    try {
      return database.query(statement).all() as Record<string, unknown>[];
    } finally {
      database.close();
      // A store in this process may have a snapshot from before.
      await new Promise(setImmediate);
    }
  }
  const connection = new Bun.SQL(url, { max: 1 });
  try {
    return [...(await connection.unsafe(statement))];
  } finally {
    await connection.close();
  }
}

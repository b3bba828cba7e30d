// Statements run behind the store's back, by a connection of their own.

import { Database } from 'bun:sqlite';

/** Gives the rows that the statement returned, each as an object. */
export async function behind(url: string, statement: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    const database = new Database(url.slice('sqlite:'.length));
    try {
      return database.query(statement).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  }
  const connection = new Bun.SQL(url, { max: 1 });
  try {
    return [...(await connection.unsafe(statement))];
  } finally {
    await connection.close();
  }
}

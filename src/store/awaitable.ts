/** A value, or a promise of it: SQLite answers at once, PostgreSQL later. */
export type Awaitable<T> = T | Promise<T>;

// Names the columns that a statement returns, so that its text and its decoder cannot disagree.

/** The position of each column in a row. */
export type Cols<Name extends string> = Readonly<Record<Name, number>>;

export type Expressions<Name extends string> = Partial<Readonly<Record<Name, string>>>;

export interface Columns<Name extends string> {
  readonly names: readonly Name[];
  readonly col: Cols<Name>;
  /** The select list of columns of one table that needs no alias. */
  readonly sql: string;
  /** The select list by expressions. A column without one is NULL; an expression without a column is left out. */
  select(expressions: Expressions<Name>): string;
}

/**
 * `const BLOCK = columns('number', 'hash')` goes into a statement as `SELECT ${BLOCK.sql}` and is decoded by
 * `row[BLOCK.col.hash]`. Decoders are built once from `col`, so reading a row costs no lookup by name.
 */
export function columns<const Name extends string>(...names: readonly Name[]): Columns<Name> {
  if (new Set(names).size < names.length) throw new Error(`Duplicate column in ${names.join(', ')}`);
  return {
    names,
    col: Object.fromEntries(names.map((name, position) => [name, position])) as Record<Name, number>,
    sql: names.join(', '),
    select: (expressions) => names.map((name) => `${expressions[name] ?? 'NULL'} AS ${name}`).join(', '),
  };
}

/** PostgreSQL's types of the columns that are written in bulk. */
export type ColumnTypes = Readonly<Record<string, 'bigint' | 'smallint' | 'bytea'>>;

export const columnsOf = <Types extends ColumnTypes>(types: Types): Columns<keyof Types & string> =>
  columns(...Object.keys(types));

/** The names of columns that have expressions. */
export const namesOf = <Name extends string>(expressions: Expressions<Name>) => Object.keys(expressions) as Name[];

/** Columns of one table by its alias: `{ hash: 'b.hash' }`. */
export const ofTable = <Name extends string>(alias: string, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, `${alias}.${name}`])) as Readonly<Record<Name, string>>;

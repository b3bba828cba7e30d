// What a part of the benchmark found: a table, what is to be said about it, and what of it is drawn.

export interface Section {
  readonly title: string;
  /** How it was measured. */
  readonly about: string;
  /** The first names what the rows are. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
  readonly charts?: readonly Chart[];
}

export interface Chart {
  readonly title: string;
  /** Whether short bars are the good ones. */
  readonly best: 'least' | 'most';
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as it is written beside the bar. */
  readonly text: string;
  readonly ours: boolean;
}

export function printSection({ title, columns, rows, notes = [] }: Section): void {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0))
      .join('  ');
  console.log(`\n${title}\n${lineOf(columns)}`);
  for (const row of rows) console.log(lineOf(row));
  for (const note of notes) console.log(`  ${note}`);
}

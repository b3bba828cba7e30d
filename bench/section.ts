// A section of the results: a table, its notes and its charts.

export interface Section {
  readonly title: string;
  /** How it was measured. */
  readonly about: string;
  /** The first column names the rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
  readonly charts?: readonly Chart[];
}

export interface Chart {
  readonly title: string;
  /** Whether lower or higher values are better. */
  readonly best: 'least' | 'most';
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The formatted value, printed next to the bar. */
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

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
  /** The ratios that summarize the section. */
  readonly ratios?: readonly Ratio[];
  /** Where a peer is better; empty if nowhere, absent if the section has no peer. */
  readonly behind?: readonly Behind[];
}

export interface Ratio {
  readonly what: string;
  readonly figure: string;
}

export interface Behind {
  readonly what: string;
  /** Name and figure. */
  readonly ours: string;
  readonly peer: string;
  /** How many times better the peer is. */
  readonly by: string;
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

export function printSection({ title, columns, rows, notes = [], ratios = [], behind = [] }: Section): void {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0))
      .join('  ');
  console.log(`\n${title}\n${lineOf(columns)}`);
  for (const row of rows) console.log(lineOf(row));
  for (const note of notes) console.log(`  ${note}`);
  for (const { what, figure } of ratios) console.log(`  ${what}: ${figure}`);
  for (const { what, ours, peer } of behind) console.log(`  A peer is ahead. ${what}: ${ours}; ${peer}`);
}

export interface Result {
  /** With its options, if it had any: such a run is kept beside the one without. */
  readonly part: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly machine: string;
  readonly commit: string;
  readonly sections: readonly Section[];
}

// A section of the results: a table, its notes, its charts, and where a peer is ahead.

import { times } from './figures.ts';

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

/** Whether lower or higher values are better. */
type Best = 'least' | 'most';

export interface Chart {
  readonly title: string;
  readonly best: Best;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The formatted value, printed next to the bar. */
  readonly text: string;
  readonly ours: boolean;
}

/** By the names of rows and bars. nginx and a check by hand are floors: neither ours nor a peer. */
export const isOurs = (name: string) => !/\b(nginx|by hand|Ponder|eth_call)\b/.test(name);
const isPeer = (name: string) => /\b(Ponder|eth_call)\b/.test(name);

/** A chart with a bar for each value. */
export const chartOf = (
  title: string,
  best: Best,
  text: (value: number) => string,
  values: readonly (readonly [label: string, value: number])[],
): Chart => ({
  title,
  best,
  bars: values.map(([label, value]) => ({ label, value, text: text(value), ours: isOurs(label) })),
});

export interface Measure<T> {
  readonly what: string;
  readonly best: Best;
  value(of: T): number;
  text(value: number): string;
}

/** Compares each of ours with each peer by every measure. */
export function findBehind<T extends { readonly name: string }>(
  found: readonly T[],
  measures: readonly Measure<T>[],
): Behind[] {
  const [ours, peers] = [isOurs, isPeer].map((is) => found.filter(({ name }) => is(name))) as [T[], T[]];
  return measures.flatMap(({ what, best, value, text }) =>
    ours.flatMap((own) =>
      peers.flatMap((peer) => {
        const [its, other] = [value(own), value(peer)];
        const ratio = best === 'least' ? its / other : other / its;
        const named = (name: string, figure: number) => `${name}: ${text(figure)}`;
        return ratio > 1 ? [{ what, ours: named(own.name, its), peer: named(peer.name, other), by: times(ratio) }] : [];
      }),
    ),
  );
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

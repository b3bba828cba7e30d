/** Formats rows of two columns, indented and aligned. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}

// Writes rows of CSV (RFC 4180) that are safe to open in a spreadsheet.

/** A cell that begins like this is a formula to a spreadsheet, and so is the rest of a cell that it splits at a separator. */
const FORMULA = /(?<=^|[,;|\t\r\n"'])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g;

/** An apostrophe makes a spreadsheet show the text as it is. */
export const csvCell = (value: string): string => {
  const safe = value.replace(FORMULA, "'");
  return /[",;|\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

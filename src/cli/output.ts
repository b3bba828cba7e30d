// Writes and formats the output of commands.

import { writeSync } from 'node:fs';
import type { DelegationRecord } from '../api/responses.ts';
import { rightsLabel } from '../registry/rights.ts';
import { createLog } from '../service/log.ts';
import { UsageError } from '../service/terminal.ts';

const STDOUT = 1;

/** Resolves once everything is written. A command that has an exit code sets it first: the reader may close the pipe. */
export async function writeOut(output: string | Uint8Array): Promise<void> {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(STDOUT, bytes, done);
    } catch (error) {
      // The pipe is full and non-blocking: try again.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
      await Bun.sleep(1);
    }
  }
}

/** For output that is useless in part: a closed pipe is an error. */
export async function writeWhole(output: string | Uint8Array): Promise<void> {
  await writeOut(output).catch((error) => {
    if ((error as { code?: string }).code !== 'EPIPE') throw error;
    throw new UsageError('The pipe was closed before the output was complete.');
  });
}

/** Logs a change that the operator made, for the log of whatever runs this command. On a terminal, the result says the same. */
export function logChange(message: string, fields: object): void {
  if (process.stderr.isTTY) return;
  createLog('info', (line) => void process.stderr.write(line))('info', message, { ...fields, by: 'operator' });
}

export const nowSeconds = (): number => Date.now() / 1000;

export const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** When something happened: a block and its time. */
export const whenText = ({ block, timestamp }: { readonly block: number; readonly timestamp: number }) =>
  `${block}, ${dateOf(timestamp)}`;

export const COVER_NAMES = ['TYPE', 'CONTRACT', 'TOKEN', 'AMOUNT', 'RIGHTS'];

/** What a delegation covers, in columns with these names. */
export const coverCells = (
  row: Pick<DelegationRecord, 'standard' | 'type' | 'contract' | 'tokenId' | 'amount' | 'rights'>,
) => [
  row.standard ?? row.type,
  row.contract ?? '',
  String(row.tokenId ?? ''),
  String(row.amount ?? ''),
  rightsLabel(row.rights, nowSeconds()) ?? '',
];

/** A table with the names of its columns, each as wide as its widest cell. */
export function tableOf(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = names.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  return [names, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

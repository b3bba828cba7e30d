// Prints the pages of an answer about several chains, and reports the chains that did not answer.

import { UsageError } from '../service/usage-error.ts';
import type { Invocation } from './command.ts';
import { writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, withSource } from './query-target.ts';

interface Page {
  readonly chains: readonly object[];
  readonly next: string | null;
}

export interface Printed<P extends Page, Row> {
  /** What the rows are called. */
  readonly rows: string;
  urlOf(cursor: string | undefined): string;
  rowsOf(page: P): readonly Row[];
  jsonText(page: P): string;
  tableText(rows: readonly Row[]): string;
}

/** Sets the exit code: 1 if there are no rows, 2 if a chain did not answer. */
export async function printPages<P extends Page, Row>(call: Invocation, printed: Printed<P, Row>): Promise<void> {
  const asJson = call.isSet('json');
  // Wrong options come before a database that is not there.
  printed.urlOf(undefined);
  let [count, cursor]: [number, string | undefined] = [0, undefined];
  await withSource(call, async (ask) => {
    do {
      const page: P = await jsonOf<P>(await ask(printed.urlOf(cursor)));
      const rows = printed.rowsOf(page);
      if (!Array.isArray(rows)) throw new UsageError(NO_SERVICE);
      count += rows.length;
      await writeOut(asJson ? printed.jsonText(page) : printed.tableText(rows));
      if (cursor === undefined) reportProblems(page);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  });
  if (count > 0) return;
  process.exitCode ||= 1;
  if (!asJson) await writeOut(`No ${printed.rows}.\n`);
}

/** A chain that did not answer is an error: nothing is known about it. */
function reportProblems({ chains }: Pick<Page, 'chains'>): void {
  for (const one of chains) {
    if (!('problem' in one)) continue;
    process.exitCode = 2;
    console.error((one.problem as { readonly detail: string }).detail);
  }
}

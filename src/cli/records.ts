// What the commands share that manage records of the accounts' database by id: keys and webhooks.

import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/terminal.ts';
import type { Invocation } from './command.ts';
import { tableOf, writeOut } from './output.ts';

/** The action, and the id that all actions need but these. */
export function readAction<const A extends string>(
  what: 'key' | 'webhook',
  { operands: [given = '', id] }: Invocation,
  actions: readonly A[],
  withoutId: readonly A[],
): { readonly action: A; readonly id: number } {
  const action = actions.find((one) => one === given);
  if (action === undefined) throw new UsageError(`Unknown action: ${given}. Use one of ${actions.join(', ')}.`);
  const needsId = !withoutId.includes(action);
  if (needsId && !/^\d{1,15}$/.test(id ?? ''))
    throw new UsageError(`Missing ${what} id. Usage: delegations ${what}s ${action} <id>`);
  if (!needsId && id !== undefined) throw new UsageError(`Unexpected argument: ${id}. ${what}s ${action} takes no id.`);
  return { action, id: Number(id) };
}

export async function withAccounts(call: Invocation, work: (accounts: Accounts) => Promise<void>): Promise<void> {
  await using accounts = await openAccounts(readConfig(call.environment).databaseUrl, { mustExist: true });
  await work(accounts);
}

/** Pages are large enough that few databases have a second one. */
const LIST_PAGE = 1000;

interface Listed<R> {
  /** What the records are called. */
  readonly records: string;
  list(page: { readonly limit: number; readonly after?: number }): Promise<R[]>;
  jsonOf(record: R): unknown;
  readonly names: readonly string[];
  cellsOf(record: R): string[];
}

/** Prints all records. The columns of each page are aligned on their own. */
export async function printRecords<R extends { readonly id: number }>(asJson: boolean, listed: Listed<R>) {
  let page: R[] = [];
  let isEmpty = true;
  do {
    const after = page.at(-1)?.id;
    page = await listed.list({ limit: LIST_PAGE, ...(after === undefined ? {} : { after }) });
    if (page.length === 0) break;
    const json = () => (isEmpty ? '[' : ',') + page.map((one) => JSON.stringify(listed.jsonOf(one))).join(',');
    await writeOut(asJson ? json() : `${tableOf(listed.names, page.map(listed.cellsOf))}\n`);
    isEmpty = false;
  } while (page.length === LIST_PAGE);
  if (asJson) await writeOut(isEmpty ? '[]\n' : ']\n');
  else if (isEmpty) await writeOut(`No ${listed.records} yet.\n`);
}

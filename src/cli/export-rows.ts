// The history of a chain as rows for other tools: the columns of the view delegations_history, as NDJSON or CSV.

import { decodeRights } from '../registry/rights.ts';
import type { ChainState, GrantOfChain, LogPosition, Store } from '../store/store.ts';
import { dateOf } from './output.ts';

const PAGE = 5000;

/** As the view, whose database may have another encoding. */
const asciiOf = (text: string | null) => (text !== null && /^[ -~]+$/.test(text) ? text : null);

/** Numbers that may exceed 2^53 are text. */
const rowOf = (chainId: number, { since, until, ...grant }: GrantOfChain) => ({
  chain_id: chainId,
  registry: grant.version,
  type: grant.kind,
  from_address: grant.from,
  to_address: grant.to,
  contract: grant.contract,
  token_id: grant.tokenId === null ? null : String(grant.tokenId),
  amount: grant.amount === null ? null : String(grant.amount),
  rights: grant.rights,
  rights_text: asciiOf(decodeRights(grant.rights).text),
  since_block: since.block,
  since_log: since.logIndex,
  since_time: dateOf(since.timestamp),
  since_transaction: since.transactionHash,
  until_block: until?.block ?? null,
  until_log: until?.logIndex ?? null,
  until_time: until && dateOf(until.timestamp),
  until_transaction: until?.transactionHash ?? null,
  is_settled: grant.isSettled,
});

export const ROW_FORMATS = {
  ndjson: { head: () => '', line: (row: object) => `${JSON.stringify(row)}\n` },
  csv: {
    head: (row: object) => `${Object.keys(row).join(',')}\r\n`,
    line: (row: object) => `${Object.values(row).map(csvCell).join(',')}\r\n`,
  },
} as const;

/** What a spreadsheet would take for a formula gets a quote in front. */
function csvCell(value: unknown): string {
  const text = value === null ? '' : String(value).replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Up to the newest final block. */
export async function* exportRows(
  store: Store,
  { chainId, verified }: Pick<ChainState, 'chainId' | 'verified'>,
  format: keyof typeof ROW_FORMATS,
  onProgress: (rows: number) => void,
): AsyncGenerator<string> {
  const { head, line } = ROW_FORMATS[format];
  let after: LogPosition | null = null;
  for (let rows = 0; ; ) {
    const page: readonly GrantOfChain[] = await store.grants(chainId, verified ?? -1, after, PAGE);
    const found = page.map((grant) => rowOf(chainId, grant));
    yield (rows === 0 ? head(found[0] ?? {}) : '') + found.map(line).join('');
    rows += page.length;
    onProgress(rows);
    after = page.at(-1)?.since ?? null;
    if (page.length < PAGE) return;
  }
}

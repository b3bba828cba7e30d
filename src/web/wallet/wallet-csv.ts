// Writes the grants of a wallet as CSV, every one that the filters leave. A file that lacks a chain would look complete, so
// there is none then: a page says why.

import { type FetchApi, Refusal } from '../ask-api.ts';
import { knownName } from '../grant-words.ts';
import { html } from '../html.ts';
import { renderPage } from '../page.ts';
import { chainName } from '../parts.ts';
import { problemWords } from '../problem-words.ts';
import type { Grant } from './grant.ts';
import { matches, readGrants } from './wallet-reader.ts';
import { type WalletView, walletUrl } from './wallet-view.ts';

/** A cell that begins like this is a formula to a spreadsheet, and so is the rest of a cell that it splits at a separator. */
const FORMULA = /(?<=^|[,;|\t\r\n"'])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g;

/** An apostrophe makes a spreadsheet show the text as it is. */
export const csvCell = (value: string): string => {
  const safe = value.replace(FORMULA, "'");
  return /[",;|\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const isoTime = (seconds: number) => new Date(seconds * 1000).toISOString();

/** The columns, in order. */
const COLUMNS: Readonly<Record<string, (grant: Grant, view: WalletView) => string>> = {
  registry: ({ version }) => `v${version}`,
  chain_id: ({ chainId }) => String(chainId),
  chain: ({ chainId }) => chainName(chainId),
  direction: ({ from }, { wallet }) => (from === wallet ? 'outgoing' : 'incoming'),
  from: ({ from }) => from,
  to: ({ to }) => to,
  kind: ({ standard, type }) => standard ?? type,
  contract: ({ contract }) => contract ?? '',
  token_id: ({ tokenId }) => String(tokenId ?? ''),
  amount: ({ amount }) => String(amount ?? ''),
  rights: ({ rights }) => rights ?? '',
  rights_text: (grant) => grant.rightsText ?? knownName(grant) ?? '',
  rights_expire: ({ expires }) => (typeof expires === 'number' ? isoTime(expires) : (expires ?? '')),
  since_block: ({ since }) => String(since.block),
  since_time: ({ since }) => isoTime(since.timestamp),
  since_transaction: ({ since }) => since.transactionHash,
  since_log_index: ({ since }) => String(since.logIndex),
};

const csvRows = (view: WalletView, grants: readonly Grant[]): string =>
  grants
    .filter((grant) => matches(view, grant))
    .map((grant) => csvRow(Object.values(COLUMNS).map((cell) => cell(grant, view))))
    .join('');

/** Rows of the file. The grants themselves are not kept while it is sent. */
export interface CsvPage {
  readonly text: string;
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
}

/** A page of the grants. A chain that does not answer refuses all of it. */
export async function readCsvPage(view: WalletView, fetchApi: FetchApi): Promise<CsvPage | Refusal> {
  const unrestricted = view.isUnlimitedOnly ? { unrestricted: 'true', type: 'ALL' } : {};
  const page = await readGrants(view, fetchApi, unrestricted);
  if (page instanceof Refusal) return page;
  const away = page.chains.find((chain) => 'problem' in chain);
  if (away === undefined || !('problem' in away)) return { text: csvRows(view, page.rows), next: page.next };
  return new Refusal(503, `${chainName(away.chainId)} did not answer: ${problemWords(away.problem)}`);
}

/** The file in parts. If a later part cannot be read, it throws: the browser then reports a broken download. */
export async function* csvParts(view: WalletView, first: CsvPage, fetchApi: FetchApi): AsyncGenerator<string> {
  yield csvRow(Object.keys(COLUMNS));
  for (let page = first; ; ) {
    yield page.text;
    if (page.next === null) return;
    const next: CsvPage | Refusal = await readCsvPage({ ...view, cursor: page.next }, fetchApi);
    if (next instanceof Refusal) throw new Error(`The CSV of a wallet was cut off: ${next.text}`);
    page = next;
  }
}

export const csvName = ({ wallet }: WalletView): string => `delegations-${wallet}.csv`;

/** The page instead of a file. */
export function renderNoCsv(view: WalletView, { text }: Refusal): string {
  return renderPage(
    { title: 'No CSV', path: '' },
    html`<h1>No file was made</h1><p class="lead">${text}</p>
<p>A file without it would look complete. <a href="${walletUrl(view, {}, '/wallet.csv')}">Try again</a>, or <a href="${walletUrl(view)}">go back to the wallet</a> and choose a chain that answers.</p>`,
  );
}

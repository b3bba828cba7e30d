// delegations vaults, delegates and history: what both registries say about a wallet, on several chains, page by page.

import { type AnyOperation, COUNTERPARTS, HISTORY, type Side } from '../api/any-operations.ts';
import type { ResponseOf } from '../api/operation.ts';
import { direction } from '../api/params.ts';
import type { DelegationRecord } from '../api/responses.ts';
import { anyUrl } from '../api/url.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';
import { coverCells, tableOf, whenText, writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';
import { ANY_OPTIONS, paramsOf, walletOf } from './question-options.ts';

interface Page {
  readonly chains: readonly object[];
  readonly next: string | null;
}

interface Printed<P extends Page, Row> {
  /** What the rows are called. */
  readonly rows: string;
  urlOf(cursor: string | undefined): string;
  rowsOf(page: P): readonly Row[];
  jsonText(page: P): string;
  tableText(rows: readonly Row[]): string;
}

/** Sets the exit code: 1 if there are no rows, 2 if a chain did not answer. */
async function printPages<P extends Page, Row>(call: Invocation, printed: Printed<P, Row>): Promise<void> {
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

const urlOf = (operation: AnyOperation, call: Invocation, cursor: string | undefined): string =>
  anyUrl(operation, { ...paramsOf(call, operation), wallet: walletOf(call), numbers: 'string', cursor });

interface Counterpart {
  readonly vault?: string;
  readonly delegate?: string;
  readonly chainId: number;
  readonly narrower: boolean;
  readonly grants: readonly (DelegationRecord & { readonly version: number })[];
}

type CounterpartsPage = Page & Readonly<Partial<Record<Side, readonly Counterpart[]>>>;

const TEXTS = {
  vaults: {
    summary: 'list the wallets that a wallet may act for',
    about: 'Lists the cold wallets for which the hot wallet may act',
    example: '0x407…',
  },
  delegates: {
    summary: 'list the wallets that may act for a wallet',
    about: 'Lists the hot wallets that may act for the cold wallet',
    example: '0xC01d…',
  },
} as const satisfies Readonly<Record<Side, object>>;

const define = (side: Side): Command => ({
  name: side,
  summary: TEXTS[side].summary,
  usage: '<wallet> [options]',
  about: `${TEXTS[side].about}: for everything, or for a contract or an ERC-721 token. A grant in either registry counts. A wallet is listed
exactly if the same check says yes.
Exit code: 0 at least one, 1 none, 2 error, also if a chain did not answer.

${SOURCE_ABOUT} ${STALE_ABOUT}`,
  operands: [1, 1],
  options: {
    contract: { value: '<address>', about: 'contract address [the whole wallet]' },
    'token-id': { value: '<number>', about: 'token id of an ERC-721 token; needs --contract' },
    rights: { value: '<rights>', about: 'required rights, such as vote; unrestricted delegations also match' },
    narrower: { about: 'also list wallets that granted only a part of it, such as single tokens' },
    ...ANY_OPTIONS,
    json: { about: 'print each page as a line of JSON' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    `delegations ${side} ${TEXTS[side].example} --url http://localhost:8080`,
    `delegations ${side} ${TEXTS[side].example} --contract 0x5FbD… --chain 1,137,8453`,
    `delegations ${side} ${TEXTS[side].example} --rights vote --block 18000000`,
  ],
  run: (call) =>
    printPages<CounterpartsPage, Counterpart>(call, {
      rows: side,
      urlOf: (cursor) => urlOf(COUNTERPARTS[side], call, cursor),
      rowsOf: (page) => page[side] as readonly Counterpart[],
      jsonText: (page) => `${JSON.stringify(page)}\n`,
      tableText: (found) => counterpartsText(side, found),
    }),
});

export const vaults = define('vaults');
export const delegates = define('delegates');

const COUNTERPART_NAMES = ['CHAIN', 'WALLET', 'REGISTRY', 'TYPE', 'CONTRACT', 'TOKEN', 'RIGHTS', 'SINCE'];

/** Checks of these scopes have no amount. */
const AMOUNT = 3;

function counterpartsText(side: Side, found: readonly Counterpart[]): string {
  if (found.length === 0) return '';
  const rows = found.flatMap((one) =>
    one.grants.map((grant) => [
      String(one.chainId),
      (side === 'vaults' ? one.vault : one.delegate) ?? '',
      `v${grant.version}`,
      ...coverCells(grant).toSpliced(AMOUNT, 1),
      whenText(grant.since),
    ]),
  );
  return `${tableOf(COUNTERPART_NAMES, rows)}\n`;
}

type HistoryPage = ResponseOf<typeof HISTORY>;
type Grant = HistoryPage['grants'][number];

export const history: Command = {
  name: 'history',
  summary: 'list everything that a wallet ever granted or got',
  usage: '<wallet> [options]',
  about: `Lists every grant from and to a wallet in both registries, the newest first, and when it ended.
Exit code: 0 at least one, 1 none, 2 error, also if a chain did not answer.

${SOURCE_ABOUT} ${STALE_ABOUT}`,
  operands: [1, 1],
  options: {
    direction: { value: '<direction>', about: 'incoming or outgoing [both]', choices: direction.choices },
    ...ANY_OPTIONS,
    json: { about: 'print each grant as a line of JSON' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations history 0xC01d… --url http://localhost:8080',
    'delegations history 0xC01d… --direction outgoing --chain served',
    "delegations history 0xC01d… --json | jq 'select(.until == null)'",
  ],
  run: (call) =>
    printPages<HistoryPage, Grant>(call, {
      rows: 'grants',
      urlOf: (cursor) => urlOf(HISTORY, call, cursor),
      rowsOf: ({ grants }) => grants,
      jsonText: ({ grants }) => grants.map((grant) => `${JSON.stringify(grant)}\n`).join(''),
      tableText: (grants) => grantsText(grants, walletOf(call)),
    }),
};

const GRANT_NAMES = [
  'CHAIN',
  '',
  'WALLET',
  'REGISTRY',
  'TYPE',
  'CONTRACT',
  'TOKEN',
  'AMOUNT',
  'RIGHTS',
  'SINCE',
  'UNTIL',
];

function grantsText(grants: readonly Grant[], wallet: string): string {
  if (grants.length === 0) return '';
  const rows = grants.map(({ from, to, since, until, ...grant }) => {
    const isOutgoing = from.toLowerCase() === wallet.toLowerCase();
    const wallets = [isOutgoing ? 'to' : 'from', isOutgoing ? to : from, `v${grant.version}`];
    const times = [whenText(since), until === null ? '' : whenText(until)];
    return [String(grant.chainId), ...wallets, ...coverCells(grant), ...times];
  });
  return `${tableOf(GRANT_NAMES, rows)}\n`;
}

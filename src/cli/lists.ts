// What is listed about a wallet, page by page. delegations vaults, delegates and history ask both registries, on
// several chains; delegations list prints the delegations in one registry.

import { type AnyOperation, COUNTERPARTS, HISTORY, type Side } from '../api/any-operations.ts';
import type { ResponseOf } from '../api/operation.ts';
import { LISTS } from '../api/operations.ts';
import { direction } from '../api/params.ts';
import { problemText } from '../api/problems.ts';
import { coldWalletOf, type DelegationRecord, hotWalletOf } from '../api/responses.ts';
import { anyUrl, type ListOptions, listUrl } from '../api/url.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { COVER_NAMES, coverCells, tableOf, whenText, writeOut } from './output.ts';
import {
  type Ask,
  jsonOf,
  NAMES_ABOUT,
  NO_SERVICE,
  SOURCE_ABOUT,
  SOURCE_OPTIONS,
  STALE_ABOUT,
  withSource,
} from './query-target.ts';
import {
  ANY_OPTIONS,
  optionName,
  paramsOf,
  RESOLVER_OPTION,
  TIME_OPTIONS,
  versionOf,
  walletOf,
  whenOf,
} from './question-options.ts';

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
  /** The columns of the table. */
  readonly names: readonly string[];
  cellsOf(row: Row): string[][];
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
      if (asJson) await writeOut(printed.jsonText(page));
      else if (rows.length > 0) await writeOut(`${tableOf(printed.names, rows.flatMap(printed.cellsOf))}\n`);
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

${SOURCE_ABOUT} ${STALE_ABOUT}
${NAMES_ABOUT}`,
  operands: [1, 1],
  takesNames: true,
  options: {
    contract: { value: '<address>', about: 'contract address [the whole wallet]' },
    'token-id': { value: '<number>', about: 'token id of an ERC-721 token; needs --contract' },
    rights: { value: '<rights>', about: 'required rights, such as vote; unrestricted delegations also match' },
    ...(side === 'vaults' ? RESOLVER_OPTION : {}),
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
      names: ['CHAIN', 'WALLET', 'REGISTRY', ...COVER_NAMES.toSpliced(AMOUNT, 1), 'SINCE'],
      cellsOf: (row) => counterpartCells(side, row),
    }),
});

export const vaults = define('vaults');
export const delegates = define('delegates');

/** Checks of these scopes have no amount. */
const AMOUNT = COVER_NAMES.indexOf('AMOUNT');

const counterpartCells = (side: Side, { chainId, vault, delegate, grants }: Counterpart) =>
  grants.map((grant) => [
    String(chainId),
    (side === 'vaults' ? vault : delegate) ?? '',
    `v${grant.version}`,
    ...coverCells(grant).toSpliced(AMOUNT, 1),
    whenText(grant.since),
  ]);

type HistoryPage = ResponseOf<typeof HISTORY>;
type Grant = HistoryPage['grants'][number];

export const history: Command = {
  name: 'history',
  summary: 'list everything that a wallet ever granted or got',
  usage: '<wallet> [options]',
  about: `Lists every grant from and to a wallet in both registries, the newest first, and when it ended.
Exit code: 0 at least one, 1 none, 2 error, also if a chain did not answer.

${SOURCE_ABOUT} ${STALE_ABOUT}
${NAMES_ABOUT}`,
  operands: [1, 1],
  takesNames: true,
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
      names: ['CHAIN', '', 'WALLET', 'REGISTRY', ...COVER_NAMES, 'SINCE', 'UNTIL'],
      cellsOf: ({ from, to, since, until, ...grant }) => {
        const where = [String(grant.chainId), ...otherWallet(from, to, call), `v${grant.version}`];
        return [[...where, ...coverCells(grant), whenText(since), until === null ? '' : whenText(until)]];
      },
    }),
};

/** The wallet of a delegation that a command is not about, after its direction. */
const otherWallet = (from: string, to: string, { operands: [wallet = ''] }: Invocation) =>
  from.toLowerCase() === wallet.toLowerCase() ? ['to', to] : ['from', from];

export const list: Command = {
  name: 'list',
  summary: 'list the delegations from and to a wallet',
  usage: '<wallet> [options]',
  about: `Lists the delegations of a wallet: incoming, then outgoing, each by the first grant. Exit code: 0 at least one, 1 none, 2 error.

${SOURCE_ABOUT} ${STALE_ABOUT}
${NAMES_ABOUT}`,
  operands: [1, 1],
  takesNames: true,
  options: {
    direction: { value: '<direction>', about: 'incoming or outgoing [both]', choices: direction.choices },
    unrestricted: { about: 'leave out delegations that are limited to a right' },
    ...TIME_OPTIONS,
    json: { about: 'stream the list as JSON with all fields' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations list 0xC01d… --url http://localhost:8080',
    'delegations list 0xC01d… --direction outgoing --v1 --chain 137',
    "delegations list 0xC01d… --json | jq '.[].to'",
  ],
  async run(call) {
    walletOf(call);
    await withSource(call, (ask) => (call.isSet('json') ? writeJson(call, ask) : writeTable(call, ask)));
  },
};

const listUrlOf = (call: Invocation, options: ListOptions = {}): string =>
  listUrl(versionOf(call), walletOf(call), {
    ...paramsOf(call, LISTS[versionOf(call)]),
    ...whenOf(call),
    detail: 'full',
    ...options,
  });

async function writeJson(call: Invocation, ask: Ask): Promise<void> {
  const response = await ask(listUrlOf(call));
  if (!response.ok) throw new UsageError(await problemText(response, optionName));
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    // Anything but a list is not from this API.
    if (bytes === 0 && chunk[0] !== '['.charCodeAt(0)) throw new UsageError(NO_SERVICE);
    bytes += chunk.length;
    await writeOut(chunk);
  }
  if (bytes <= '[]'.length) process.exitCode = 1;
  await writeOut('\n');
}

const PAGE_SIZE = 1000;
const LIST_NAMES = ['', 'WALLET', ...COVER_NAMES, 'SINCE'];

/** Reads a page at a time: a list can be very long. */
async function writeTable(call: Invocation, ask: Ask): Promise<void> {
  let rows = 0;
  for (let path: string | null = listUrlOf(call, { numbers: 'string', limit: PAGE_SIZE }); path !== null; ) {
    const response = await ask(path);
    const page: DelegationRecord[] = await jsonOf<DelegationRecord[]>(response);
    if (!Array.isArray(page)) throw new UsageError(NO_SERVICE);
    const cells = page.map((row) => {
      const wallet = otherWallet(coldWalletOf(row), hotWalletOf(row), call);
      return [...wallet, ...coverCells(row), whenText(row.since)];
    });
    if (page.length > 0) await writeOut(`${tableOf(LIST_NAMES, cells)}\n`);
    rows += page.length;
    const next: string | undefined = /<(\?[^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    path = next === undefined ? null : path.slice(0, path.indexOf('?')) + next;
  }
  if (rows > 0) return;
  process.exitCode = 1;
  await writeOut('No delegations.\n');
}

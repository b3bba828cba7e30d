// delegations list: prints the delegations of a wallet.

import { LISTS } from '../api/operations.ts';
import { direction } from '../api/params.ts';
import { problemText } from '../api/problems.ts';
import { coldWalletOf, type DelegationRecord, hotWalletOf } from '../api/responses.ts';
import { type ListOptions, listUrl } from '../api/url.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';
import { coverCells, tableOf, whenText, writeOut } from './output.ts';
import { type Ask, jsonOf, NO_SERVICE, SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';
import { optionName, paramsOf, TIME_OPTIONS, versionOf, walletOf, whenOf } from './question-options.ts';

export const list: Command = {
  name: 'list',
  summary: 'list the delegations from and to a wallet',
  usage: '<wallet> [options]',
  about: `Lists the delegations of a wallet: incoming, then outgoing, each by the first grant. Exit code: 0 at least one, 1 none, 2 error.

${SOURCE_ABOUT} ${STALE_ABOUT}`,
  operands: [1, 1],
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

const urlOf = (call: Invocation, options: ListOptions = {}): string =>
  listUrl(versionOf(call), walletOf(call), {
    ...paramsOf(call, LISTS[versionOf(call)]),
    ...whenOf(call),
    detail: 'full',
    ...options,
  });

async function writeJson(call: Invocation, ask: Ask): Promise<void> {
  const response = await ask(urlOf(call));
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
const NAMES = ['', 'WALLET', 'TYPE', 'CONTRACT', 'TOKEN', 'AMOUNT', 'RIGHTS', 'SINCE'];

/** Reads a page at a time: a list can be very long. */
async function writeTable(call: Invocation, ask: Ask): Promise<void> {
  const wallet = walletOf(call).toLowerCase();
  let rows = 0;
  for (let path: string | null = urlOf(call, { numbers: 'string', limit: PAGE_SIZE }); path !== null; ) {
    const response = await ask(path);
    const page: DelegationRecord[] = await jsonOf<DelegationRecord[]>(response);
    if (!Array.isArray(page)) throw new UsageError(NO_SERVICE);
    const cells = page.map((row) => cellsOf(row, wallet));
    if (page.length > 0) await writeOut(`${tableOf(NAMES, cells)}\n`);
    rows += page.length;
    const next: string | undefined = /<(\?[^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    path = next === undefined ? null : path.slice(0, path.indexOf('?')) + next;
  }
  if (rows > 0) return;
  process.exitCode = 1;
  await writeOut('No delegations.\n');
}

function cellsOf(row: DelegationRecord, wallet: string): string[] {
  const [from, to] = [coldWalletOf(row), hotWalletOf(row)];
  const isOutgoing = from.toLowerCase() === wallet;
  return [isOutgoing ? 'to' : 'from', isOutgoing ? to : from, ...coverCells(row), whenText(row.since)];
}

// delegations list: prints the delegations of a wallet.

import { refusalText } from '../api/problems.ts';
import { coldOf, type DelegationRecord, hotOf } from '../api/records.ts';
import { rightsText } from '../registry/rights.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';
import { writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, openSource, SOURCE_ABOUT, SOURCE_OPTIONS, type Source } from './query-target.ts';
import { dateOf, TIME_OPTIONS, tableOf, versionOf, whenOf } from './question-options.ts';

export const list: Command = {
  name: 'list',
  summary: 'list the delegations from and to a wallet',
  usage: '<wallet> [options]',
  about: `Lists the delegations of a wallet, oldest first. Exit code: 0 at least one, 1 none, 2 error.

${SOURCE_ABOUT}`,
  operands: [1, 1],
  options: {
    direction: { value: '<direction>', about: 'incoming or outgoing [both]', choices: ['incoming', 'outgoing'] },
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
    const source = await openSource(call);
    try {
      await (call.isSet('json') ? writeJson(call, source) : writeTable(call, source));
    } finally {
      await source.close();
    }
  },
};

function pathOf(call: Invocation, more: Record<string, string>): string {
  const query = whenOf(call);
  const direction = call.text('direction');
  if (direction !== undefined) query.set('direction', direction);
  for (const [name, value] of Object.entries({ detail: 'full', ...more })) query.set(name, value);
  return `/registry/v${versionOf(call)}/${encodeURIComponent(call.operands[0] ?? '')}?${query}`;
}

async function writeJson(call: Invocation, { ask }: Source): Promise<void> {
  const response = await ask(pathOf(call, {}));
  if (!response.ok) throw new UsageError(await refusalText(response));
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    // Another server may answer with something else.
    if (bytes === 0 && chunk[0] !== '['.charCodeAt(0)) throw new UsageError(NO_SERVICE);
    bytes += chunk.length;
    await writeOut(chunk);
  }
  await writeOut('\n');
  if (bytes <= '[]'.length) process.exitCode = 1;
}

const PAGE_SIZE = 1000;
const NAMES = ['', 'WALLET', 'TYPE', 'CONTRACT', 'TOKEN', 'AMOUNT', 'RIGHTS', 'SINCE'];

/** Prints a page at a time: anyone can make a list arbitrarily long. */
async function writeTable(call: Invocation, { ask }: Source): Promise<void> {
  const wallet = (call.operands[0] ?? '').toLowerCase();
  let rows = 0;
  for (let path: string | null = pathOf(call, { numbers: 'string', limit: String(PAGE_SIZE) }); path !== null; ) {
    const response = await ask(path);
    const page: DelegationRecord[] = await jsonOf<DelegationRecord[]>(response);
    if (!Array.isArray(page)) throw new UsageError(NO_SERVICE);
    if (page.length > 0)
      await writeOut(
        `${tableOf(
          NAMES,
          page.map((row) => cellsOf(row, wallet)),
        )}\n`,
      );
    rows += page.length;
    const next: string | undefined = /<(\?[^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    path = next === undefined ? null : path.slice(0, path.indexOf('?')) + next;
  }
  if (rows > 0) return;
  await writeOut('No delegations.\n');
  process.exitCode = 1;
}

function cellsOf(row: DelegationRecord, wallet: string): string[] {
  const [from, to] = [coldOf(row), hotOf(row)];
  const isOutgoing = from.toLowerCase() === wallet;
  return [
    isOutgoing ? 'to' : 'from',
    isOutgoing ? to : from,
    row.standard ?? row.type,
    row.contract ?? '',
    row.tokenId ?? '',
    row.amount ?? '',
    rightsText(row.rights) ?? '',
    `${row.since.block}, ${dateOf(row.since.timestamp)}`,
  ];
}

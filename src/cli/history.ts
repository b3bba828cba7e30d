// delegations history: prints every grant that a wallet made or got, and what ended it.

import { HISTORY } from '../api/any-operations.ts';
import type { ResponseOf } from '../api/operation.ts';
import { direction } from '../api/params.ts';
import { urlFor } from '../api/url.ts';
import type { Command } from './command.ts';
import { coverCells, tableOf, whenText } from './output.ts';
import { printPages } from './print-pages.ts';
import { SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT } from './query-target.ts';
import { ANY_OPTIONS, given, timesOf, walletOf } from './question-options.ts';

type Page = ResponseOf<typeof HISTORY>;
type Grant = Page['grants'][number];

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
    printPages<Page, Grant>(call, {
      rows: 'grants',
      urlOf: (cursor) =>
        urlFor(HISTORY, {
          wallet: walletOf(call),
          chainId: given(call, 'chainId'),
          direction: given(call, 'direction'),
          ...timesOf(call),
          numbers: 'string',
          cursor,
        }),
      rowsOf: ({ grants }) => grants,
      jsonText: ({ grants }) => grants.map((grant) => `${JSON.stringify(grant)}\n`).join(''),
      tableText: (grants) => tableText(grants, walletOf(call)),
    }),
};

const NAMES = ['CHAIN', '', 'WALLET', 'REGISTRY', 'TYPE', 'CONTRACT', 'TOKEN', 'AMOUNT', 'RIGHTS', 'SINCE', 'UNTIL'];

function tableText(grants: readonly Grant[], wallet: string): string {
  if (grants.length === 0) return '';
  const rows = grants.map(({ from, to, since, until, ...grant }) => {
    const isOutgoing = from.toLowerCase() === wallet.toLowerCase();
    const wallets = [isOutgoing ? 'to' : 'from', isOutgoing ? to : from, `v${grant.version}`];
    const times = [whenText(since), until === null ? '' : whenText(until)];
    return [String(grant.chainId), ...wallets, ...coverCells(grant), ...times];
  });
  return `${tableOf(NAMES, rows)}\n`;
}

// delegations vaults and delegations delegates: for whom a wallet may act, and who may act for it.

import { COUNTERPARTS, type Side } from '../api/any-operations.ts';
import type { DelegationRecord } from '../api/responses.ts';
import { urlFor } from '../api/url.ts';
import type { Command, Invocation } from './command.ts';
import { coverCells, tableOf, whenText } from './output.ts';
import { printPages } from './print-pages.ts';
import { SOURCE_ABOUT, SOURCE_OPTIONS, STALE_ABOUT } from './query-target.ts';
import { ANY_OPTIONS, given, rightsOption, timesOf, walletOf } from './question-options.ts';

interface Counterpart {
  readonly vault?: string;
  readonly delegate?: string;
  readonly chainId: number;
  readonly narrower: boolean;
  readonly grants: readonly (DelegationRecord & { readonly version: number })[];
}

interface Page {
  readonly vaults?: readonly Counterpart[];
  readonly delegates?: readonly Counterpart[];
  readonly chains: readonly object[];
  readonly next: string | null;
}

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
    printPages<Page, Counterpart>(call, {
      rows: side,
      urlOf: (cursor) => urlOf(side, call, cursor),
      rowsOf: (page) => page[side] as readonly Counterpart[],
      jsonText: (page) => `${JSON.stringify(page)}\n`,
      tableText: (found) => tableText(side, found),
    }),
});

export const vaults = define('vaults');
export const delegates = define('delegates');

function urlOf(side: Side, call: Invocation, cursor: string | undefined): string {
  return urlFor(COUNTERPARTS[side], {
    wallet: walletOf(call),
    contract: given(call, 'contract'),
    tokenId: given(call, 'tokenId'),
    rights: rightsOption(call),
    narrower: call.isSet('narrower') ? 'true' : undefined,
    chainId: given(call, 'chainId'),
    ...timesOf(call),
    numbers: 'string',
    cursor,
  });
}

const NAMES = ['CHAIN', 'WALLET', 'REGISTRY', 'TYPE', 'CONTRACT', 'TOKEN', 'RIGHTS', 'SINCE'];

/** Checks of these scopes have no amount. */
const AMOUNT = 3;

function tableText(side: Side, found: readonly Counterpart[]): string {
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
  return `${tableOf(NAMES, rows)}\n`;
}

// delegations holders: checks whether a wallet, or a wallet that it may act for, owns a token.

import { HOLDERS_OPERATION } from '../api/any-operations.ts';
import type { InputOf, ResponseOf } from '../api/operation.ts';
import { tokenStandard } from '../api/params.ts';
import { urlFor } from '../api/url.ts';
import { rightsLabel } from '../registry/rights.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, nowSeconds, tableOf, whenText, writeOut } from './output.ts';
import { type Ask, jsonOf, NAMES_ABOUT, NO_SERVICE, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';
import {
  DELEGATION_CHAINS_OPTION,
  given,
  paramsOf,
  RESOLVER_OPTION,
  WHEN_OPTIONS,
  walletOf,
  whenOf,
} from './question-options.ts';

type Holders = ResponseOf<typeof HOLDERS_OPERATION>;

export const holders: Command = {
  name: 'holders',
  summary: 'check whether a wallet, or one that it may act for, owns a token',
  usage: '<wallet> --contract <address> [options]',
  about: `Prints which of a wallet and the wallets that it may act for own a token, at the block of the index, with the delegations of
both registries. Exit code: 0 yes, 1 no, 2 error.

Queries the service at --url, which needs OWNERSHIP=on. Without --url, uses the database of DATABASE_URL and the providers of
RPC_URL_<chainId>. ${STALE_ABOUT}
${NAMES_ABOUT}`,
  operands: [1, 1],
  takesNames: true,
  options: {
    contract: { value: '<address>', about: 'token contract' },
    'token-id': { value: '<number>', about: 'token id of an ERC-721 or ERC-1155 token' },
    standard: {
      value: '<standard>',
      about: 'ERC721, ERC1155 or ERC20 [ERC721 with --token-id, otherwise balanceOf]',
      choices: tokenStandard.choices,
    },
    rights: { value: '<rights>', about: 'required rights, such as vote; unrestricted delegations also match' },
    ...RESOLVER_OPTION,
    ...WHEN_OPTIONS,
    ...DELEGATION_CHAINS_OPTION,
    json: { about: 'print the answer as JSON' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations holders 0x407… --contract 0x5FbD… --token-id 42 --url http://localhost:8080',
    'delegations holders 0x407… --contract 0x5FbD… && echo may enter',
    'delegations holders 0x407… --contract 0xe7f1… --standard ERC20 --json',
  ],
  async run(call) {
    const params = inputOf(call);
    const print = async (ask: Ask) => {
      const answer = await readPages(params, ask);
      if (answer.holds !== true) process.exitCode = 1;
      await writeOut(call.isSet('json') ? `${JSON.stringify(answer)}\n` : formatHolders(answer));
    };
    await withSource(call, print, { usesProviders: true });
  },
};

function inputOf(call: Invocation): InputOf<typeof HOLDERS_OPERATION> {
  const contract = given(call, 'contract');
  if (contract === undefined) throw new UsageError('--contract is required. See delegations holders --help.');
  return { wallet: walletOf(call), ...paramsOf(call, HOLDERS_OPERATION), contract, ...whenOf(call), numbers: 'string' };
}

/** All pages as one. */
async function readPages(params: InputOf<typeof HOLDERS_OPERATION>, ask: Ask): Promise<Holders> {
  const found: Holders['holders'][number][] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Holders = await jsonOf<Holders>(await ask(urlFor(HOLDERS_OPERATION, { ...params, cursor })));
    if (!Array.isArray(page.holders)) throw new UsageError(NO_SERVICE);
    found.push(...page.holders);
    if (page.next === null) return { ...page, holds: found.length > 0, holders: found };
    cursor = page.next;
  }
}

const NAMES = ['OWNER', 'BALANCE', 'BY', 'SINCE'];

function formatHolders({ holds, block, holders: found, delegationChains = [] }: Holders): string {
  const time = block.timestamp === null ? '' : `, ${dateOf(block.timestamp)}`;
  const rows = found.flatMap(({ owner, balance, delegations }) =>
    delegations.length === 0
      ? [[owner, String(balance), 'itself', '']]
      : delegations.map(({ version, type, standard, rights, since, chainId }) => {
          const right = rightsLabel(rights, nowSeconds());
          const where = delegationChains.length === 0 ? '' : ` on chain ${chainId}`;
          const by = `v${version} ${standard ?? type}${right === null ? '' : ` for ${right}`}${where}`;
          return [owner, String(balance), by, whenText(since)];
        }),
  );
  const table = rows.length === 0 ? '' : `${tableOf(NAMES, rows)}\n`;
  const chains = delegationChains.map((one) => `Delegations of chain ${one.chainId} at block ${one.block.number}\n`);
  return `${holds ? 'yes' : 'no'} (at block ${block.number}${time})\n${chains.join('')}${table}`;
}

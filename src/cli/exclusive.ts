// delegations exclusive: which one wallet acts for a wallet or a token, or for which wallets a wallet alone acts.

import { EXCLUSIVE } from '../api/exclusive-operations.ts';
import type { ResponseOf } from '../api/operation.ts';
import { anyUrl } from '../api/url.ts';
import { type Expiry, expiryText } from '../registry/expiry-text.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command } from './command.ts';
import { nowSeconds, tableOf, writeOut } from './output.ts';
import { jsonOf, NAMES_ABOUT, NO_SERVICE, SOURCE_OPTIONS, STALE_ABOUT, withSource } from './query-target.ts';
import { given, idOption, WHEN_OPTIONS, walletOf, whenOf } from './question-options.ts';

type One = ResponseOf<(typeof EXCLUSIVE)['wallet' | 'owner']>;
type Vaults = ResponseOf<(typeof EXCLUSIVE)['vaults']>;

const untilText = (expires: Expiry | null) => (expires === null ? '' : expiryText(expires, nowSeconds()));

export const exclusive: Command = {
  name: 'exclusive',
  summary: 'show which one wallet acts for a wallet or a token',
  usage: '[<wallet>] [options]',
  about: `Prints the one wallet that acts for a wallet, by delegations whose rights have an expiry, or for a token. With --vaults, prints
the wallets for which the wallet alone acts. Exit code: 0 a delegation decides, 1 none does, 2 error.

Queries the service at --url. Without --url, uses the database of DATABASE_URL, and for a token without <wallet>, its owner, the
providers of RPC_URL_<chainId>. ${STALE_ABOUT}
${NAMES_ABOUT}`,
  operands: [0, 1],
  takesNames: true,
  options: {
    rights: { value: '<rights>', about: 'name of the right, such as vote, hash:AGW_LINK, or 24 bytes in hex [global]' },
    vaults: { about: 'print the wallets for which the wallet alone acts' },
    contract: { value: '<address>', about: 'contract of an ERC-721 token; needs --token-id' },
    'token-id': { value: '<number>', about: 'its token id' },
    ...WHEN_OPTIONS,
    json: { about: 'print the answer as JSON' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations exclusive 0xC01d… --rights hash:AGW_LINK --url http://localhost:8080',
    'delegations exclusive 0x407… --vaults --rights hash:AGW_LINK',
    'delegations exclusive --contract 0x5FbD… --token-id 42 --block finalized',
  ],
  async run(call) {
    const [contract, tokenId] = [given(call, 'contract'), given(call, 'tokenId')];
    const shared = { rights: idOption(call), ...whenOf(call), numbers: 'string' };
    if ((contract === undefined) !== (tokenId === undefined))
      throw new UsageError('--contract and --token-id need each other.');
    const isVaults = call.isSet('vaults');
    if (isVaults && contract !== undefined) throw new UsageError('--vaults and --contract cannot be combined.');
    const wallet = call.operands.length === 0 && contract !== undefined ? undefined : walletOf(call);
    const asJson = call.isSet('json');
    await withSource(
      call,
      async (ask) => {
        let isDelegated = false;
        for (let cursor: string | undefined; ; ) {
          const url = isVaults
            ? anyUrl(EXCLUSIVE.vaults, { wallet, ...shared, cursor })
            : contract === undefined
              ? anyUrl(EXCLUSIVE.wallet, { vault: wallet, ...shared })
              : anyUrl(EXCLUSIVE.owner, { contract, tokenId, owner: wallet, ...shared });
          const answer = await jsonOf<One | Vaults>(await ask(url));
          if (!('delegated' in answer) && !Array.isArray(answer.vaults)) throw new UsageError(NO_SERVICE);
          isDelegated ||= 'delegated' in answer ? answer.delegated : answer.vaults.length > 0;
          await writeOut(asJson ? `${JSON.stringify(answer)}\n` : answerText(answer));
          const next = 'next' in answer ? answer.next : null;
          if (next === null) break;
          cursor = next;
        }
        if (!isDelegated) process.exitCode = 1;
      },
      { usesProviders: true },
    );
  },
};

function answerText(answer: One | Vaults): string {
  if ('delegated' in answer) {
    const { wallet, vault, delegated, expires } = answer;
    if (vault === null) return 'The token has no owner.\n';
    return delegated ? `${wallet} acts alone for ${vault}, ${untilText(expires)}\n` : `${vault} acts for itself\n`;
  }
  const rows = answer.vaults.map(({ vault, expires }) => [vault, untilText(expires)]);
  return rows.length === 0 ? '' : `${tableOf(['VAULT', 'UNTIL'], rows)}\n`;
}

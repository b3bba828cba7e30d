// What compiles, and what must not. types.test.ts compiles this file against the packed client. The number behind
// `@ts-expect-error` is the code of the error.

import {
  type Answer,
  ChainStale,
  createClient,
  type Delegation,
  type HoldersPage,
  type Question,
  RateLimited,
} from 'delegations-client';
import { type QueryAnswer, useCheck, useVaults } from 'delegations-client/react';
import { delegationActions } from 'delegations-client/viem';
import { createPublicClient, http } from 'viem';
import { mainnet } from 'viem/chains';

declare const contract: string;
declare const wallets: { from: string; to: string };
declare const questions: readonly Question[];
declare const holdersPage: HoldersPage;
declare const failure: unknown;

const client = createClient({ url: 'http://localhost:8080', chainId: 1, block: 'finalized' });
const token = { ...wallets, contract, tokenId: 1n };

export async function checks(): Promise<void> {
  const yes: boolean = await client.check.all(wallets);
  const amount: bigint = await client.check.erc20({ ...wallets, contract });
  const cards: bigint = await client.check.erc1155(token);
  const { result, block }: { result: bigint; block: { number: number } } = await client.explain.erc1155(token);
  await client.check.token({ ...token, version: 1 });
  console.log(yes, amount, cards, result, block);

  // @ts-expect-error 2801: a check that was not awaited is not a yes
  if (client.check.all(wallets)) console.log('yes');
  // @ts-expect-error 2322: an amount is not a yes
  const isAmount: boolean = await client.check.erc20({ ...wallets, contract });
  // @ts-expect-error 2322: nor an explained answer
  const isExplained: boolean = await client.explain.all(wallets);
  // @ts-expect-error 2322: a number has lost digits of a token id
  await client.check.erc721({ ...token, tokenId: 1 });
  // @ts-expect-error 2322: as text, it is not known to be one
  await client.check.erc721({ ...token, tokenId: '1' });
  // @ts-expect-error 2345: a check of a token needs its id
  await client.check.erc721({ ...wallets, contract });
  // @ts-expect-error 2345: a check needs both wallets
  await client.check.all({ to: wallets.to });
  // @ts-expect-error 2353: v1 has no rights
  await client.check.all({ ...wallets, version: 1, rights: 'text:vote' });
  // @ts-expect-error 2322: v1 has no such check
  await client.check.erc20({ ...wallets, contract, version: 1 });
  console.log(isAmount, isExplained);
}

export async function manyChecks(): Promise<void> {
  const [all, amount] = await client.checkMany({
    questions: [
      { check: 'all', ...wallets },
      { check: 'erc20', ...wallets, contract },
    ],
  });
  if (all.ok) {
    const yes: boolean = all.result;
    console.log(yes, all.block.number);
  }
  if (amount.ok) {
    const units: bigint = amount.result;
    console.log(units);
  } else {
    // @ts-expect-error 2339: an unanswered question has no result
    console.log(amount.error.problem.detail, amount.result);
  }
  // @ts-expect-error 2339: whether there is an answer comes first
  console.log(all.result);
  // @ts-expect-error 2322: an answer is not a yes
  const isAnswer: boolean = all;
  const answers: readonly Answer[] = await client.checkMany({ questions });
  // @ts-expect-error 2339: nor a list of answers
  console.log(answers.filter(({ result }) => result));
  // @ts-expect-error 2322: a number has lost digits of a token id
  await client.checkMany({ questions: [{ check: 'erc721', ...token, tokenId: 1 }] });
  console.log(isAnswer);
}

export async function lists(): Promise<void> {
  const rows: readonly Delegation[] = await client.list({ wallet: wallets.to }).all();
  const tokenId: bigint | null | undefined = rows[0]?.tokenId;
  const holds: boolean = await client.holds({ wallet: wallets.to, contract });
  for await (const { chains } of client.vaults({ wallet: wallets.to }).pages()) {
    for (const chain of chains) {
      // @ts-expect-error 18048: a chain that did not answer has no block
      console.log(chain.block.number);
      if (chain.error === undefined) console.log(chain.block.number);
    }
  }
  // @ts-expect-error 2322: a page alone may not know
  const isHolder: boolean = holdersPage.holds;
  // @ts-expect-error 2740: a list that was not read is not a list of rows
  const vaults: readonly unknown[] = client.vaults({ wallet: wallets.to });
  console.log(tokenId, holds, isHolder, vaults);
}

export function errors(): void {
  if (failure instanceof ChainStale) {
    const seconds: number = failure.problem.ageSeconds;
    console.log(seconds);
  }
  if (failure instanceof RateLimited) {
    // @ts-expect-error 4111: a problem has the fields of its type
    console.log(failure.problem.ageSeconds, failure.retryAfter);
  }
}

export function Hooks(): null {
  const check: QueryAnswer<boolean> = useCheck('all', wallets);
  const amount: QueryAnswer<bigint> = useCheck('erc20', { ...wallets, contract });
  const vaults = useVaults({ wallet: wallets.to });
  if (check.status === 'success') {
    const yes: boolean = check.data;
    console.log(yes);
  }
  // @ts-expect-error 2339: without a look at the status there is no answer
  console.log(check.data);
  // @ts-expect-error 2339: an answer that is not there yet is not a no
  if (amount.status === 'pending') console.log(amount.data);
  // @ts-expect-error 2339: after an error there is no answer
  if (vaults.status === 'error') console.log(vaults.error.message, vaults.data);
  // @ts-expect-error 2322: a number has lost digits of a token id
  useCheck('erc721', { ...token, tokenId: 1 });
  return null;
}

export async function viem(): Promise<void> {
  const extended = createPublicClient({ chain: mainnet, transport: http() }).extend(
    delegationActions({ url: 'http://localhost:8080' }),
  );
  const yes: boolean = await extended.delegations.check.all(wallets);
  const head: bigint = await extended.getBlockNumber();
  console.log(yes, head);
  // @ts-expect-error 2801: a check that was not awaited is not a yes
  if (extended.delegations.check.all(wallets)) console.log('yes');
}

// Collects every answer of a store about the wallets of a simulated chain, and compares it with the truth.

import { answer } from '../../src/registry/check.ts';
import { StoreError } from '../../src/store/errors.ts';
import { findDispute } from '../../src/store/halt.ts';
import type { Store } from '../../src/store/store.ts';
import type { Model } from './model.ts';
import { asText, type CheckCase, everyQuestion } from './questions.ts';
import type { Recording } from './vectors.ts';
import { CONTRACTS, IDS, RIGHTS, WALLETS } from './wallets.ts';

/** Answers by question. An error is given as its code in brackets. */
export type Answers = ReadonlyMap<string, string>;

export const isRefused = (answer: string) => answer.startsWith('[');

/** Every check about the wallets. */
export const ALL_CHECKS = everyQuestion({
  vaults: WALLETS,
  delegates: WALLETS,
  contracts: CONTRACTS,
  tokenIds: IDS,
  rights: RIGHTS,
} as unknown as Recording);

/** The wallets whose logs determine a list. */
export const LISTS = WALLETS.flatMap((wallet) =>
  ([1, 2] as const).flatMap((version) =>
    (['outgoing', 'incoming'] as const).map((direction) => ({
      wallet,
      version,
      direction,
      name: `v${version} ${direction} ${wallet}`,
      depends: (direction === 'outgoing' ? [wallet] : WALLETS).map((from) => `v${version} ${from}`),
    })),
  ),
);

/** The true lists. */
export function trueLists(model: Model): Map<string, string> {
  const held = model.held().map((one) => ({ one, text: asText(one) }));
  const answers = new Map<string, string>();
  for (const { wallet, version, direction, name } of LISTS) {
    const side = direction === 'incoming' ? 'to' : 'from';
    const rows = held.filter(({ one }) => one.version === version && one[side] === wallet).map(({ text }) => text);
    answers.set(name, rows.sort().join(' '));
  }
  return answers;
}

const refusal = (error: unknown): string => {
  if (error instanceof StoreError) return `[${error.code}]`;
  throw error;
};

/** The store's lists as of a block. */
export async function listsAt(store: Store, chainId: number, block: number): Promise<Map<string, string>> {
  const { revision = 0, disputes = [] } = (await store.chain(chainId)) ?? {};
  const answers = new Map<string, string>();
  for (const { wallet, version, direction, name } of LISTS) {
    if (findDispute(disputes, { wallet }) !== undefined) {
      answers.set(name, '[disputed]');
      continue;
    }
    const query = { chainId, version, wallet, direction, at: { block, revision }, limit: 1000 };
    const said = await store
      .list(query)
      .then(({ delegations }) => delegations.map(asText).sort().join(' '))
      .catch(refusal);
    answers.set(name, said);
  }
  return answers;
}

/** Describes the wrong lists as of a block. A list is not wrong if it is refused because a revocation is unread or its wallet disputed. */
export async function wrongLists(store: Store, chainId: number, model: Model, block: number): Promise<string | null> {
  const given = [...(await listsAt(store, chainId, block))].filter(
    ([, said]) => said !== '[revocation-unread]' && said !== '[disputed]',
  );
  const difference = differenceOf(new Map(given), trueLists(model));
  return difference === null ? null : `at ${block} ${difference}`;
}

/** Describes the wrong answers among all lists and these checks, at a block or at the head. */
export async function wrongAnswers(
  store: Store,
  chainId: number,
  model: Model,
  { number, isHead, asked }: { number: number; isHead: boolean; asked: readonly CheckCase[] },
): Promise<string | null> {
  const answers = await listsAt(store, chainId, number);
  const truth = trueLists(model);
  for (const { name, question, truth: trueOf } of asked) {
    // A check without a block takes another code path.
    const said = await (isHead ? store.check(chainId, question) : store.check(chainId, question, number))
      .then(({ granting }) => String(answer(question, granting)))
      .catch(refusal);
    answers.set(name, said);
    truth.set(name, String(trueOf(model)));
  }
  return differenceOf(answers, truth);
}

/** A random subset of all checks. */
export const someChecks = (random: () => number, count: number): CheckCase[] =>
  Array.from({ length: count }, () => ALL_CHECKS[Math.floor(random() * ALL_CHECKS.length)] as CheckCase);

/** Describes the answers that differ from the truth; null if there are none. */
export function differenceOf(answers: Answers, truth: Answers): string | null {
  const wrong = [...answers].filter(([name, said]) => truth.get(name) !== said);
  const [first] = wrong;
  if (first === undefined) return null;
  const refused = wrong.filter(([, said]) => isRefused(said));
  const [name, said] = wrong.find(([, one]) => !isRefused(one)) ?? first;
  return `${wrong.length} of ${answers.size} wrong, ${refused.length} of them refused: ${name} is "${said}", not "${truth.get(name)}"`;
}

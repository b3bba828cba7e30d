// Asks all providers for the same state. If they disagree, those win whose registry agrees most often with known logs.

import { answer } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import { jsonText } from '../store/json.ts';
import { questionsAbout } from './audit-subjects.ts';
import type { FollowerContext } from './context.ts';
import { Untrusted } from './errors.ts';
import type { BlockId } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { fetchStatements } from './registry-answers.ts';

type Reply<T> = { readonly provider: Provider; readonly value: T };

/** The block and the v1 wallets that the providers are asked about. */
interface Topic {
  readonly block: BlockId;
  readonly vaults: readonly Address[];
}

export interface Consensus<T> {
  /** Undefined if no provider has an answer, or if it stays open which one is right. */
  readonly value: T | undefined;
  /** Why there is no value: a provider's error, or our own message. */
  readonly reason: string;
}

/** Logs that are used to rate providers. */
const SAMPLE_LOGS = 12;

/** `ask` returns null, or throws, if the provider cannot answer. */
export async function findConsensus<T>(
  context: FollowerContext,
  providers: readonly Provider[],
  topic: Topic,
  ask: (provider: Provider) => Promise<T | null>,
): Promise<Consensus<T>> {
  let reason = 'no provider has the state';
  const answers = await Promise.all(
    providers.map(async (provider): Promise<Reply<T>[]> => {
      try {
        const value = await ask(provider);
        return value === null ? [] : [{ provider, value }];
      } catch (error) {
        reason = `${provider.name}: ${(error as Error).message}`;
        return [];
      }
    }),
  );
  const replies = answers.flat();
  if (countValues(replies) <= 1) return { value: replies[0]?.value, reason };
  const trusted = await mostReliable(context, replies, topic);
  if (countValues(trusted) > 1) return { value: undefined, reason: 'the providers disagree' };
  const value = trusted[0]?.value;
  for (const reply of replies) {
    if (jsonText(reply.value) !== jsonText(value))
      context.blame(reply.provider, new Untrusted(`the provider returned wrong state of block ${topic.block.number}`));
  }
  return { value, reason };
}

const countValues = (replies: readonly Reply<unknown>[]) => new Set(replies.map(({ value }) => jsonText(value))).size;

/** The providers whose registry contradicts the fewest logs of other wallets. */
async function mostReliable<T>(
  { network, store, state }: FollowerContext,
  replies: readonly Reply<T>[],
  { block, vaults }: Topic,
): Promise<readonly Reply<T>[]> {
  const { chainId } = network;
  const from = Math.max(state?.firstBlock ?? 0, block.number - 1000);
  const logs = (await store.logs(chainId, { from, to: block.number, limit: 1000 })).slice(-SAMPLE_LOGS);
  const questions = questionsAbout(logs).filter(({ from: wallet }) => !vaults.includes(wallet));
  const expected = new Map<string, string>();
  for (const question of questions) {
    const { granting } = await store.check(chainId, question, block.number).catch(() => ({ granting: null }));
    if (granting !== null) expected.set(keyOf(question), String(answer(question, granting)));
  }
  const faults = await Promise.all(
    replies.map(async ({ provider }) => {
      const statements = await fetchStatements(network, provider.node, block, questions).catch(() => []);
      return statements.filter(({ subject, says }) => (expected.get(keyOf(subject)) ?? says) !== says).length;
    }),
  );
  const fewest = Math.min(...faults);
  return replies.filter((_, position) => faults[position] === fewest);
}

const keyOf = (subject: object) => jsonText(Object.entries(subject).map(([name, value]) => `${name}=${String(value)}`));

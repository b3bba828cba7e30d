// One question to several providers. Where they disagree, those are believed that are right about what is known.

import { answer } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import { jsonText } from '../store/json.ts';
import type { FollowerContext } from './context.ts';
import { Untrusted } from './errors.ts';
import type { BlockId } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { fetchStatements, questionsAbout } from './registry-answers.ts';

/** What providers can be told to disagree about. */
export type Told<T> = { readonly source: Provider; readonly value: T };

export interface Consensus<T> {
  /** Undefined where nobody could tell, or where it stays open who is right. */
  readonly value: T | undefined;
  /** Why not, in the words of a provider or ours. */
  readonly reason: string;
}

const CONTROLS = 12;

/** Asks all; a provider gives null, or fails, where it cannot tell. */
export async function findConsensus<T>(
  context: FollowerContext,
  sources: readonly Provider[],
  about: { readonly block: BlockId; readonly vaults: readonly Address[] },
  ask: (source: Provider) => Promise<T | null>,
): Promise<Consensus<T>> {
  let reason = 'no provider has that state';
  const asked = await Promise.all(
    sources.map(async (source): Promise<Told<T>[]> => {
      try {
        const value = await ask(source);
        return value === null ? [] : [{ source, value }];
      } catch (error) {
        reason = `${source.name}: ${(error as Error).message}`;
        return [];
      }
    }),
  );
  const told = asked.flat();
  const distinct = new Set(told.map(({ value }) => jsonText(value)));
  if (distinct.size <= 1) return { value: told[0]?.value, reason };
  const believed = await mostReliable(context, told, about);
  const left = new Set(believed.map(({ value }) => jsonText(value)));
  if (left.size > 1) return { value: undefined, reason: 'the providers disagree' };
  const value = believed[0]?.value;
  for (const one of told) {
    if (jsonText(one.value) !== jsonText(value))
      context.blame(one.source, new Untrusted(`the provider has another state of block ${about.block.number}`));
  }
  return { value, reason };
}

/** Those whose registry says what the logs prove, about other wallets, most often. */
async function mostReliable<T>(
  { network, store, state }: FollowerContext,
  told: readonly Told<T>[],
  { block, vaults }: { readonly block: BlockId; readonly vaults: readonly Address[] },
): Promise<readonly Told<T>[]> {
  const { chainId } = network;
  const from = Math.max(state?.firstBlock ?? 0, block.number - 1000);
  const logs = (await store.logs(chainId, { from, to: block.number, limit: 1000 })).slice(-CONTROLS);
  const questions = questionsAbout(logs).filter(({ from: wallet }) => !vaults.includes(wallet));
  const right = new Map<string, string>();
  for (const question of questions) {
    const { granting } = await store.check(chainId, question, block.number).catch(() => ({ granting: null }));
    if (granting !== null) right.set(jsonText(statementName(question)), String(answer(question, granting)));
  }
  const faults = await Promise.all(
    told.map(async ({ source }) => {
      const said = await fetchStatements(network, source.node, block, questions).catch(() => []);
      return said.filter(({ subject, says }) => {
        const truth = right.get(jsonText(statementName(subject)));
        return truth !== undefined && truth !== says;
      }).length;
    }),
  );
  const fewest = Math.min(...faults);
  return told.filter((_, position) => faults[position] === fewest);
}

const statementName = (subject: object) => Object.entries(subject).map(([name, value]) => `${name}=${String(value)}`);

// Settles disputed logs by the registry's own checks at the end of the block.

import { answer, grantingKeys, type Question, questionFor } from '../registry/check.ts';
import { type Delegation, delegationId } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import type { FollowerContext } from './context.ts';
import { decodeLog } from './decode-log.ts';
import type { Candidate, Dispute, LogEntry } from './log-dispute.ts';
import { decodeAnswer, encodeCheck } from './registry-calls.ts';

/** Reads what held before a block from the index. For blocks above the head, what held at the head. */
export const heldBefore =
  ({ network, store, state }: FollowerContext, number: number): Dispute['before'] =>
  async (question) => {
    if (state?.head == null) return [];
    const at = Math.min(number - 1, state.head.number);
    const { granting } = await store.check(network.chainId, question, at).catch(() => ({ granting: null }));
    return granting;
  };

/** The candidates that the fewest registry answers contradict. `inBlock` gives the whole block with a candidate in it. */
export async function leastContradicted(
  network: Network,
  { block, reports, before }: Dispute,
  candidates: readonly Candidate[],
  inBlock: (candidate: Candidate) => Candidate,
): Promise<readonly Candidate[]> {
  const questions = new Map<string, Question>();
  for (const { log } of candidates.flat()) {
    const event = eventIn(network, log);
    if ('delegation' in event) questions.set(delegationId(event.delegation), questionFor(event.delegation));
  }
  const contradictions = candidates.map(() => 0);
  for (const question of questions.values()) {
    const registry = network.registries[question.version];
    const held = await before(question);
    if (registry === undefined) continue;
    const expected = candidates.map((candidate) => answerAfter(network, question, held ?? [], inBlock(candidate)));
    for (const { provider } of reports) {
      const [data = ''] = await provider.node.ethCall(registry, [encodeCheck(question)], block).catch(() => ['']);
      const actual = decodeAnswer(question, data);
      if (actual === null) continue;
      for (const [position, one] of expected.entries()) {
        // If it is unknown what held before, the registry may answer more than the block granted, never less.
        const isWrong = one !== null && (held === null ? actual < one : actual !== one);
        if (isWrong) (contradictions[position] as number)++;
      }
    }
  }
  const fewest = Math.min(...contradictions);
  return candidates.filter((_, position) => contradictions[position] === fewest);
}

const eventIn = (network: Network, log: LogEntry['log']) => ('event' in log ? log.event : decodeLog(network, log));

/** The registry's answer after these logs. Null if a v1 revocation without a delegate makes it unknown. */
function answerAfter(
  network: Network,
  question: Question,
  before: readonly Delegation[],
  entries: Candidate,
): boolean | bigint | null {
  const keys = new Set(grantingKeys(question).map(delegationId));
  const held = new Map(before.map((one) => [delegationId(one), one]));
  for (const { log } of entries) {
    const event = eventIn(network, log);
    if ('delegation' in event) {
      const id = delegationId(event.delegation);
      if (event.type === 'ended') held.delete(id);
      else if (keys.has(id)) held.set(id, event.delegation);
    } else if (question.version === 1 && event.from === question.from) {
      if (event.type === 'unknownRevoked') return null;
      if (event.type === 'vaultRevoked' || event.to === question.to) held.clear();
    }
  }
  return answer(question, [...held.values()]);
}

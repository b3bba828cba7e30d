// Fetches the registry's own answers at a block, and compares them with the index: checks, and whole lists.

import { answer, type Question } from '../registry/check.ts';
import { type Delegation, delegationId } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { BadReturnDataError } from '../registry/return-data.ts';
import { decodeV2List } from '../registry/v2-list.ts';
import { ALL_VERSIONS } from '../registry/versions.ts';
import { StoreError } from '../store/errors.ts';
import type { Statement, Subject, WalletList } from '../store/halt.ts';
import type { Store } from '../store/store.ts';
import { isQuestion } from './audit-subjects.ts';
import type { BlockId, Node } from './node.ts';
import { decodeAnswer, encodeCheck, encodeList } from './registry-calls.ts';
import { RpcError } from './rpc.ts';
import { readVaultState } from './v1-state.ts';

/** Checks per request. */
const BATCH = 50;
/** Longer lists are not compared: a node may not be able to return them. */
const MAX_LIST = 1000;

/** The registries' answers about the subjects. Those that the node cannot answer are left out. */
export async function fetchStatements(
  network: Network,
  node: Node,
  block: BlockId,
  subjects: readonly Subject[],
): Promise<Statement[]> {
  const found: Statement[] = [];
  for (const subject of subjects) {
    if (isQuestion(subject)) continue;
    const says = await fetchList(network, node, block, subject);
    if (says !== null) found.push({ subject, says });
  }
  for (const version of ALL_VERSIONS) {
    const registry = network.registries[version];
    const questions = subjects.filter(isQuestion).filter((question) => question.version === version);
    for (let from = 0; registry !== undefined && from < questions.length; from += BATCH) {
      const batch = questions.slice(from, from + BATCH);
      const answers = await node.ethCall(registry, batch.map(encodeCheck), block).catch(nullIfRefused);
      for (const [position, data] of (answers ?? []).entries()) {
        const subject = batch[position] as Question;
        const value = decodeAnswer(subject, data);
        if (value !== null) found.push({ subject, says: String(value) });
      }
    }
  }
  return found;
}

/** The statements that the index contradicts. An unsettled revocation is not a contradiction. */
export async function findDisagreements(
  { chainId }: Network,
  store: Store,
  block: number,
  statements: readonly Statement[],
): Promise<Statement[]> {
  const wrong: Statement[] = [];
  for (const statement of statements) {
    const { subject, says } = statement;
    const ours = await (isQuestion(subject)
      ? readCheck(store, chainId, subject, block)
      : readList(store, chainId, subject, block)
    ).catch(nullIfUnread);
    if (ours !== null && ours !== says) wrong.push(statement);
  }
  return wrong;
}

async function fetchList(network: Network, node: Node, block: BlockId, list: WalletList): Promise<string | null> {
  const registry = network.registries[list.version];
  if (registry === undefined) return null;
  try {
    if (list.version === 1) {
      const held = await readVaultState(network, node, list.wallet, block);
      return listText(held.map((key) => ({ ...key, amount: null })));
    }
    const [data = ''] = await node.ethCall(registry, [encodeList(list)], block);
    return listText(decodeV2List(data));
  } catch (error) {
    // Anyone can make a list so long that no node can return it.
    if (error instanceof RpcError || error instanceof BadReturnDataError) return null;
    throw error;
  }
}

async function readCheck(store: Store, chainId: number, question: Question, block: number): Promise<string> {
  const { granting } = await store.check(chainId, question, block);
  return String(answer(question, granting));
}

async function readList(store: Store, chainId: number, list: WalletList, block: number): Promise<string | null> {
  const revision = (await store.chain(chainId))?.revision ?? 0;
  const query = { chainId, ...list, at: { block, revision }, limit: MAX_LIST } as const;
  const { delegations, next } = await store.list(query);
  return next === null ? listText(delegations) : null;
}

const listText = (delegations: readonly Delegation[]): string =>
  [...new Set(delegations.map((one) => `${delegationId(one)}=${one.amount}`))].sort().join('\n');

/** The node has pruned the state of that block. */
function nullIfRefused(error: unknown): null {
  if (error instanceof RpcError && error.fault === 'refused') return null;
  throw error;
}

function nullIfUnread(error: unknown): null {
  if (error instanceof StoreError && error.code === 'revocation-unread') return null;
  throw error;
}

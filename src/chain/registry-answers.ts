// What the registry itself answers at a block, and whether the index says the same: checks, and whole lists.

import { answer, type Question, questionFor } from '../registry/check.ts';
import { type Address, type Delegation, delegationId, type Version } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { BadReturnDataError } from '../registry/return-data.ts';
import { decodeV2List } from '../registry/v2-list.ts';
import { StoreError } from '../store/errors.ts';
import type { Statement, Subject, WalletList } from '../store/halt.ts';
import type { LogRecord, Store } from '../store/store.ts';
import type { BlockId, Node } from './node.ts';
import { decodeAnswer, encodeCheck, encodeList } from './registry-calls.ts';
import { readVaultState } from './revoked-pairs.ts';
import { RpcError } from './rpc.ts';

export type { Statement, Subject, WalletList };

/** How many checks are asked in one request. */
const BATCH = 50;
/** Longer lists are left to the checks: a node may not be able to give them either. */
const LONGEST_LIST = 1000;

/** What the registries of a node say about these at a block. What the node cannot tell is left out. */
export async function fetchStatements(
  network: Network,
  node: Node,
  block: BlockId,
  subjects: readonly Subject[],
): Promise<Statement[]> {
  const found: Statement[] = [];
  for (const subject of subjects) {
    if (isQuestion(subject)) continue;
    const says = await listSaid(network, node, block, subject);
    if (says !== null) found.push({ subject, says });
  }
  for (const version of [1, 2] as const) {
    const registry = network.registries[version];
    const questions = subjects.filter(isQuestion).filter((question) => question.version === version);
    for (let from = 0; registry !== undefined && from < questions.length; from += BATCH) {
      const some = questions.slice(from, from + BATCH);
      const answers = await node.ethCall(registry, some.map(encodeCheck), block).catch(ifStateIsGone);
      for (const [position, data] of (answers ?? []).entries()) {
        const subject = some[position] as Question;
        const said = decodeAnswer(subject, data);
        if (said !== null) found.push({ subject, says: String(said) });
      }
    }
  }
  return found;
}

/** Those statements with which the index disagrees. Where it says that it does not know, it does not. */
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
      ? checkHere(store, chainId, subject, block)
      : listHere(store, chainId, subject, block)
    ).catch(ifUnread);
    if (ours !== null && ours !== says) wrong.push(statement);
  }
  return wrong;
}

/** The wallets whose v1 state these are about. */
export const v1VaultsOf = (subjects: readonly Subject[]): ReadonlySet<Address> =>
  new Set(
    subjects
      .filter(({ version }) => version === 1)
      .map((subject) => (isQuestion(subject) ? subject.from : subject.wallet)),
  );

export const isQuestion = (subject: Subject): subject is Question => 'scope' in subject;

/** A subject in a few words, for the log. */
export const describeSubject = (subject: Subject): string =>
  isQuestion(subject)
    ? `v${subject.version} ${subject.scope} ${subject.from} to ${subject.to}`
    : `v${subject.version} ${subject.direction} list of ${subject.wallet}`;

async function listSaid(network: Network, node: Node, block: BlockId, list: WalletList): Promise<string | null> {
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
    // Anyone can make a list so long that no node can give it.
    if (error instanceof RpcError || error instanceof BadReturnDataError) return null;
    throw error;
  }
}

async function checkHere(store: Store, chainId: number, question: Question, block: number): Promise<string> {
  const { granting } = await store.check(chainId, question, block);
  return String(answer(question, granting));
}

async function listHere(store: Store, chainId: number, list: WalletList, block: number): Promise<string | null> {
  const revision = (await store.chain(chainId))?.revision ?? 0;
  const query = { chainId, ...list, at: { block, revision }, limit: LONGEST_LIST } as const;
  const { delegations, next } = await store.list(query);
  return next === null ? listText(delegations) : null;
}

const listText = (delegations: readonly Delegation[]): string =>
  [...new Set(delegations.map((one) => `${delegationId(one)}=${one.amount}`))].sort().join('\n');

/** A node that has thrown the state of that block away cannot be asked. */
function ifStateIsGone(error: unknown): null {
  if (error instanceof RpcError && error.fault === 'refused') return null;
  throw error;
}

function ifUnread(error: unknown): null {
  if (error instanceof StoreError && error.code === 'revocation-unread') return null;
  throw error;
}

/** Questions about what some logs were about, and about a wallet that has nothing to do with it. */
export function questionsAbout(logs: readonly LogRecord[]): Question[] {
  return logs.flatMap(({ event }) => {
    if (!('delegation' in event)) return [];
    const { delegation } = event;
    const stranger: Address = `0x${delegation.from.slice(2).split('').reverse().join('')}`;
    return [questionFor(delegation), questionFor({ ...delegation, to: stranger })];
  });
}

/** The lists that two wallets are in. */
export function listsAbout({ version, from, to }: { version: Version; from: Address; to: Address }): WalletList[] {
  const outgoing = { version, wallet: from, direction: 'outgoing' } as WalletList;
  return version === 1 ? [outgoing] : [outgoing, { version, wallet: to, direction: 'incoming' }];
}

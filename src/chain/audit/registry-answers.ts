// What an audit asks the registry: checks and whole lists at a block, and where its answers differ from the index.

import { ADDRESSES } from '../../registry/addresses.ts';
import { answer, asksBalance, type Question, questionFor } from '../../registry/check.ts';
import { type Address, type Delegation, delegationId } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { word } from '../../registry/registry-call.ts';
import { BadReturnDataError, decodeV2List, decodeVaultState, rowsOf } from '../../registry/return-data.ts';
import { selectorOf } from '../../registry/scopes.ts';
import { listLengthSlot } from '../../registry/storage.ts';
import { ALL_VERSIONS, VERSIONS, type Version } from '../../registry/versions.ts';
import { StoreError } from '../../store/errors.ts';
import type { ListLength, Statement } from '../../store/halt.ts';
import type { LogRecord, Store } from '../../store/store.ts';
import { proveAnswer } from '../prove/prove-answer.ts';
import { readProven } from '../prove/state.ts';
import type { BlockId, Node } from '../rpc/node.ts';
import { nullIfRefused, RpcError } from '../rpc/rpc.ts';

/** A wallet's list, of those that the contract of its version returns. */
export interface WalletList {
  readonly version: Version;
  readonly wallet: Address;
  readonly direction: 'outgoing' | 'incoming';
}

/** For the log and the terminal. */
export const describeQuestion = (question: Statement['question']): string =>
  'list' in question
    ? `v${question.version} length of the ${question.list} list of ${question.wallet}`
    : `v${question.version} ${question.scope} ${question.from} to ${question.to}`;

/** For each log, a question about its delegation, and the same question about an unrelated delegate. */
export function questionsAbout(logs: readonly LogRecord[]): Question[] {
  return logs.flatMap(({ event }) => {
    if (!('delegation' in event)) return [];
    const { delegation } = event;
    const stranger: Address = `0x${delegation.from.slice(2).split('').reverse().join('')}`;
    return [questionFor(delegation), questionFor({ ...delegation, to: stranger })];
  });
}

/** The registry's lists that a delegation between two wallets is in. */
export function listsAbout({ version, from, to }: { version: Version; from: Address; to: Address }): WalletList[] {
  const wallets = { outgoing: from, incoming: to };
  return VERSIONS[version].lists.map((direction) => ({ version, wallet: wallets[direction], direction }));
}

/** Checks per request. */
const BATCH = 50;
/** Longer lists are not compared: a node may not be able to return them. */
const MAX_LIST = 1000;
/** Rows of one list that are asked about. */
const MAX_ROWS = 20;

/** The registries' answers, proven where the node serves proofs. Those that it cannot give are left out. */
export async function fetchStatements(
  network: Network,
  node: Node,
  block: BlockId,
  asked: readonly Statement['question'][],
) {
  const found: Statement[] = [];
  let left = asked.filter(({ version }) => network.registries[version] !== undefined);
  for (const question of network.provable === false ? [] : left) {
    const says = await proveOne(node, block, question).catch(() => null);
    // A node that does not serve proofs is not asked for each.
    if (says === null) break;
    found.push({ question, says, isProven: true });
  }
  left = left.slice(found.length);
  for (const version of ALL_VERSIONS) {
    const registry = network.registries[version];
    const questions = left.filter((question) => question.version === version && !('list' in question)) as Question[];
    for (let from = 0; registry !== undefined && from < questions.length; from += BATCH) {
      const batch = questions.slice(from, from + BATCH);
      // It may have pruned the state of that block.
      const answers = await node.ethCall(registry, batch.map(encodeCheck), block).catch(nullIfRefused);
      for (const [position, data] of (answers ?? []).entries()) {
        const question = batch[position] as Question;
        const value = decodeAnswer(question, data);
        if (value !== null) found.push({ question, says: String(value), isProven: false });
      }
    }
  }
  const lengths = left.filter((question) => 'list' in question);
  const counts = lengths.length === 0 ? null : await readLengths(network, node, block, lengths).catch(nullIfRefused);
  for (const [position, count] of (counts ?? []).entries())
    found.push({ question: lengths[position] as ListLength, says: String(count), isProven: false });
  return found;
}

/** What the state of the block says. Throws if the node does not prove it. */
async function proveOne(node: Node, block: BlockId, question: Statement['question']): Promise<string> {
  if (!('list' in question)) return String((await proveAnswer(node, block, question)).result);
  const slots = [listLengthSlot(question.wallet, question.list)];
  return String((await readProven(node, ADDRESSES[question.version], slots, block))[0]);
}

/** The registry's function that returns many words of its storage. */
const READ_SLOTS = '61451a30';

/** How many delegations the lists of wallets have at a block, as the registry says. */
export async function readLengths(network: Network, node: Node, block: BlockId, lengths: readonly ListLength[]) {
  const slots = lengths.map(({ wallet, list }) => listLengthSlot(wallet, list).slice(2));
  const data = `0x${READ_SLOTS}${word('32')}${word(String(slots.length))}${slots.join('')}`;
  const [returned = ''] = await node.ethCall(network.registries[2] as Address, [data], block);
  return rowsOf('slots', returned, ['length']).map(({ length }) => BigInt(`0x${length}`));
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
    const { question, says } = statement;
    if ('list' in question) {
      const count = await store.grantCount(chainId, question, block);
      if (count !== null && String(count) !== says) wrong.push(statement);
      continue;
    }
    const ours = await store.check(chainId, question, block).catch(nullIfUnread);
    if (ours !== null && String(answer(question, ours.granting)) !== says) wrong.push(statement);
  }
  return wrong;
}

/** Questions about the rows that only one of the registry's list and ours has. */
export async function questionsOfList(network: Network, store: Store, node: Node, block: BlockId, list: WalletList) {
  const { chainId } = network;
  const theirs = await fetchList(network, node, block, list);
  const revision = (await store.chain(chainId))?.revision ?? 0;
  const query = { chainId, ...list, at: { block: block.number, revision }, limit: MAX_LIST } as const;
  const ours = await store.list(query).catch(nullIfUnread);
  if (theirs === null || ours === null || ours.next !== null) return [];
  const nameOf = (one: Delegation) => `${delegationId(one)}=${one.amount}`;
  const [names, ownNames] = [new Set(theirs.map(nameOf)), new Set(ours.delegations.map(nameOf))];
  return [
    ...theirs.filter((one) => !ownNames.has(nameOf(one))),
    ...ours.delegations.filter((one) => !names.has(nameOf(one))),
  ]
    .slice(0, MAX_ROWS)
    .map(questionFor);
}

const READ_LIST: {
  readonly [V in Version]: (...args: [Network, Node, BlockId, WalletList, Address]) => Promise<Delegation[]>;
} = {
  async 1(network, node, block, { wallet }) {
    const held = await readVaultState(network, node, wallet, block);
    return held.map((key) => ({ ...key, amount: null }));
  },
  async 2(_, node, block, list, registry) {
    const [data = ''] = await node.ethCall(registry, [encodeList(list)], block);
    return decodeV2List(list.version, data);
  },
};

/** Null if the node cannot return it: anyone can make a list too long. */
async function fetchList(network: Network, node: Node, block: BlockId, list: WalletList) {
  const registry = network.registries[list.version];
  if (registry === undefined) return null;
  try {
    return await READ_LIST[list.version](network, node, block, list, registry);
  } catch (error) {
    if (error instanceof RpcError || error instanceof BadReturnDataError) return null;
    throw error;
  }
}

function nullIfUnread(error: unknown): null {
  if (error instanceof StoreError && error.code === 'revocation-unread') return null;
  throw error;
}

/** The call data of a check. */
export function encodeCheck(question: Question): string {
  const words = [word(question.to), word(question.from)];
  if ('contract' in question) words.push(word(question.contract));
  if ('tokenId' in question) words.push(word(String(question.tokenId)));
  if ('rights' in question) words.push(word(question.rights));
  return `0x${selectorOf(question.version, question.scope)}${words.join('')}`;
}

const LIST_SELECTORS = { incoming: '42f87c25', outgoing: '51525e9a' } as const;

/** The call data of a v2 list. */
export const encodeList = (list: { wallet: Address; direction: 'incoming' | 'outgoing' }): string =>
  `0x${LIST_SELECTORS[list.direction]}${word(list.wallet)}`;

/** Null if the return data is malformed. */
export function decodeAnswer(question: Question, data: string): boolean | bigint | null {
  if (!/^0x[0-9a-f]{64}$/.test(data)) return null;
  const value = BigInt(data);
  if (asksBalance(question)) return value;
  return value > 1n ? null : value === 1n;
}

/** getDelegatesForAll, getContractLevelDelegations, getTokenLevelDelegations. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

/** All delegations of a wallet at the end of a block. Fails if the lists are too long for the node: anyone can make them so. */
export async function readVaultState(network: Network, node: Node, vault: Address, block: BlockId) {
  const calls = GETTERS.map((selector) => selector + word(vault));
  const [all = '', contracts = '', tokens = ''] = await node.ethCall(network.registries[1] as Address, calls, block);
  return decodeVaultState(vault, {
    getDelegatesForAll: all,
    getContractLevelDelegations: contracts,
    getTokenLevelDelegations: tokens,
  });
}

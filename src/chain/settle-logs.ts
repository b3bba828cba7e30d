// Which logs a block truly has, where providers or the index disagree: settled by evidence. A provider that lacks something
// is more likely than one that invents it; what its own receipt lacks, no log can be.

import { answer, grantingKeys, type Question, questionFor } from '../registry/check.ts';
import { type Bytes32, type Delegation, delegationId } from '../registry/delegation.ts';
import { type Network, registryAt } from '../registry/network.ts';
import type { LogRecord } from '../store/store.ts';
import { eventKey } from './compare-logs.ts';
import type { FollowerContext } from './context.ts';
import type { BlockId, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { decodeAnswer, encodeCheck } from './registry-calls.ts';
import { decodeLog } from './resolve-blocks.ts';

/** A log as one of its witnesses has it. */
export interface LogEntry {
  readonly text: string;
  readonly transaction: Bytes32;
  /** Null where only the index has it. */
  readonly transactionIndex: number | null;
  readonly log: NodeLog | LogRecord;
}

export interface Dispute {
  readonly block: BlockId;
  /** What each provider has of the block. */
  readonly told: readonly { readonly source: Provider; readonly logs: readonly NodeLog[] }[];
  readonly stored: readonly LogRecord[];
  /** What held before the block, of that which grants what is asked; null where the index does not know. */
  readonly before: (question: Question) => Promise<readonly Delegation[] | null>;
}

/** By the index. Of blocks that are not written yet it knows what held at its head. */
export const heldBefore =
  ({ network, store, state }: FollowerContext, number: number): Dispute['before'] =>
  async (question) => {
    if (state?.head == null) return [];
    const at = Math.min(number - 1, state.head.number);
    const { granting } = await store.check(network.chainId, question, at).catch(() => ({ granting: null }));
    return granting;
  };

/** The logs of the block, in order. */
export async function settleLogs(network: Network, dispute: Dispute): Promise<LogEntry[]> {
  const { told, stored } = dispute;
  const witnesses = told.map(({ logs }) => logs.map((log) => entryOf(network, log)));
  const ours = stored.map(
    (log): LogEntry => ({ text: eventKey(log.event), transaction: log.transactionHash, transactionIndex: null, log }),
  );
  const transactions = [...new Set([...witnesses.flat(), ...ours].map(({ transaction }) => transaction))];
  const receipts = await receiptsOf(network, dispute, transactions);
  const isInBlock = await blockTransactions(
    dispute,
    transactions.some((one) => !receipts.has(one)),
  );
  const open = transactions.map((transaction) => {
    const of = (entries: readonly LogEntry[]) => entries.filter((one) => one.transaction === transaction);
    const confirmed = receipts.get(transaction) ?? [];
    const isConfirmed = confirmed.length > 0;
    const known = [...confirmed.flat(), ...of(witnesses.flat())].find((one) => one.transactionIndex !== null);
    // The index has a voice only where no receipt tells, and only about what it has: it lacks what its source lacked.
    const index = of(ours);
    const voices = [...witnesses.map(of), ...(index.length > 0 ? [index] : [])];
    const options = isConfirmed ? confirmed : isInBlock(transaction) ? voices : [NOTHING];
    return { isConfirmed, options, place: known?.transactionIndex ?? Number.MAX_SAFE_INTEGER };
  });
  open.sort((a, b) => a.place - b.place);
  const settled = open.map(({ options }) => longestOf(options));
  for (const [position, { options, isConfirmed }] of open.entries()) {
    const inBlock = (option: readonly LogEntry[]) => settled.with(position, option).flat();
    const left = await byRegistry(network, dispute, isConfirmed ? options : [...options, NOTHING], inBlock);
    settled[position] = longestOf(mostTold(left));
  }
  return settled.flat();
}

const entryOf = (network: Network, log: NodeLog): LogEntry => ({
  text: eventKey(decodeLog(network, log)),
  transaction: log.transactionHash,
  transactionIndex: log.transactionIndex,
  log,
});

/** False for a transaction that no provider has in its block. Asked only where receipts do not tell; some nodes leave it out. */
async function blockTransactions({ block, told }: Dispute, isNeeded: boolean): Promise<(one: Bytes32) => boolean> {
  if (!isNeeded) return () => true;
  const lists = await Promise.all(
    told.map(({ source }) => source.node.blockTransactionHashes(block).catch(() => null)),
  );
  const known = lists.filter((list) => list !== null);
  return (one) => known.length === 0 || NO_HASH.test(one) || known.some((list) => list.has(one));
}

const NO_HASH = /^0x0+$/;

/** What the receipts of all providers have of each transaction. Null is "unknown": nodes drop their index of old ones. */
async function receiptsOf(
  network: Network,
  { block, told }: Dispute,
  transactions: readonly Bytes32[],
): Promise<Map<Bytes32, LogEntry[][]>> {
  const found = new Map<Bytes32, LogEntry[][]>();
  await Promise.all(
    told.map(async ({ source }) => {
      const receipts = await source.node.receipts(transactions).catch(() => []);
      for (const [position, logs] of receipts.entries()) {
        const transaction = transactions[position] as Bytes32;
        // On another branch it says nothing about this one.
        if (logs === null || logs.some(({ blockHash }) => blockHash !== block.hash)) continue;
        const own = logs.filter(({ address }) => registryAt(network, address) !== null);
        const entries = entriesOr(
          network,
          own.map((log) => ({ ...log, transactionHash: transaction })),
        );
        if (entries !== null) found.set(transaction, [...(found.get(transaction) ?? []), entries]);
      }
    }),
  );
  return found;
}

/** Null where one is no log of a registry after all. */
function entriesOr(network: Network, logs: readonly NodeLog[]): LogEntry[] | null {
  try {
    const inOrder = [...logs].sort((a, b) => a.logIndex - b.logIndex);
    return inOrder.map((log) => entryOf(network, log));
  } catch {
    return null;
  }
}

/** Nobody's word, but what a registry may say that it was. */
const NOTHING: readonly LogEntry[] = [];

const longestOf = (options: readonly (readonly LogEntry[])[]): readonly LogEntry[] =>
  options.reduce((longest, one) => (one.length > longest.length ? one : longest), []);

/** Of the same told several times, the first: a provider's log says more than the index's record of it. */
function mostTold(options: readonly (readonly LogEntry[])[]): readonly (readonly LogEntry[])[] {
  const voices = new Map<string, { entries: readonly LogEntry[]; count: number }>();
  for (const entries of options) {
    const text = keysOf(entries);
    const known = voices.get(text);
    const voice = entries === NOTHING ? 0 : 1;
    if (known === undefined) voices.set(text, { entries, count: voice });
    else known.count += voice;
  }
  const most = Math.max(...[...voices.values()].map(({ count }) => count));
  return [...voices.values()].filter(({ count }) => count === most).map(({ entries }) => entries);
}

const keysOf = (entries: readonly LogEntry[]) => entries.map((one) => one.text).join('\n');

/** Those of the options that the registry's own answers at the end of the block contradict least. */
async function byRegistry(
  network: Network,
  { block, told, before }: Dispute,
  options: readonly (readonly LogEntry[])[],
  inBlock: (option: readonly LogEntry[]) => readonly LogEntry[],
): Promise<readonly (readonly LogEntry[])[]> {
  if (new Set(options.map(keysOf)).size <= 1) return options;
  const questions = new Map<string, Question>();
  for (const { log } of options.flat()) {
    const event = eventIn(network, log);
    if ('delegation' in event) questions.set(delegationId(event.delegation), questionFor(event.delegation));
  }
  const faults = options.map(() => 0);
  for (const question of questions.values()) {
    const registry = network.registries[question.version];
    const held = await before(question);
    if (registry === undefined) continue;
    const expected = options.map((option) => answerAfter(network, question, held ?? [], inBlock(option)));
    for (const { source } of told) {
      const [data = ''] = await source.node.ethCall(registry, [encodeCheck(question)], block).catch(() => ['']);
      const said = decodeAnswer(question, data);
      if (said === null) continue;
      for (const [position, one] of expected.entries()) {
        // What held before may only add to what was granted since.
        const isWrong = one !== null && (held === null ? said < one : said !== one);
        if (isWrong) (faults[position] as number)++;
      }
    }
  }
  const fewest = Math.min(...faults);
  return options.filter((_, position) => faults[position] === fewest);
}

const eventIn = (network: Network, log: LogEntry['log']) => ('event' in log ? log.event : decodeLog(network, log));

/** What the registry must answer after these logs; null where they do not tell. */
function answerAfter(
  network: Network,
  question: Question,
  before: readonly Delegation[],
  entries: readonly LogEntry[],
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

// Decides which logs a block has when providers, or the index, disagree about it: by the block's own hash where the chain can be
// proven, otherwise by receipts of transactions that every provider lists in the block.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { registryAt } from '../../registry/network.ts';
import { type Dispute, MAX_DISPUTES } from '../../store/halt.ts';
import { fetchProven, proveLogs } from '../prove/block.ts';
import { stateSyncHash } from '../prove/receipts.ts';
import { Inconsistent, Untrusted } from '../rpc/errors.ts';
import { type BlockId, type Header, type NodeLog, parseHashes, parseLogs } from '../rpc/node.ts';
import type { Provider, Providers } from '../rpc/provider-pool.ts';
import { groupLogs } from '../rpc/registry-logs.ts';
import { RpcError } from '../rpc/rpc.ts';
import { type AnyLog, eventKey, eventKeys, eventOf, isEqual, missingFrom } from './compare-logs.ts';
import type { Context } from './context.ts';
import { logsOfBlock, type Reports } from './provider-logs.ts';

interface DecidedLogs {
  readonly header: Header;
  /** In the order of the block. */
  readonly logs: readonly NodeLog[];
  readonly isProven: boolean;
}

/**
 * `transactions`: those that the index has logs of. Throws `Inconsistent` if it cannot be decided now. Only a proof blames a
 * provider.
 */
export async function decideLogs(
  context: Context,
  reports: Reports,
  block: BlockId,
  transactions: readonly Bytes32[] = [],
): Promise<DecidedLogs> {
  if (!context.proof.isProven) return decideByReceipts(context, reports, block, transactions);
  const providers = reports.map(({ provider }) => provider);
  const { isDisputed, ...decided } = await proveReports(context, providers, reports, block);
  if (isDisputed) throw new Inconsistent(`the providers disagree about the messages in block ${block.number}`);
  return decided;
}

/** Decides by proof, and refutes the reports. `isDisputed`: about the messages in the block, which are left out. */
export async function proveReports(
  context: Context,
  providers: Providers,
  reports: Reports,
  block: BlockId,
  newBlock?: Header,
): Promise<DecidedLogs & { readonly isDisputed: boolean }> {
  const { header, logs } = await proveByAny(context, providers, block, newBlock);
  const messages = findMessages(context, reports, block);
  const isProven = messages?.length === 0;
  if (isProven) await refute(context, reports, block, logs, newBlock === undefined ? 'proven' : 'proven, new block');
  return { header, logs: [...logs, ...(messages ?? [])], isProven, isDisputed: messages === null };
}

/** The logs of messages, which are not under the root of a block, after all others. Null if the providers disagree about them. */
function findMessages({ network }: Context, reports: Reports, block: BlockId): readonly NodeLog[] | null {
  const hash = stateSyncHash(network, block);
  const lists = reports.map((report) =>
    logsOfBlock(report, block).filter(({ transactionHash }) => transactionHash === hash),
  );
  if (lists.every((list) => list.length === 0)) return [];
  const texts = new Set(lists.map((list) => eventKeys(network, list).join('\n')));
  return texts.size === 1 ? (lists[0] ?? null) : null;
}

/** How sure it is that a provider is wrong. Losing a comparison is not lying, and the logs of a new block can come a little later. */
type Certainty = 'proven' | 'proven, new block' | 'compared';

/** Blames the providers that have a block and returned other logs than it is known to have. True if one has another block there. */
export async function refute(
  { network, blame }: Context,
  reports: Reports,
  block: BlockId,
  logs: readonly AnyLog[],
  certainty: Certainty = 'proven',
): Promise<boolean> {
  let isOther = false;
  for (const report of reports) {
    const reported = logsOfBlock(report, block);
    if (isEqual(network, reported, logs)) continue;
    const { node } = report.provider;
    // Some nodes return no logs of a block that they do not have yet.
    const header = reported.length === 0 ? await node.header(block.number).catch(() => null) : block;
    isOther ||= header !== null && header.hash !== block.hash;
    if (header?.hash !== block.hash) continue;
    const isLate =
      certainty === 'proven, new block' &&
      missingFrom(eventKeys(network, logs), eventKeys(network, reported)).length === 0;
    const what = certainty === 'compared' ? 'other' : isLate ? 'too few' : 'wrong';
    const message = `the provider returned ${what} logs of block ${block.number}`;
    blame(report.provider, what === 'wrong' ? new Untrusted(message, block.number) : new Inconsistent(message));
  }
  return isOther;
}

/** The logs of a block, by the first provider whose receipts prove them. */
export async function proveByAny(context: Context, providers: Providers, block: BlockId, known?: Header) {
  let failure: unknown = new Inconsistent(`no provider has block ${block.number} (${block.hash})`);
  let refuted = 0;
  const isLate = (provider: Provider) => Number(context.isBlamed(provider));
  for (const provider of providers.toSorted((a, b) => isLate(a) - isLate(b))) {
    try {
      const header = known ?? (await fetchProven(provider.node, block.hash));
      if (header === null) throw failure;
      return { header, logs: await proveLogs(context.network, provider.node, header) };
    } catch (error) {
      failure = error;
      if (error instanceof Untrusted) refuted++;
      const isUnreachable = error instanceof RpcError && error.fault === 'unreachable';
      if (error instanceof Untrusted || isUnreachable) context.blame(provider, error);
    }
  }
  if (refuted === context.providerCount) context.proof.failed();
  throw failure;
}

/** A transaction that one provider lists in the block and another does not, or with different receipts, decides nothing. */
async function decideByReceipts(context: Context, reports: Reports, block: BlockId, stored: readonly Bytes32[]) {
  const { network } = context;
  const undecided = () => new Inconsistent(`the providers disagree about the logs of block ${block.number}`);
  const reported = reports.flatMap((report) => logsOfBlock(report, block));
  const hashes = [...new Set([...reported.map(({ transactionHash }) => transactionHash), ...stored])];
  const answers = await Promise.all(
    reports.map(async ({ provider: { node } }) => {
      const header = await node.headerOf(block.hash).catch(() => null);
      const receipts = await node.receipts(hashes).catch(() => hashes.map(() => null));
      return { header, body: header === null ? null : new Set(parseHashes(header)), receipts };
    }),
  );
  const header = answers.find((answer) => answer.header !== null)?.header;
  if (header == null) throw undecided();
  const found: NodeLog[] = [];
  for (const [position, hash] of hashes.entries()) {
    const listed = new Set(answers.flatMap(({ body }) => (body === null ? [] : [body.has(hash)])));
    if (listed.size !== 1) throw undecided();
    if (listed.has(false)) continue;
    const texts = new Map<string, NodeLog[]>();
    for (const { receipts } of answers) {
      const receipt = receipts[position];
      if (receipt == null || receipt['blockHash'] !== block.hash || !Array.isArray(receipt['logs'])) continue;
      const logs = parseLogs(receipt['logs']).filter(({ address }) => registryAt(network, address) !== null);
      texts.set(eventKeys(network, logs).join('\n'), logs);
    }
    const [logs, ...others] = texts.values();
    if (logs === undefined || others.length > 0) throw undecided();
    const transactionIndex = parseHashes(header).indexOf(hash);
    for (const log of logs) found.push({ ...log, transactionHash: hash, transactionIndex });
  }
  const logs = groupLogs(found)[0]?.logs ?? [];
  await refute(context, reports, block, logs, 'compared');
  return { header, logs, isProven: false };
}

/** About the wallets of logs that only some of the lists have. */
export async function findDisputes(
  { network, store, now }: Context,
  block: number,
  lists: readonly (readonly AnyLog[])[],
): Promise<Dispute[]> {
  const { chainId } = network;
  const since = Math.floor(now() / 1000);
  const keys = lists.map((list) => new Set(eventKeys(network, list)));
  const disputes = new Map<string, Dispute>();
  const add = (vault: Address, delegate: Address | null) =>
    disputes.set(`${vault} ${delegate}`, { vault, delegate, since, block, statement: null });
  for (const log of lists.flat()) {
    const event = eventOf(network, log);
    if (keys.every((one) => one.has(eventKey(event)))) continue;
    const { from: vault, to = null } = 'delegation' in event ? event.delegation : { to: null, ...event };
    add(vault, to);
    if (to !== null) continue;
    // The log may have ended what the wallet had granted to anybody.
    const delegates = await store.v1Delegates(chainId, vault, { block, logIndex: 0 }, block - 1, MAX_DISPUTES);
    for (const delegate of delegates) add(vault, delegate);
  }
  return [...disputes.values()];
}

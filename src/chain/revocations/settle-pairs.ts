// Settles v1 revocations of one wallet by the registry's state at one block.

import { type Address, type DelegationKey, delegationId } from '../../registry/delegation.ts';
import { delegateVersionSlot, membershipSlot, vaultVersionSlot } from '../../registry/storage.ts';
import type { LogPosition, Revocation, Settlement } from '../../store/store.ts';
import { readStoredLogs } from '../compare/compare-logs.ts';
import { fetchProven } from '../prove/block.ts';
import type { BlockId } from '../rpc/node.ts';
import { deduce, type Finding, isBefore } from './deduce.ts';
import type { Round } from './round.ts';
import { ifKnown, Unknown } from './words.ts';

interface Pair {
  readonly vault: Address;
  readonly delegate: Address;
}

/** A delegation of a pair, and the newest log that granted it. */
interface PairKey {
  readonly key: DelegationKey;
  readonly granted: LogPosition;
}

/** Revocations of one wallet, oldest first, and delegates that they may have ended. */
export interface Group {
  readonly vault: Address;
  readonly revocations: readonly Revocation[];
  readonly delegates: readonly Address[];
  /** There are no others. */
  readonly isAll: boolean;
}

export const CONTRADICTION = "the registry's state contradicts the logs";

export const positionsOf = ({ block, logIndexes }: Revocation): LogPosition[] =>
  logIndexes.map((logIndex) => ({ block: block.number, logIndex }));

/** Throws `Unknown` if the state is not known, or contradicts the logs. */
export async function settlePairs(round: Round, { vault, revocations, delegates, isAll }: Group, block: BlockId) {
  const { network, store } = round.context;
  const positions = revocations.flatMap(positionsOf);
  const slots = [vaultVersionSlot(vault), ...delegates.map((delegate) => delegateVersionSlot(vault, delegate))];
  const [vaultVersion = 0n, ...versions] = delegates.length === 0 ? [] : await round.read(block, slots);
  const first = positions[0] as LogPosition;
  const regrants = await store.regrants(network.chainId, vault, first, block.number);
  const [again, newest] = [Map.groupBy(regrants, ({ key }) => key.to), newestOf(regrants)];
  const pairs = await Array.fromAsync(delegates, async (delegate) => ({
    delegate,
    keys: await choosePairKeys(round, { vault, delegate }, positions, newest, block.number),
  }));
  const members = pairs.flatMap(({ keys }, position) =>
    keys.map(({ key }) => membershipSlot(key, vaultVersion, versions[position] as bigint)),
  );
  const words = (await round.read(block, members)).values();
  const findings = new Map<Address, readonly Finding[]>();
  const isOwn = revocations.length === 1 && revocations[0]?.block.hash === block.hash;
  for (const { delegate, keys } of pairs) {
    const states = keys.map(({ granted }) => ({ granted, isHeld: words.next().value !== 0n }));
    const grants = again.get(delegate)?.map(({ granted }) => granted) ?? [];
    // Nothing that the pair has shows whether it was revoked and granted again within the block.
    const isOpen = isOwn && grants.length > 0 && states.every(({ isHeld }) => isHeld);
    const isRevoked = isOpen && (await countRevoked(round, { vault, delegate }, block)) > 0;
    const found = deduce(positions, states, block.number, { isRevoked, grants });
    if (found === null) throw new Unknown(CONTRADICTION);
    findings.set(delegate, found);
  }
  const settlements = revocations.map((revocation) => settlementOf(revocation, findings, isAll, block.number));
  const [only, ...others] = settlements as [Settlement, ...Settlement[]];
  const ended = new Set(
    settlements.flatMap(({ pairs }) => pairs.flatMap(({ delegate, endedBy }) => (endedBy === null ? [] : [delegate]))),
  );
  if (ended.size > positions.length) throw new Unknown(CONTRADICTION);
  // Each log revoked one delegate. Once as many are found, and no earlier block can have ended them, the others were not revoked.
  const isExplained = others.length === 0 && ended.size === positions.length;
  return isExplained ? [{ ...only, complete: only.complete || only.readAt === only.block.number }] : settlements;
}

/** How often a pair was revoked in a block by logs that do not name the delegate. 0 if it is unknown. */
async function countRevoked(round: Round, { vault, delegate }: Pair, block: BlockId): Promise<number> {
  const { network, store, proof } = round.context;
  const { node } = round.providers[0];
  const reading = proof.isProven ? fetchProven(node, block.hash) : node.headerOf(block.hash);
  const header = await reading.catch(() => null);
  if (header === null) return 0;
  const parent = { number: block.number - 1, hash: header.parentHash };
  const slots = [delegateVersionSlot(vault, delegate)];
  const [after] = (await ifKnown(round.read(block, slots))) ?? [];
  const [before] = (await ifKnown(round.read(parent, slots))) ?? [];
  if (after === undefined || before === undefined) return 0;
  const logs = await readStoredLogs(store, network.chainId, block.number);
  const named = logs.filter(
    ({ event, revoked }) =>
      (event.type === 'delegateRevoked' && event.from === vault && event.to === delegate) ||
      (event.type === 'unknownRevoked' && event.from === vault && revoked === delegate),
  );
  return Number(after - before) - named.length;
}

/** The newest grant of each delegation. */
const newestOf = (regrants: readonly PairKey[]) => new Map(regrants.map((one) => [delegationId(one.key), one]));

/**
 * The delegations of a pair whose state shows which of some revocations ended it: one from before the first revocation, and one from
 * between each two, that the logs leave open at a block. `newest`: what the wallet granted after the first of them.
 */
async function choosePairKeys(
  { context: { network, store } }: Round,
  { vault, delegate }: Pair,
  revocations: readonly LogPosition[],
  newest: ReturnType<typeof newestOf>,
  at: number,
): Promise<readonly PairKey[]> {
  const { chainId } = network;
  const [first] = revocations as [LogPosition];
  const again = [...newest.values()].filter(({ key }) => key.to === delegate);
  // Each of these was granted again or is older than the first revocation, so one more than the former has one of the latter.
  const held = await store.held(chainId, { from: vault, to: delegate }, at, again.length + 1);
  const isOld = (key: DelegationKey, since: LogPosition) => isBefore(since, first) && !newest.has(delegationId(key));
  const chosen: PairKey[] = held
    .filter(({ since, ...key }) => isOld(key, since))
    .slice(0, 1)
    .map(({ since, ...key }) => ({ key, granted: since }));
  for (const [position, start] of revocations.entries()) {
    const end = revocations[position + 1];
    const between = again.filter(
      ({ granted }) => isBefore(start, granted) && end !== undefined && isBefore(granted, end),
    );
    for (const one of between) {
      if (!(await store.isOpen(chainId, one.key, at))) continue;
      chosen.push(one);
      break;
    }
  }
  return chosen;
}

/** What was found about the revocations of one block. */
function settlementOf(
  { vault, block }: Revocation,
  findings: ReadonlyMap<Address, readonly Finding[]>,
  complete: boolean,
  readAt: number,
): Settlement {
  const pairs = [...findings].map(([delegate, found]) => {
    const own = found.filter(({ at }) => at.block === block.number);
    return {
      delegate,
      endedBy: own.find(({ hasEnded }) => hasEnded)?.at.logIndex ?? null,
      knownFrom: Math.max(...own.map(({ knownFrom }) => knownFrom)),
    };
  });
  return { vault, block: { number: block.number, hash: block.hash }, readAt, pairs, complete };
}

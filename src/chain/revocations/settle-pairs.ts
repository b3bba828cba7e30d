// Settles v1 revocations of one wallet by the registry's state at one block.

import type { Address } from '../../registry/delegation.ts';
import type { LogPosition, Revocation, Settlement } from '../../store/store.ts';
import { readStoredLogs } from '../compare/compare-logs.ts';
import type { FollowerContext } from '../compare/context.ts';
import { fetchProven } from '../prove/block.ts';
import { delegateVersionSlot, membershipSlot, vaultVersionSlot } from '../prove/v1-storage.ts';
import type { BlockId } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { deduce, type Finding } from './deduce.ts';
import { choosePairKeys, type PairKey, readRegrants } from './pair-keys.ts';
import type { Round } from './round.ts';
import type { Agreement } from './words.ts';

/** Revocations of one wallet, oldest first, and delegates that they may have ended. */
export interface Group {
  readonly vault: Address;
  readonly revocations: readonly Revocation[];
  readonly delegates: readonly Address[];
  /** There are no others. */
  readonly isAll: boolean;
}

/** No value if the state is not known, or contradicts the logs. */
export async function settlePairs(
  context: FollowerContext,
  providers: TickProviders,
  round: Round,
  { vault, revocations, delegates, isAll }: Group,
  block: BlockId,
): Promise<Agreement<readonly Settlement[]>> {
  const positions = revocations.flatMap(positionsOf);
  const versions = await readVersions(round, vault, delegates, block);
  if (versions.value === undefined) return { value: undefined, reason: versions.reason };
  const regrants = await readRegrants(context, vault, positions[0] as LogPosition, block.number);
  const pairs: { readonly delegate: Address; readonly keys: readonly PairKey[] }[] = [];
  for (const delegate of delegates) {
    const keys = await choosePairKeys(context, { vault, delegate }, positions, regrants, block.number);
    pairs.push({ delegate, keys });
  }
  const held = await readHeld(
    round,
    versions.value,
    pairs.flatMap(({ keys }) => keys),
    block,
  );
  if (held.value === undefined) return { value: undefined, reason: held.reason };
  const findings = new Map<Address, readonly Finding[]>();
  const again = Map.groupBy(regrants.all, ({ key }) => key.to);
  const isOwn = revocations.length === 1 && revocations[0]?.block.hash === block.hash;
  let next = 0;
  for (const { delegate, keys } of pairs) {
    const states = keys.map(({ granted }) => ({ granted, isHeld: held.value?.[next++] as boolean }));
    // Nothing that the pair has shows whether it was revoked and granted again within the block.
    const isOpen = isOwn && again.has(delegate) && states.every(({ isHeld }) => isHeld);
    const isRevoked = isOpen && (await countRevoked(context, providers, round, { vault, delegate }, block)) > 0;
    const grants = again.get(delegate)?.map(({ granted }) => granted) ?? [];
    const found = deduce(positions, states, block.number, { isRevoked, grants });
    if (found === null) return { value: undefined, reason: CONTRADICTION };
    findings.set(delegate, found);
  }
  const settlements = revocations.map((revocation) => settlementOf(revocation, findings, isAll, block.number));
  const [only, ...others] = settlements as [Settlement, ...Settlement[]];
  const ended = new Set(
    settlements.flatMap(({ pairs }) => pairs.flatMap(({ delegate, endedBy }) => (endedBy === null ? [] : [delegate]))),
  );
  if (ended.size > positions.length) return { value: undefined, reason: CONTRADICTION };
  // Each log revoked one delegate. Once as many are found, and no earlier block can have ended them, the others were not revoked.
  const isExplained = others.length === 0 && ended.size === positions.length;
  return {
    value: isExplained ? [{ ...only, complete: only.complete || only.readAt === only.block.number }] : settlements,
    reason: '',
  };
}

export const CONTRADICTION = "the registry's state contradicts the logs";

export const positionsOf = ({ block, logIndexes }: Revocation): LogPosition[] =>
  logIndexes.map((logIndex) => ({ block: block.number, logIndex }));

interface Versions {
  readonly ofVault: bigint;
  readonly ofDelegates: ReadonlyMap<Address, bigint>;
}

async function readVersions(round: Round, vault: Address, delegates: readonly Address[], block: BlockId) {
  if (delegates.length === 0) return { value: { ofVault: 0n, ofDelegates: new Map() }, reason: '' };
  const slots = [vaultVersionSlot(vault), ...delegates.map((delegate) => delegateVersionSlot(vault, delegate))];
  const { value, reason } = await round.read(block, slots);
  if (value === undefined) return { value, reason };
  const [ofVault, ...rest] = value as [bigint, ...bigint[]];
  return { value: { ofVault, ofDelegates: new Map(delegates.map((one, at) => [one, rest[at] as bigint])) }, reason };
}

/** For each delegation, whether the registry has it at the end of a block. */
async function readHeld(round: Round, { ofVault, ofDelegates }: Versions, keys: readonly PairKey[], block: BlockId) {
  const members = keys.map(({ key }) => membershipSlot(key, ofVault, ofDelegates.get(key.to) as bigint));
  const { value, reason } = await round.read(block, members);
  return { value: value?.map((word) => word !== 0n), reason };
}

/** How often a pair was revoked in a block by logs that do not name the delegate. 0 if it is unknown. */
async function countRevoked(
  context: FollowerContext,
  providers: TickProviders,
  round: Round,
  { vault, delegate }: { readonly vault: Address; readonly delegate: Address },
  block: BlockId,
): Promise<number> {
  const { network, store } = context;
  const { node } = providers[0];
  const reading = context.proof.isProven ? fetchProven(node, block.hash) : node.headerOf(block.hash);
  const header = await reading.catch(() => null);
  if (header === null) return 0;
  const parent = { number: block.number - 1, hash: header.parentHash };
  const slots = [delegateVersionSlot(vault, delegate)];
  const after = await round.read(block, slots);
  const before = await round.read(parent, slots);
  if (after.value === undefined || before.value === undefined) return 0;
  const logs = await readStoredLogs(store, network.chainId, block.number);
  const named = logs.filter(
    ({ event, revoked }) =>
      (event.type === 'delegateRevoked' && event.from === vault && event.to === delegate) ||
      (event.type === 'unknownRevoked' && event.from === vault && revoked === delegate),
  );
  return Number((after.value[0] as bigint) - (before.value[0] as bigint)) - named.length;
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

// Short constructors for the data that tests put into a store.

import type { KeyRecord } from '../../src/accounts/accounts.ts';
import type { FollowerStatus } from '../../src/chain/follow/follower-status.ts';
import type { Address, Bytes32, Delegation, Kind } from '../../src/registry/delegation.ts';
import { KINDS, NO_RIGHTS } from '../../src/registry/delegation.ts';
import type { RegistryEvent } from '../../src/registry/event.ts';
import { hasRights } from '../../src/registry/versions.ts';
import type { BlockInput, LogInput, Settlement } from '../../src/store/store.ts';

/** Makes an address from a small number. */
export const address = (of: number): Address => `0x${of.toString(16).padStart(40, '0')}`;
/** Makes a block or transaction hash from a small number and a branch. */
export const hash = (of: number, branch = 0): Bytes32 =>
  `0x${branch.toString(16).padStart(8, '0')}${of.toString(16).padStart(56, '0')}`;

export const COLD = address(0xc01d);
export const HOT = address(0x407);
export const CONTRACT = address(0xcc);

/** A valid value for each required parameter of an operation. */
export const GOOD_VALUES: Readonly<Record<string, string>> = {
  wallet: HOT,
  to: HOT,
  from: COLD,
  delegate: HOT,
  vault: COLD,
  contract: CONTRACT,
  tokenId: '7',
  standard: 'ERC20',
  rights: `0x${'0'.repeat(64)}`,
  network: '1',
  snapshot: 'latest',
  addresses: HOT,
};

/** A delegation from COLD to HOT; v2 unless the kind exists only in v1. */
export function delegation(kind: Kind, fields: Partial<Delegation> = {}): Delegation {
  const version = fields.version ?? (kind === 'TOKEN' ? 1 : 2);
  const shape = KINDS[kind];
  return {
    version,
    kind,
    from: COLD,
    to: HOT,
    contract: shape.contract ? CONTRACT : null,
    tokenId: shape.tokenId ? 7n : null,
    rights: hasRights(version) ? NO_RIGHTS : null,
    amount: shape.amount ? 100n : null,
    ...fields,
  };
}

export const granted = (kind: Kind, fields: Partial<Delegation> = {}): RegistryEvent => ({
  type: 'granted',
  delegation: delegation(kind, fields),
});

export function ended(kind: Kind, fields: Partial<Delegation> = {}): RegistryEvent {
  const { amount: _, ...key } = delegation(kind, fields);
  return { type: 'ended', delegation: key };
}

/** The time of a block: one block every ten seconds. */
export const timeOf = (block: number) => 1_700_000_000 + 10 * block;

export function block(number: number, events: readonly (RegistryEvent | LogInput)[] = [], branch = 0): BlockInput {
  const logs = events.map(
    (event, logIndex): LogInput =>
      'type' in event ? { logIndex, transactionHash: hash(number * 1000 + logIndex, branch), event } : event,
  );
  return { number, hash: hash(number, branch), timestamp: timeOf(number), logs };
}

/** A block with a revocation whose delegate is known only from the registry's state. */
export const revocation = (number: number, vault = COLD): BlockInput =>
  block(number, [{ type: 'unknownRevoked', from: vault }]);

/** The settlement of a revocation that is the only log of its block. */
export const settlement = (
  number: number,
  pairs: Readonly<Record<Address, boolean>>,
  more: Partial<Settlement> = {},
): Settlement => ({
  vault: COLD,
  block: { number, hash: hash(number) },
  readAt: number,
  pairs: Object.entries(pairs).map(([delegate, isRevoked]) => ({
    delegate: delegate as Address,
    endedBy: isRevoked ? 0 : null,
  })),
  complete: true,
  ...more,
});

/** An active key of the operator. */
export const KEY_RECORD: KeyRecord = {
  id: 1,
  shown: 'dk_test',
  label: 'test',
  owner: null,
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  rateLimit: null,
  windowId: null,
};

/** A follower that has just started. */
export const FOLLOWER_STATUS: FollowerStatus = {
  chainId: 1,
  firstBlock: 1,
  block: null,
  tip: null,
  logs: 0,
  logsPerSecond: 0,
  secondsLeft: null,
  providers: [],
  providerFailures: {},
  rpc: {},
  events: {},
  audited: 0,
  compared: 0,
  evidence: { bloom: 0, receipts: 0, compared: 0 },
  standby: false,
  failures: 0,
  failing: null,
};

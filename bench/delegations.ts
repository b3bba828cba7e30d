// Generates realistic delegations from a seed: most wallets grant one to three, some thousands, and some grants are revoked.

import { type Address, type Delegation, type Kind, NO_RIGHTS } from '../src/registry/delegation.ts';
import type { RegistryEvent } from '../src/registry/event.ts';
import type { BlockInput, LogInput } from '../src/store/store.ts';
import { createRandom } from '../test/support/random.ts';

/** Derives a random-looking address from a number. */
export function addressFrom(of: number): Address {
  let hex = '';
  for (let word = 1; word <= 5; word++) {
    let mixed = Math.imul(of + word * 0x9e3779b9, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    hex += ((mixed ^ (mixed >>> 16)) >>> 0).toString(16).padStart(8, '0');
  }
  return `0x${hex}`;
}

export const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
/** One grant in eight is revoked later. */
const ENDED_SHARE = 0.125;
const LOGS_PER_BLOCK = 5;
const CONTRACTS = 5000;
const SAMPLED = 50_000;

export interface Mass {
  /** Returns the next blocks, with at least this many logs. */
  next(logs: number): BlockInput[];
  /** Number of grants so far. */
  readonly grants: number;
  readonly block: number;
  /** The wallet whose grants come next. Only it can repeat a grant. */
  readonly owner: Address;
  /** Delegations granted so far that will be revoked. */
  readonly pending: readonly Delegation[];
  /** The v2 wallets with at least 500 grants. The last may have fewer so far. */
  readonly treasuries: readonly Address[];
  /** A uniform sample of the delegations granted so far. */
  readonly sample: readonly Delegation[];
}

export function createMass(seed: number): Mass {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const sample: Delegation[] = [];
  const toEnd: Delegation[] = [];
  const treasuries: Address[] = [];
  let [grants, block, wallets] = [0, 1000, 0];
  let owner = { version: 2 as 1 | 2, from: addressFrom(0), left: 0 };

  const nextOwner = () => {
    // One wallet in 3,000 is a treasury with thousands of grants.
    const treasury = random() < 1 / 3000;
    const version: 1 | 2 = random() < 0.4 ? 1 : 2;
    owner = { version, from: addressFrom(++wallets), left: treasury ? 500 + int(3500) : 1 + int(3) };
    if (treasury && version === 2) treasuries.push(owner.from);
  };

  const grant = (): Delegation => {
    if (owner.left-- <= 0) nextOwner();
    const { version, from } = owner;
    const dice = random();
    const token = version === 1 ? 'TOKEN' : dice < 0.9 ? 'ERC721' : dice < 0.95 ? 'ERC20' : 'ERC1155';
    const kind: Kind = dice < 0.45 ? 'ALL' : dice < 0.65 ? 'CONTRACT' : token;
    grants++;
    return {
      version,
      kind,
      from,
      // Hot wallets never overlap with cold ones; some are popular.
      to: addressFrom(0x40000000 + (random() < 0.02 ? int(50) : int(grants + 100))),
      contract: kind === 'ALL' ? null : addressFrom(0x20000000 + int(CONTRACTS)),
      tokenId: kind === 'TOKEN' || kind === 'ERC721' || kind === 'ERC1155' ? BigInt(int(20_000)) : null,
      rights: version === 1 ? null : random() < 0.9 ? NO_RIGHTS : VOTE,
      amount: kind === 'ERC20' || kind === 'ERC1155' ? BigInt(1 + int(1e9)) * 10n ** 18n : null,
    };
  };

  const nextEvent = (): RegistryEvent => {
    if (toEnd.length > 2000) {
      const { amount: _, ...key } = toEnd.splice(int(toEnd.length), 1)[0] as Delegation;
      return { type: 'ended', delegation: key };
    }
    const delegation = grant();
    if (random() < ENDED_SHARE) toEnd.push(delegation);
    else if (sample.length < SAMPLED) sample.push(delegation);
    else if (random() < SAMPLED / grants) sample[int(SAMPLED)] = delegation;
    return { type: 'granted', delegation };
  };

  return {
    next(wanted) {
      const blocks: BlockInput[] = [];
      for (let made = 0; made < wanted; made += LOGS_PER_BLOCK) {
        block += 1 + int(3);
        const hash = `0x${block.toString(16).padStart(64, 'b')}` as const;
        const logs = Array.from({ length: LOGS_PER_BLOCK }, (_, position): LogInput => {
          const transactionHash = `0x${(block * 8 + position).toString(16).padStart(64, 'a')}` as const;
          return { logIndex: position * 7, transactionHash, event: nextEvent() };
        });
        blocks.push({ number: block, hash, timestamp: 1_600_000_000 + block * 2, logs });
      }
      return blocks;
    },
    get grants() {
      return grants;
    },
    get block() {
      return block;
    },
    get owner() {
      return owner.from;
    },
    pending: toEnd,
    treasuries,
    sample,
  };
}

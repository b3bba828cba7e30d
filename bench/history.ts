// Generates the v2 events of the benchmark's chain; each depends only on its position, so any block can be built on demand.

import { type Address, type Delegation, type Kind, NO_RIGHTS } from '../src/registry/delegation.ts';
import { eventTopics } from '../src/registry/event.ts';
import { addressFrom, VOTE } from './delegations.ts';

interface HistoryEvent {
  readonly delegation: Delegation;
  readonly enabled: boolean;
}

/** Five on average. A constant number would look like a node that truncates its responses. */
export const logsIn = (number: number) => 1 + ((number * 7) % 9);

export const eventsUpTo = (blocks: number) =>
  Array.from({ length: blocks }, (_, turn) => logsIn(turn + 1)).reduce((sum, many) => sum + many, 0);

/** Two wallets whose lists are measured. Each grants once per block; the second starts after the first has finished. */
export const LISTED: readonly { readonly wallet: Address; readonly grants: number }[] = [
  { wallet: addressFrom(0x70000001), grants: 100 },
  { wallet: addressFrom(0x70000002), grants: 10_000 },
];

/** Blocks between a grant and its revocation. */
const HELD_BLOCKS = 100;
/** Positions of revocations in a block, each with the position of the grant that it ends in an earlier block. */
const ENDS: ReadonlyMap<number, number> = new Map([
  [5, 1],
  [7, 2],
]);

export function eventAt(number: number, position: number): HistoryEvent {
  const ends = ENDS.get(position);
  if (ends !== undefined && number > HELD_BLOCKS) {
    return { delegation: grantAt(number - HELD_BLOCKS, ends), enabled: false };
  }
  return { delegation: grantAt(number, position), enabled: true };
}

function grantAt(number: number, position: number): Delegation {
  const id = number * 10 + position;
  const listed = position === 0 ? listedAt(number) : undefined;
  const kind = listed === undefined ? kindOf(id) : 'ERC721';
  return {
    version: 2,
    kind,
    from: listed ?? addressFrom(id >> 1),
    to: addressFrom(0x40000000 + id),
    contract: kind === 'ALL' ? null : addressFrom(0x20000000 + (id % 5000)),
    tokenId: kind === 'ERC721' || kind === 'ERC1155' ? BigInt(id) : null,
    rights: id % 10 === 3 ? VOTE : NO_RIGHTS,
    amount: kind === 'ERC20' || kind === 'ERC1155' ? BigInt(id + 1) * 10n ** 18n : null,
  };
}

/** About one grant in ten has an amount; nearly half are for the whole wallet. */
function kindOf(id: number): Kind {
  const share = Math.imul(id, 0x9e3779b1) >>> 0;
  const of100 = share % 100;
  if (of100 < 45) return 'ALL';
  if (of100 < 65) return 'CONTRACT';
  if (of100 < 90) return 'ERC721';
  return of100 < 95 ? 'ERC20' : 'ERC1155';
}

function listedAt(number: number): Address | undefined {
  let first = 1;
  for (const { wallet, grants } of LISTED) {
    if (number >= first && number < first + grants) return wallet;
    first += grants;
  }
  return undefined;
}

const [ALL = '', CONTRACT = '', ERC721 = '', ERC20 = '', ERC1155 = ''] = eventTopics(2);
const TOPICS: Readonly<Record<string, string>> = { ALL, CONTRACT, ERC721, ERC20, ERC1155 };
const word = (hex: string) => hex.slice(2).padStart(64, '0');
const uint = (value: bigint) => value.toString(16).padStart(64, '0');

/** The first topic of the event, which eth_getLogs filters by. */
export const topicOf = ({ delegation }: HistoryEvent): string => TOPICS[delegation.kind] ?? '';

/** Topics and data as the registry emits them. */
export function logOf(event: HistoryEvent): { readonly topics: readonly string[]; readonly data: string } {
  const { delegation, enabled } = event;
  const { from, to, contract, tokenId, rights, kind } = delegation;
  const indexed = [from, to, ...(contract === null ? [] : [contract])];
  const held = kind === 'ERC20' || kind === 'ERC1155' ? (delegation.amount ?? 0n) : 1n;
  const words = [...(tokenId === null ? [] : [uint(tokenId)]), word(rights ?? '0x'), uint(enabled ? held : 0n)];
  return { topics: [topicOf(event), ...indexed.map((one) => `0x${word(one)}`)], data: `0x${words.join('')}` };
}

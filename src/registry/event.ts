// Decodes a raw log into what it does. There are ten event types, each with one fixed layout; anything else is an error.

import { type Address, type Bytes32, type Delegation, type DelegationKey, KINDS, type Kind } from './delegation.ts';
import { hasRights, VERSIONS, type Version } from './versions.ts';

export type RawLog = { readonly topics: readonly string[]; readonly data: string };

/** What one log does to the set of delegations. */
export type RegistryEvent =
  /** The delegation holds from here on, with this amount. */
  | { readonly type: 'granted'; readonly delegation: Delegation }
  /** That one delegation ends, if it held. */
  | { readonly type: 'ended'; readonly delegation: DelegationKey }
  /** Every v1 delegation of the wallet ends. */
  | { readonly type: 'vaultRevoked'; readonly from: Address }
  /** Every v1 delegation from the one to the other ends. */
  | { readonly type: 'delegateRevoked'; readonly from: Address; readonly to: Address }
  /**
   * Every v1 delegation from the wallet to one delegate ends, and the log does not say which delegate:
   * the caller must find out from the transaction, or read from the registry what the wallet has left.
   */
  | { readonly type: 'unknownRevoked'; readonly from: Address };

/** A log at a registry's address that is not one of its events. */
export class BadLogError extends Error {
  override readonly name = 'BadLogError';
}

type Field = 'from' | 'to' | 'contract' | 'tokenId' | 'rights' | 'enabled' | 'amount';

type What = Kind | 'VAULT_REVOKED' | 'DELEGATE_REVOKED';

interface Layout {
  readonly event: string;
  readonly version: Version;
  readonly what: What;
  /** How many of the fields are topics; the rest are words of the data. */
  readonly indexed: number;
  readonly fields: readonly Field[];
}

const EVENTS: readonly (readonly [topic: Bytes32, event: string, version: Version, what: What])[] = [
  ['0x58781eab4a0743ab1c285a238be846a235f06cdb5b968030573a635e5f8c92fa', 'DelegateForAll', 1, 'ALL'],
  ['0x8d6b2f5255b8d815cc368855b2251146e003bf4e2fcccaec66145fff5c174b4f', 'DelegateForContract', 1, 'CONTRACT'],
  ['0xe89c6ba1e8957285aed22618f52aa1dcb9d5bb64e1533d8b55136c72fcf5aa5d', 'DelegateForToken', 1, 'TOKEN'],
  ['0x32d74befd0b842e19694e3e3af46263e18bcce41352c8b600ff0002b49edf662', 'RevokeAllDelegates', 1, 'VAULT_REVOKED'],
  ['0x3e34a3ee53064fb79c0ee57448f03774a627a9270b0c41286efb7d8e32dcde93', 'RevokeDelegate', 1, 'DELEGATE_REVOKED'],
  ['0xda3ef6410e30373a9137f83f9781a8129962b6882532b7c229de2e39de423227', 'DelegateAll', 2, 'ALL'],
  ['0x021be15e24de4afc43cfb5d0ba95ca38e0783571e05c12bbe6aece8842ae82df', 'DelegateContract', 2, 'CONTRACT'],
  ['0x15e7a1bdcd507dd632d797d38e60cc5a9c0749b9a63097a215c4d006126825c6', 'DelegateERC721', 2, 'ERC721'],
  ['0x6ebd000dfc4dc9df04f723f827bae7694230795e8f22ed4af438e074cc982d18', 'DelegateERC20', 2, 'ERC20'],
  ['0x27ab1adc9bca76301ed7a691320766dfa4b4b1aa32c9e05cf789611be7f8c75f', 'DelegateERC1155', 2, 'ERC1155'],
];

function fieldsOf(version: Version, what: What): Field[] {
  if (what === 'VAULT_REVOKED') return ['from'];
  if (what === 'DELEGATE_REVOKED') return ['from', 'to'];
  const { contract, tokenId, amount } = KINDS[what];
  const scope: Field[] = [...(contract ? ['contract' as const] : []), ...(tokenId ? ['tokenId' as const] : [])];
  return ['from', 'to', ...scope, ...(hasRights(version) ? ['rights' as const] : []), amount ? 'amount' : 'enabled'];
}

const LAYOUTS: ReadonlyMap<string, Layout> = new Map(
  EVENTS.map(([topic, event, version, what]) => {
    const fields = fieldsOf(version, what);
    const addresses = fields.filter((field) => field === 'from' || field === 'to' || field === 'contract');
    const indexed = VERSIONS[version].indexesAddresses ? addresses.length : 0;
    return [topic, { event, version, what, indexed, fields }];
  }),
);

/** The first topics of a version's events: what to ask a node for. */
export function eventTopics(version: Version): Bytes32[] {
  return EVENTS.filter(([, , of]) => of === version).map(([topic]) => topic);
}

const TOPIC = /^0x[0-9a-f]{64}$/i;
const DATA = /^0x(?:[0-9a-f]{64})*$/i;
const HIGH_BYTES_OF_ADDRESS = '0'.repeat(24);
const TRUE_WORD = '1'.padStart(64, '0');
const FALSE_WORD = '0'.repeat(64);

/** Reads a log of one version's registry. */
export function decodeEvent(version: Version, log: RawLog): RegistryEvent {
  const topic = log.topics?.[0];
  const layout = typeof topic === 'string' ? LAYOUTS.get(topic.toLowerCase()) : undefined;
  if (layout === undefined) throw new BadLogError(`No registry event has the topic ${topic}`);
  if (layout.version !== version) throw new BadLogError(`${layout.event} is not an event of the v${version} registry`);

  const words = wordsOf(layout, log);
  const fields: Partial<Record<Field, string>> = {};
  for (const [position, field] of layout.fields.entries()) fields[field] = words[position] as string;
  const address = (field: 'from' | 'to' | 'contract') => addressOf(layout, field, fields[field] as string);

  if (layout.what === 'VAULT_REVOKED') return { type: 'vaultRevoked', from: address('from') };
  if (layout.what === 'DELEGATE_REVOKED') {
    const [from, to] = [address('from'), address('to')];
    return from === to ? { type: 'unknownRevoked', from } : { type: 'delegateRevoked', from, to };
  }

  const shape = KINDS[layout.what];
  const key: DelegationKey = {
    version,
    kind: layout.what,
    from: address('from'),
    to: address('to'),
    contract: shape.contract ? address('contract') : null,
    tokenId: shape.tokenId ? BigInt(`0x${fields.tokenId}`) : null,
    rights: hasRights(version) ? `0x${fields.rights}` : null,
  };
  const amount = shape.amount ? BigInt(`0x${fields.amount}`) : null;
  const isGrant = amount === null ? isEnabled(layout, fields.enabled as string) : amount > 0n;
  return isGrant ? { type: 'granted', delegation: { ...key, amount } } : { type: 'ended', delegation: key };
}

function wordsOf(layout: Layout, { topics, data }: RawLog): string[] {
  const { event, indexed, fields } = layout;
  if (topics.length !== 1 + indexed) throw new BadLogError(`${event} has ${1 + indexed} topics, not ${topics.length}`);
  const words = topics.slice(1).map((topic, position) => {
    if (typeof topic !== 'string' || !TOPIC.test(topic))
      throw new BadLogError(`${event}: ${fields[position]} is not a word of 32 bytes`);
    return topic.slice(2).toLowerCase();
  });
  if (typeof data !== 'string' || !DATA.test(data))
    throw new BadLogError(`${event}: the data is not hex in words of 32 bytes`);
  const expected = 32 * (fields.length - indexed);
  if (data.length !== 2 + 2 * expected)
    throw new BadLogError(`${event} has ${expected} bytes of data, not ${(data.length - 2) / 2}`);
  for (let at = 2; at < data.length; at += 64) words.push(data.slice(at, at + 64).toLowerCase());
  return words;
}

function addressOf(layout: Layout, field: Field, word: string): Address {
  if (!word.startsWith(HIGH_BYTES_OF_ADDRESS))
    throw new BadLogError(`${layout.event}: ${field} is not an address: 0x${word}`);
  return `0x${word.slice(24)}`;
}

function isEnabled(layout: Layout, word: string): boolean {
  if (word !== TRUE_WORD && word !== FALSE_WORD)
    throw new BadLogError(`${layout.event}: enabled is not a boolean: 0x${word}`);
  return word === TRUE_WORD;
}

// The query of the grant page: the owner, one chain, and what to grant there. It comes from the form, or from a link that names
// grants: the id of each, and after a tilde its amount.

import { chainId as chainIdParam, Fault, rights as rightsParam, tokenId as uint256Param } from '../../api/params.ts';
import type { ParameterFault } from '../../api/problems.ts';
import { parseQuery, shorten } from '../../api/query.ts';
import {
  type Address,
  type Bytes32,
  type Delegation,
  KINDS,
  type Kind,
  MAX_UINT256,
  NO_RIGHTS,
  ZERO_ADDRESS,
} from '../../registry/delegation.ts';
import { NETWORKS } from '../../registry/network.ts';
import { expiringRights, isRightsParam, rightsIdOf, TEXT_PREFIX } from '../../registry/rights.ts';
import type { Version } from '../../registry/versions.ts';
import { addressFault, findAddress } from '../address-input.ts';
import { grantIdOf, readGrantId } from '../grant-id.ts';

/** The fields of the form. */
export const FIELDS = ['wallet', 'chain', 'to', 'kind', 'contract', 'tokenId', 'amount', 'right', 'until'] as const;
export type Field = (typeof FIELDS)[number];
const KNOWN: ReadonlySet<string> = new Set([...FIELDS, 'review']);
const REPEATED: ReadonlySet<string> = new Set(['grant']);

export const KIND_NAMES: Readonly<Record<string, Kind>> = {
  all: 'ALL',
  contract: 'CONTRACT',
  erc721: 'ERC721',
  erc20: 'ERC20',
  erc1155: 'ERC1155',
};

/** What is entered for an amount without limit. */
export const ANY = 'any';

export interface GrantQuery {
  /** As entered. */
  readonly values: ReadonlyMap<string, string>;
  /** What is wrong with a field of the form, as a sentence. */
  readonly wrong: ReadonlyMap<Field, string>;
  readonly faults: readonly ParameterFault[];
  readonly wallet: Address | null;
  readonly chainId: number | null;
  /** What to grant; empty as long as something is wrong or nothing is asked. */
  readonly grants: readonly Delegation[];
  /** The chains that this service follows. */
  readonly chainIds: readonly number[];
}

/** `now` in Unix seconds. */
export function readGrantQuery(query: string, chainIds: readonly number[], now: number): GrantQuery {
  const { values, faults } = parseQuery(query, KNOWN, REPEATED);
  const wrong = new Map<Field, string>();
  const ids = new URLSearchParams(query).getAll('grant');
  const isForm = values.has('review');
  const read = <T>(field: Field, reader: (text: string) => T | Fault): T | null => {
    const value = reader(values.get(field)?.trim() ?? '');
    if (!(value instanceof Fault)) return value;
    wrong.set(field, value.detail);
    return null;
  };
  const isAsked = isForm || ids.length > 0;
  const wallet = isAsked || values.get('wallet') ? read('wallet', readWallet) : null;
  const chainId = isAsked || values.get('chain') ? read('chain', (text) => readChain(text, chainIds)) : null;
  if (isForm && chainId !== null && !hasRegistry(chainId, 2)) wrong.set('chain', 'Registry v2 is not on this chain.');
  const named =
    wallet === null || chainId === null ? [] : [...new Set(ids)].map((id) => readGrant(id, wallet, chainId));
  for (const one of named) if (one instanceof Fault) faults.push({ parameter: 'grant', detail: one.detail });
  const entered = isForm ? readForm(read, wallet, now) : null;
  const grants = [...named, entered].flatMap((one) => (one === null || one instanceof Fault ? [] : [one]));
  const isGood = wrong.size === 0 && faults.length === 0 && chainId !== null;
  return { values, wrong, faults, wallet, chainId, grants: isGood ? grants : [], chainIds };
}

function readWallet(text: string): Address | Fault {
  const fault = text === '' ? 'Enter an address.' : addressFault(text);
  return fault === null ? (findAddress(text).toLowerCase() as Address) : new Fault(fault);
}

function readChain(text: string, chainIds: readonly number[]): number | Fault {
  const id = chainIdParam.read(text);
  return id instanceof Fault || chainIds.includes(id) ? id : new Fault('This service does not follow this chain.');
}

const hasRegistry = (chainId: number, version: Version) => NETWORKS.get(chainId)?.registries[version] !== undefined;

type Read = <T>(field: Field, reader: (text: string) => T | Fault) => T | null;

/** The grant that the form describes, always of registry v2; null if something is wrong with it. */
function readForm(read: Read, wallet: Address | null, now: number): Delegation | null {
  const to = read('to', (text) => readHotWallet(text, wallet));
  const kind = read('kind', (text) =>
    Object.hasOwn(KIND_NAMES, text) ? (KIND_NAMES[text] as Kind) : new Fault('Choose what it may act for.'),
  );
  if (kind === null) return null;
  const shape = KINDS[kind];
  const one = <T>(field: Field, has: boolean, reader: (text: string) => T | Fault): T | null =>
    read(field, (text) => (has ? reader(text) : text === '' ? null : new Fault(TOO_MUCH)));
  const contract = one('contract', shape.contract, readWallet);
  const tokenId = one('tokenId', shape.tokenId, readTokenId);
  const amount = one('amount', shape.amount, readAmount);
  const expires = read('until', (text) => readUntil(text, now));
  const rights = read('right', (text) => readRight(text, expires));
  const isWhole = to !== null && rights !== null && wallet !== null;
  const isFitting = shape.contract === (contract !== null) && shape.tokenId === (tokenId !== null);
  if (!isWhole || !isFitting || shape.amount !== (amount !== null)) return null;
  return { version: 2, kind, from: wallet, to, contract, tokenId, rights, amount };
}

const TOO_MUCH =
  'What you chose above does not have this, so it would cover more. Choose something else, or empty this.';

function readHotWallet(text: string, wallet: Address | null): Address | Fault {
  const to = readWallet(text);
  if (to === wallet) return new Fault('This is your own wallet: it needs no grant.');
  return to === ZERO_ADDRESS ? new Fault('Nobody has the key of this address.') : to;
}

function readTokenId(text: string): bigint | Fault {
  const id = uint256Param.read(text);
  return id instanceof Fault ? new Fault('Enter a token id: decimal digits, from 0 to 2^256-1.') : id;
}

function readAmount(text: string): bigint | Fault {
  if (text.toLowerCase() === ANY) return MAX_UINT256;
  const amount = uint256Param.read(text);
  return amount instanceof Fault || amount === 0n
    ? new Fault(`Enter how much: decimal digits, from 1 to 2^256-1 and without a point, or ${ANY}.`)
    : amount;
}

/** The last second of the day, in Unix seconds; null if there is no end. */
function readUntil(text: string, now: number): number | Fault | null {
  if (text === '') return null;
  const end = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T23:59:59Z`) / 1000 : Number.NaN;
  if (Number.isNaN(end)) return new Fault('Enter a date such as 2027-01-31, or nothing.');
  return end > now ? end : new Fault('This day is over.');
}

/** Hex digits of an identifier, and zeros after it. */
const IS_SHORT = /^0x[0-9a-f]{48}0{16}$/;

function readRight(text: string, expires: number | null): Bytes32 | Fault {
  const right = text === '' ? NO_RIGHTS : rightsParam.read(isRightsParam(text) ? text : `${TEXT_PREFIX}${text}`);
  if (right instanceof Fault) return new Fault(`This ${right.detail}.`);
  if (expires === null) return right;
  return IS_SHORT.test(right)
    ? expiringRights(rightsIdOf(right), expires)
    : new Fault('With an expiry, a right has room for 24 bytes of text.');
}

function readGrant(text: string, from: Address, chainId: number): Delegation | Fault {
  const [id = '', amountText] = text.split('~');
  const key = readGrantId(id, from);
  if (key instanceof Fault) return new Fault(`${shorten(text)} ${key.detail}`);
  if (!hasRegistry(chainId, key.version))
    return new Fault(`${shorten(text)} is of a registry that is not on this chain`);
  if (!KINDS[key.kind].amount) return { ...key, amount: null };
  const amount = uint256Param.read(amountText ?? '');
  return amount instanceof Fault || amount === 0n
    ? new Fault(`${shorten(text)} must have its amount at the end, after a tilde`)
    : { ...key, amount };
}

/** The form with a wallet, and a chain if one is meant. */
export const grantFormPath = (wallet: string, chain: string): string =>
  `/grant?${new URLSearchParams({ wallet, ...(chain !== '' && { chain }) })}`;

/** The longest ids of all of them fit into a URL. */
const MOST_IN_PATH = 20;

/** The paths that grant exactly these. */
export const grantPaths = (wallet: Address, chainId: number, grants: readonly Delegation[]): string[] =>
  Array.from({ length: Math.ceil(grants.length / MOST_IN_PATH) }, (_, part) => {
    const query = new URLSearchParams({ wallet, chain: String(chainId) });
    for (const grant of grants.slice(part * MOST_IN_PATH, (part + 1) * MOST_IN_PATH))
      query.append('grant', grant.amount === null ? grantIdOf(grant) : `${grantIdOf(grant)}~${grant.amount}`);
    return `/grant?${query}`;
  });

// Every parameter of the API, defined once: what it means, what is accepted, and how it is read.

import { type Address, type Bytes32, isBytes32, NO_RIGHTS } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { hasChecksum } from './checksum.ts';

export interface Param<T> {
  readonly name: string;
  readonly description: string;
  /** As in OpenAPI. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string;
  /** Reads the text, or gives back what is wrong with it. */
  read(text: string): T | Fault;
}

/** What is wrong with a value, as the end of the sentence "<parameter> …". */
export class Fault {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

const shown = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

const HEX_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const LOWER = /^0x[0-9a-f]{40}$/;
const UPPER = /^0x[0-9A-F]{40}$/;

export function readAddress(text: string): Address | Fault {
  if (LOWER.test(text)) return text as Address;
  if (!HEX_ADDRESS.test(text)) return new Fault(`is not an address of 0x and 40 hex digits: ${shown(text)}`);
  const lower = text.toLowerCase() as Address;
  if (UPPER.test(text) || hasChecksum(text)) return lower;
  return new Fault(`has a wrong checksum: mistyped? In all lower case it is not checked: ${lower}`);
}

const ADDRESS_SCHEMA = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' };
const addressParam = (name: string, description: string, example: string): Param<Address> => ({
  name,
  description: `${description} All lower case, all upper case, or with a right EIP-55 checksum.`,
  schema: ADDRESS_SCHEMA,
  example,
  read: readAddress,
});

const WALLET_EXAMPLE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const HOT_EXAMPLE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const CONTRACT_EXAMPLE = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

export const wallet = addressParam('wallet', 'The wallet whose delegations are listed.', WALLET_EXAMPLE);
export const to = addressParam('to', 'The hot wallet that wants to act.', HOT_EXAMPLE);
export const from = addressParam('from', 'The cold wallet that issued the delegation.', WALLET_EXAMPLE);
export const delegate = addressParam('delegate', 'The hot wallet that wants to act.', HOT_EXAMPLE);
export const vault = addressParam('vault', 'The cold wallet that issued the delegation.', WALLET_EXAMPLE);
export const contract = addressParam('contract', 'The contract.', CONTRACT_EXAMPLE);

const DIGITS = /^[0-9]+$/;

export const chainId: Param<number> = {
  name: 'chainId',
  description: 'The network, 1 (Ethereum) unless given. One of those that /networks lists.',
  schema: { type: 'integer', minimum: 1, default: 1 },
  example: '1',
  read(text) {
    const value = Number(text);
    if (!DIGITS.test(text) || !Number.isSafeInteger(value))
      return new Fault(`is not a chain id in decimal digits: ${shown(text)}`);
    return value;
  },
};

const MOST_DIGITS = 78;

export const tokenId: Param<bigint> = {
  name: 'tokenId',
  description: 'The token id, in decimal digits, 0 to 2^256-1. Every digit counts.',
  schema: { type: 'string', pattern: '^[0-9]{1,78}$' },
  example: '9007199254740993',
  read(text) {
    if (!DIGITS.test(text)) return new Fault(`is not a token id in decimal digits: ${shown(text)}`);
    const digits = text.replace(/^0+(?=.)/, '');
    const value = digits.length > MOST_DIGITS ? null : BigInt(digits);
    return value === null || value >= 2n ** 256n ? new Fault('is larger than 2^256-1') : value;
  },
};

function readRights(text: string): Bytes32 | Fault {
  if (text === '') return NO_RIGHTS;
  const lower = text.toLowerCase();
  if (text.startsWith('0x') && isBytes32(lower)) return lower;
  const form = text.startsWith('0x') ? null : rightsOf(text);
  return new Fault(
    `is not 0x and 64 hex digits${form ? `; as bytes32 ${shown(text)} is ${form}` : `: ${shown(text)}`}`,
  );
}

const RIGHTS_SCHEMA = { type: 'string', pattern: '^(0x[0-9a-fA-F]{64})?$' };
const RIGHTS_EXAMPLE = `0x${'766f7465'.padEnd(64, '0')}`;

export const rights: Param<Bytes32> = {
  name: 'rights',
  description:
    'The bytes32 of a rights text. Delegations limited to exactly this right count besides unrestricted ones. Absent, empty or all zero: only unrestricted ones count.',
  schema: RIGHTS_SCHEMA,
  example: RIGHTS_EXAMPLE,
  read: readRights,
};

export const rightsFilter: Param<Bytes32> = {
  name: 'rights',
  description: 'Only delegations with exactly these rights; all zero: only unrestricted ones.',
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  example: RIGHTS_EXAMPLE,
  read: (text) => (text === '' ? new Fault('is empty: leave it out, or give 0x and 64 zeros') : readRights(text)),
};

export type BlockChoice = number | 'latest' | 'finalized';

export const block: Param<BlockChoice> = {
  name: 'block',
  description: 'The answer as of the end of this block: a number, `finalized`, or `latest` (the default).',
  schema: { oneOf: [{ type: 'integer', minimum: 0 }, { enum: ['latest', 'finalized'] }], default: 'latest' },
  example: 'latest',
  read(text) {
    if (text === 'latest' || text === 'finalized') return text;
    const value = Number(text);
    if (DIGITS.test(text) && Number.isSafeInteger(value)) return value;
    return new Fault(`is not a block number, "latest" or "finalized": ${shown(text)}`);
  },
};

const ISO_8601 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** JavaScript reads the 30th of February as the 2nd of March. */
const isInCalendar = (year: number, month: number, day: number, hour: number) =>
  day <= new Date(Date.UTC(year, month, 0)).getUTCDate() && hour < 24;

export const timestamp: Param<number> = {
  name: 'timestamp',
  description: 'The answer as of this time: unix seconds, or ISO 8601 with a zone, such as 2026-01-01T00:00:00Z.',
  schema: { type: 'string' },
  example: '2026-01-01T00:00:00Z',
  read(text) {
    if (DIGITS.test(text)) {
      const seconds = Number(text);
      return seconds <= 253_402_300_799 ? seconds : new Fault('is beyond the year 9999: in seconds, not milliseconds?');
    }
    const form = ISO_8601.exec(text);
    if (form === null) return new Fault(`is neither unix seconds nor ISO 8601: ${shown(text)}`);
    const [, year, month, day, hour, zone] = form;
    if (zone === undefined) return new Fault(`has no time zone: add Z for UTC, as in ${text}Z`);
    const milliseconds = Date.parse(text);
    const exists = isInCalendar(Number(year), Number(month), Number(day), Number(hour));
    return !exists || Number.isNaN(milliseconds) || milliseconds < 0
      ? new Fault(`is no such time: ${shown(text)}`)
      : Math.floor(milliseconds / 1000);
  },
};

function choice<const Choices extends readonly string[]>(
  name: string,
  choices: Choices,
  description: string,
): Param<Choices[number]> {
  return {
    name,
    description,
    schema: { type: 'string', enum: choices },
    example: choices[0] ?? '',
    read: (text) =>
      choices.includes(text)
        ? (text as Choices[number])
        : new Fault(`is not one of ${choices.join(', ')}: ${shown(text)}`),
  };
}

export const numbers = choice(
  'numbers',
  ['string', 'number'],
  'How token ids and balances are written: `number` (the default), a JSON integer with every digit exact, or `string`.',
);
export const detail = choice(
  'detail',
  ['full'],
  'With `full`, each delegation also has its standard, rights, amount, chainId and since when it holds. Without it, a delegation limited to a right looks like an unlimited one.',
);
export const explain = choice(
  'explain',
  ['true', 'false'],
  'With `true` the answer is an object: the result, the delegations that grant it in full detail, and the block.',
);
export const direction = choice(
  'direction',
  ['incoming', 'outgoing'],
  'Only what the wallet was granted, or only what it granted.',
);
export const type = choice('type', ['ALL', 'CONTRACT', 'TOKEN'], 'Only delegations of this type.');
export const contractFilter: Param<Address> = {
  ...contract,
  description: 'Only delegations limited to this contract.',
};

export const MOST_PER_PAGE = 10_000;

export const limit: Param<number> = {
  name: 'limit',
  description: `At most so many delegations, 1 to ${MOST_PER_PAGE}, with a Link to the next page. A filter may leave a page with fewer, or none: the list ends where there is no Link. Without a limit the list is whole.`,
  schema: { type: 'integer', minimum: 1, maximum: MOST_PER_PAGE },
  example: '100',
  read(text) {
    const value = Number(text);
    if (DIGITS.test(text) && value >= 1 && value <= MOST_PER_PAGE) return value;
    return new Fault(`is not a number from 1 to ${MOST_PER_PAGE}: ${shown(text)}`);
  },
};

export const cursor: Param<string> = {
  name: 'cursor',
  description: 'Where a page begins: from the Link of the page before. It keeps to the block of the first page.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,160}$' },
  example: 'MTgwMDAwMDAuNDIuMTc5OTk5OTkuMy4x',
  read: (text) => (/^[\w-]{8,160}$/.test(text) ? text : new Fault('is not a cursor of this API')),
};

// The kinds of values that parameters take: what each means, what is accepted, and how it is read.

import { hasChecksum } from '../registry/checksum.ts';
import { type Address, type Bytes32, isAddress, isBytes32, NO_RIGHTS, ZERO_ADDRESS } from '../registry/delegation.ts';
import { keccak } from '../registry/keccak.ts';
import { HASH_PREFIX, isRightsId, type RightsId, rightsIdOf, rightsOf, TEXT_PREFIX } from '../registry/rights.ts';
import { ALL_SCOPES } from '../registry/scopes.ts';
import type { JsonSchema } from './shape.ts';

export interface Param<T> {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string;
  /** Reads the text, or says what is wrong with it. */
  read(text: string): T | Fault;
}

/** What is wrong with a value, as the end of the sentence "<parameter> …". */
export class Fault {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

const HEX_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const UPPER = /^0x[0-9A-F]{40}$/;

export function readAddress(text: string): Address | Fault {
  if (isAddress(text)) return text;
  if (!HEX_ADDRESS.test(text)) return new Fault(`must be an address (0x and 40 hex digits), not ${quoted(text)}`);
  const lower = text.toLowerCase() as Address;
  if (UPPER.test(text) || hasChecksum(text)) return lower;
  return new Fault(`has an invalid EIP-55 checksum. If the address is right, send it in lower case: ${lower}`);
}

const addressParam = (description: string, example: string): Param<Address> => ({
  description: `${description} All lower case, all upper case, or with a valid EIP-55 checksum.`,
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  example,
  read: readAddress,
});

const COLD_EXAMPLE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const HOT_EXAMPLE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const CONTRACT_EXAMPLE = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

export const listedWallet = addressParam('The wallet whose delegations are listed.', COLD_EXAMPLE);
export const grantingWallet = addressParam('The cold wallet that issued the delegations.', COLD_EXAMPLE);
export const hotWallet = addressParam('The hot wallet that wants to act.', HOT_EXAMPLE);
export const coldWallet = addressParam('The cold wallet that issued the delegation.', COLD_EXAMPLE);
export const contract = addressParam('The contract address.', CONTRACT_EXAMPLE);
export const exclusiveVault = addressParam('The vault for which somebody acts.', COLD_EXAMPLE);
export const tokenOwner = addressParam(
  'The owner of the token. Without it, the owner is read from the chain.',
  COLD_EXAMPLE,
);
export const contractFilter = addressParam('List only delegations limited to this contract.', CONTRACT_EXAMPLE);

const DIGITS = /^[0-9]+$/;

export const chainId: Param<number> = {
  description: 'The chain id of the network, as listed at /networks.',
  schema: { type: 'integer', minimum: 1 },
  example: '1',
  read(text) {
    const value = Number(text);
    if (!DIGITS.test(text) || !Number.isSafeInteger(value))
      return new Fault(`must be a chain id in decimal digits, not ${quoted(text)}`);
    return value;
  },
};

const MAX_CHAINS = 64;

export const chainIds: Param<readonly number[] | 'served'> = {
  description: 'The chain ids of the networks, separated by commas, or `served` for every served chain.',
  schema: { type: 'string', pattern: '^(served|[0-9]+(,[0-9]+)*)$' },
  example: '1',
  read(text) {
    if (text === 'served') return text;
    const values: number[] = [];
    for (const one of text.split(',', MAX_CHAINS + 1)) {
      const value = chainId.read(one);
      if (value instanceof Fault)
        return new Fault(`must be chain ids in decimal digits, separated by commas, or "served", not ${quoted(text)}`);
      if (values.includes(value)) return new Fault(`names chain ${value} more than once`);
      values.push(value);
    }
    return values.length > MAX_CHAINS ? new Fault(`must not name more than ${MAX_CHAINS} chains`) : values;
  },
};

export const delegationChainIds: Param<readonly number[]> = {
  description:
    'The chains whose delegations count, separated by commas; by default, that of the token. Where one delegation decides, it is that of the first chain on which an owner has one.',
  schema: { type: 'string', pattern: '^[0-9]+(,[0-9]+)*$' },
  example: '1,33139',
  read(text) {
    const values = chainIds.read(text);
    return values === 'served' ? new Fault('must be chain ids in decimal digits, separated by commas') : values;
  },
};

const MOST_DIGITS = 78;

export const tokenId: Param<bigint> = {
  description: 'The token id in decimal digits, from 0 to 2^256-1.',
  schema: { type: 'string', pattern: '^[0-9]{1,78}$' },
  example: '9007199254740993',
  read(text) {
    if (!DIGITS.test(text)) return new Fault(`must be a token id in decimal digits, not ${quoted(text)}`);
    const digits = text.replace(/^0+(?=.)/, '');
    const value = digits.length > MOST_DIGITS ? null : BigInt(digits);
    return value === null || value >= 2n ** 256n ? new Fault('must be at most 2^256-1') : value;
  },
};

function readRights(text: string): Bytes32 | Fault {
  if (text === '') return NO_RIGHTS;
  if (text.startsWith(TEXT_PREFIX)) return readRightsText(text.slice(TEXT_PREFIX.length));
  const lower = text.toLowerCase();
  if (text.startsWith('0x') && isBytes32(lower)) return lower;
  const form = text.startsWith('0x') ? null : rightsOf(text);
  return new Fault(
    form === null
      ? `must be a bytes32 (0x and 64 hex digits) or a text such as text:vote, not ${quoted(text)}`
      : `must be a bytes32 (0x and 64 hex digits); ${quoted(text)} as bytes32 is ${form}, or send ${TEXT_PREFIX}${text}`,
  );
}

/** Without the prefix. An empty text would mean no right, and a NUL is what a shorter text is padded with. */
function readRightsText(text: string): Bytes32 | Fault {
  if (text === '') return new Fault('must have a text after text:, such as text:vote');
  if (/\p{Cc}/u.test(text)) return new Fault('must not have control characters');
  return rightsOf(text) ?? new Fault('must be at most 32 bytes of text');
}

const RIGHTS_FORMS = '0x[0-9a-fA-F]{64}|text:.{1,32}';
const RIGHTS_EXAMPLE = `0x${'766f7465'.padEnd(64, '0')}`;

export const rights: Param<Bytes32> = {
  description:
    'A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count.',
  schema: { type: 'string', pattern: `^(${RIGHTS_FORMS})?$` },
  example: RIGHTS_EXAMPLE,
  read: readRights,
};

export const rightsFilter: Param<Bytes32> = {
  description:
    'List only delegations with exactly this right, as bytes32 or as text: `text:vote`. All zero lists only unrestricted ones.',
  schema: { type: 'string', pattern: `^(${RIGHTS_FORMS})$` },
  example: RIGHTS_EXAMPLE,
  read: (text) => (text === '' ? new Fault('is empty; omit it, or send 0x and 64 zeros') : readRights(text)),
};

const ID_FORMS = '0x[0-9a-fA-F]{48}|text:.{1,24}|hash:.{1,64}';

function readRightsId(text: string): RightsId | Fault {
  const lower = text.toLowerCase();
  if (isRightsId(lower)) return lower;
  if (text.startsWith(HASH_PREFIX) && text.length > HASH_PREFIX.length)
    return rightsIdOf(keccak(new TextEncoder().encode(text.slice(HASH_PREFIX.length))));
  if (!text.startsWith(TEXT_PREFIX))
    return new Fault(
      `must be 24 bytes (0x and 48 hex digits), a text such as text:vote, or the hash of a name such as hash:AGW_LINK, not ${quoted(text)}`,
    );
  const rights = readRightsText(text.slice(TEXT_PREFIX.length));
  if (rights instanceof Fault) return rights;
  return idAlone(rights) ?? new Fault('must be at most 24 bytes of text');
}

/** Null if there is more than an identifier. */
const idAlone = (rights: Bytes32): RightsId | null =>
  /^0{16}$/.test(rights.slice(rightsIdOf(rights).length)) ? rightsIdOf(rights) : null;

export const rightsId: Param<RightsId> = {
  description:
    'The identifier of a right: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`, the first 24 bytes of the Keccak hash of a name. Delegations with this identifier count, and global ones. If absent, only global ones count.',
  schema: { type: 'string', pattern: `^(${ID_FORMS})$` },
  example: 'hash:AGW_LINK',
  read: readRightsId,
};

/** A right of checks, or an identifier for exclusive resolution: which of them, the other parameters decide. */
export const rightsOrId: Param<Bytes32 | RightsId> = {
  description: `${rights.description} With \`resolver=exclusive\`, an identifier: 24 bytes in hex, \`text:vote\`, or \`hash:AGW_LINK\`.`,
  schema: { type: 'string', pattern: `^(${RIGHTS_FORMS}|${ID_FORMS})?$` },
  example: RIGHTS_EXAMPLE,
  read: (text) => (text.startsWith(HASH_PREFIX) || isRightsId(text.toLowerCase()) ? readRightsId : readRights)(text),
};

/** What was given as `rightsOrId`, as a check takes it. */
export const asRights = (given: Bytes32 | RightsId): Bytes32 | Fault =>
  isBytes32(given) ? given : new Fault('must be a bytes32 (0x and 64 hex digits) or a text such as text:vote');

/** The same as exclusive resolution takes it. */
export const asRightsId = (given: Bytes32 | RightsId): RightsId | Fault =>
  isBytes32(given) ? (idAlone(given) ?? new Fault('must be at most 24 bytes with resolver=exclusive')) : given;

/** A right in the path of a vote, where an empty one would be no segment. */
export const votedRights: Param<Bytes32> = {
  description:
    'The right that a delegation may be limited to: `none`, `text:vote`, a bytes32, or an identifier: 24 bytes in hex or `hash:AGW_LINK`. Unrestricted delegations count too. Its first 24 bytes are the identifier by which the exclusive wallet is found.',
  schema: { type: 'string', pattern: `^(none|${RIGHTS_FORMS}|${ID_FORMS})$` },
  example: 'text:vote',
  read(text) {
    if (text === 'none') return NO_RIGHTS;
    if (text === '') return new Fault('is empty; send none to count only unrestricted delegations');
    if (!text.startsWith(HASH_PREFIX) && !isRightsId(text.toLowerCase())) return readRights(text);
    const id = readRightsId(text);
    return id instanceof Fault ? id : `${id}${'0'.repeat(16)}`;
  },
};

export type BlockChoice = number | 'latest' | 'finalized';

export const block: Param<BlockChoice> = {
  description: 'Answer as of the end of this block: a number, `finalized`, or `latest` (the default).',
  schema: { oneOf: [{ type: 'integer', minimum: 0 }, { enum: ['latest', 'finalized'] }], default: 'latest' },
  example: 'latest',
  read(text) {
    if (text === 'latest' || text === 'finalized') return text;
    const value = Number(text);
    if (DIGITS.test(text) && Number.isSafeInteger(value)) return value;
    return new Fault(`must be a block number, "latest" or "finalized", not ${quoted(text)}`);
  },
};

export const network: Param<number> = {
  ...chainId,
  description: 'The chain id of the token.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
};

export const snapshot: Param<number | 'latest'> = {
  description: "The block of the token's chain to answer as of: a number, or `latest`.",
  schema: { oneOf: [{ type: 'integer', minimum: 0 }, { enum: ['latest'] }] },
  example: 'latest',
  read(text) {
    const value = block.read(text);
    return value === 'finalized' ? new Fault('must be a block number or "latest"') : value;
  },
};

export const MAX_VOTERS = 1000;

/** An address with the letter case that it was asked in. */
export interface Voter {
  readonly asked: string;
  readonly address: Address;
}

export const voters: Param<readonly Voter[]> = {
  description: `The addresses to score, separated by commas: at most ${MAX_VOTERS.toLocaleString('en')}.`,
  schema: { type: 'string' },
  example: HOT_EXAMPLE,
  read(text) {
    const all = text === '' ? [] : text.split(',');
    if (all.length > MAX_VOTERS) return new Fault(`must be at most ${MAX_VOTERS}, not ${all.length}`);
    const found: Voter[] = [];
    for (const [position, asked] of all.entries()) {
      const address = readAddress(asked);
      if (address instanceof Fault) return new Fault(`at position ${position} ${address.detail}`);
      if (address === ZERO_ADDRESS) return new Fault(`at position ${position} must not be the zero address`);
      found.push({ asked, address });
    }
    return found;
  },
};

/** The time may be absent. */
const ISO_8601 = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):\d{2}(?::\d{2}(?:\.\d+)?)?(Z| ?UTC|[+-]\d{2}:?\d{2})?)?$/;

/** JavaScript reads the 30th of February as the 2nd of March. */
const isInCalendar = (year: number, month: number, day: number, hour: number) =>
  day <= new Date(Date.UTC(year, month, 0)).getUTCDate() && hour < 24;

export const timestamp: Param<number> = {
  description:
    'Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC.',
  schema: { type: 'string' },
  example: '2026-01-01T00:00:00Z',
  read(text) {
    if (DIGITS.test(text)) {
      const seconds = Number(text);
      return seconds <= 253_402_300_799 ? seconds : new Fault('is after the year 9999; send seconds, not milliseconds');
    }
    const form = ISO_8601.exec(text);
    if (form === null) return new Fault(`must be Unix seconds or ISO 8601, not ${quoted(text)}`);
    const [, year, month, day, hour, zone] = form;
    // JavaScript reads a date without a time as UTC too.
    if (hour !== undefined && zone === undefined)
      return new Fault(`has no time zone; for UTC send ${text.replace(' ', 'T')}Z`);
    const milliseconds = Date.parse(text.replace(/ ?UTC$/, 'Z').replace(' ', 'T'));
    const exists = isInCalendar(Number(year), Number(month), Number(day), Number(hour ?? 0));
    return !exists || Number.isNaN(milliseconds) || milliseconds < 0
      ? new Fault(`is not a valid time: ${quoted(text)}`)
      : Math.floor(milliseconds / 1000);
  },
};

function choice<const Choices extends readonly string[]>(
  choices: Choices,
  description: string,
): Param<Choices[number]> & { readonly choices: Choices } {
  return {
    choices,
    description,
    schema: { type: 'string', enum: choices },
    example: choices[0] ?? '',
    read: (text) =>
      choices.includes(text)
        ? (text as Choices[number])
        : new Fault(`must be one of ${choices.join(', ')}, not ${quoted(text)}`),
  };
}

const flag = (description: string) => choice(['true', 'false'], description);

export const registry = choice(
  ['any', '1', '2'],
  'The registry to ask: `1`, `2`, or `any` (the default): a grant in either counts.',
);
export const scope = choice(
  ALL_SCOPES,
  'What is asked, as in `/registry/…/check/{check}`. `token` is for version 1; `erc721`, `erc1155` and `erc20` are for the others.',
);
export const numbers = choice(
  ['string', 'number'],
  'How token ids and balances are written: `number`, a JSON integer with every digit, or `string`.',
);
export type NumberMode = (typeof numbers.choices)[number];
export const explainVotes = flag(
  '`true` adds every owner that counts for one of the addresses, with its balance and what decides.',
);
export const detail = choice(
  ['full'],
  '`full` adds standard, rights (and what can be read of them), amount, chainId and since to each delegation. Without it, a delegation limited to a right looks like an unrestricted one.',
);
export const explain = flag(
  '`true` answers with an object: the result, the delegations that grant it in full detail, and the block.',
);
export const proof = flag(
  '`true` answers with an object: the result, its block, and proofs of the words of the registries that it follows from, which anybody can verify against the hash of the block.',
);
export const resolver = choice(
  ['exclusive'],
  '`exclusive`: by exclusive resolution, the wallets for which this wallet alone acts. For one contract it needs `tokenId` too.',
);
export const direction = choice(
  ['incoming', 'outgoing'],
  'List only delegations to the wallet (incoming) or from it (outgoing).',
);
export const type = choice(['ALL', 'CONTRACT', 'TOKEN'], 'List only delegations of this type.');

export const types = choice(
  ['standard'],
  '`standard` writes the type of a token delegation as `ERC721`, `ERC20` or `ERC1155` instead of `TOKEN`. The v1 registry does not record the standard, so its tokens stay `TOKEN`.',
);
export const unrestricted = flag(
  '`true` lists only delegations without a right. Use it if you do not look at rights. Every v1 delegation is unrestricted.',
);
export const narrower = flag(
  '`true` adds wallets whose delegations cover only a part of what is asked: some contracts, or some tokens.',
);

export const MAX_PAGE_SIZE = 10_000;
export const DEFAULT_PAGE_SIZE = 1000;

const pageSize = (most: number, example: number, description: string): Param<number> => ({
  description,
  schema: { type: 'integer', minimum: 1, maximum: most },
  example: String(example),
  read(text) {
    const value = Number(text);
    if (DIGITS.test(text) && value >= 1 && value <= most) return value;
    return new Fault(`must be a number from 1 to ${most}, not ${quoted(text)}`);
  },
});

export const limit = pageSize(
  MAX_PAGE_SIZE,
  100,
  `Page size, 1 to ${MAX_PAGE_SIZE}. The Link header leads to the next page; a list ends where there is none. Filters can leave a page short or empty. Without a limit the whole list is sent.`,
);
export const rowsPerPage = pageSize(
  MAX_PAGE_SIZE,
  100,
  `Page size, 1 to ${MAX_PAGE_SIZE}. \`next\` and the Link header lead to the next page. A page can be short or empty and still have a next one.`,
);
/** Each takes a call of the contract. */
export const MAX_HOLDERS = 100;
export const holdersLimit = pageSize(
  MAX_HOLDERS,
  MAX_HOLDERS,
  `How many wallets to ask for their balance on one page, besides the wallet itself: 1 to ${MAX_HOLDERS}.`,
);

const cursorParam = (longest: number, example: string, description: string): Param<string> => ({
  description,
  schema: { type: 'string', pattern: `^[A-Za-z0-9_-]{8,${longest}}$` },
  example,
  read: (text) => (/^[\w-]{8,}$/.test(text) && text.length <= longest ? text : new Fault('is not a valid cursor')),
});

export const cursor = cursorParam(
  160,
  'MC4wLDAuYXBzdnouMy5hcHN2ei4zLGFwc3cwLjE2LjI1eDNoYyx0d3ltcWc',
  'Where the page starts, from the Link header of the previous page. All pages are as of the same block.',
);
/** Of several chains: it names the block of each. */
export const pageCursor = cursorParam(
  3500,
  'MC4wLDB4ZjM5ZixhcHN3MC4xNi4yNXgzaGMsdHd5bXFn',
  'Where the page starts: `next` of the previous page. All pages are as of the same blocks.',
);
export const feedCursor = cursorParam(
  3500,
  'MS0ydC0xLjI1eDNoYyxsOGFlMzk',
  'Where to continue: `cursor` of the previous page, or the id of the last event of a stream.',
);

export const changedWallet = addressParam('Report only delegations from or to this wallet.', COLD_EXAMPLE);
export const changedFrom = addressParam('Report only delegations that this cold wallet issued.', COLD_EXAMPLE);
export const changedTo = addressParam('Report only delegations to this hot wallet.', HOT_EXAMPLE);
export const changedContract = addressParam('Report only delegations limited to this contract.', CONTRACT_EXAMPLE);
export const onlyFinal = flag('`true` reports a change only when its block is final.');
export const feedStart = choice(
  ['first', 'head'],
  'Where to start without a cursor: with the first change of all, or after the newest block.',
);

export const tokenStandard = choice(
  ['ERC721', 'ERC1155', 'ERC20'],
  'The standard of the contract. Without it: ERC-721 if `tokenId` is given, otherwise the balance of an ERC-721 or ERC-20 contract. `ERC20` also counts delegated amounts, `ERC1155` needs `tokenId`.',
);
export const votedStandard = choice(
  ['ERC20', 'ERC721'],
  'The standard of the contract. Of both, what `balanceOf` returns counts.',
);

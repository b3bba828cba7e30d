// Delegations and their changes as JSON, with every digit of a uint256.

import { DELEGATION_CHANGE, UNDO } from '../api/changes-operation.ts';
import { booleanText, integerText, type JsonText, NULL, plainText, stringify, writerFor } from '../api/json-text.ts';
import type { NumberMode } from '../api/params.ts';
import type { Registry } from '../api/registries.ts';
import { BLOCK, DETAILED_DELEGATION, EXPIRES, HISTORY_ENTRY } from '../api/responses.ts';
import { string } from '../api/shape.ts';
import { checksummed, withCasing } from '../registry/checksum.ts';
import type { Address, Delegation } from '../registry/delegation.ts';
import type { Expiry } from '../registry/expiry-text.ts';
import { type DecodedRights, decodeRights } from '../registry/rights.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
import { CASING_AT } from '../store/rows/packed.ts';
import type { AnswerBlock, Change, DetailedDelegation, HistoryEntry } from '../store/store.ts';

export const uint256Text = (value: bigint, mode: NumberMode) =>
  (mode === 'string' ? `"${value}"` : `${value}`) as JsonText<number | string>;

/** The value that a check answers with. */
export const valueText = (value: boolean | bigint, mode: NumberMode): JsonText<boolean | number | string> =>
  typeof value === 'bigint' ? uint256Text(value, mode) : booleanText(value);

export const addressText = (address: Address) => `"${checksummed(address)}"` as JsonText<string>;

/** The type as the interface names it: every token standard is a TOKEN. */
export const typeOf = ({ kind }: Pick<Delegation, 'kind'>): 'ALL' | 'CONTRACT' | 'TOKEN' =>
  kind === 'ALL' || kind === 'CONTRACT' ? kind : 'TOKEN';

/** How a record is written. */
export interface Format {
  readonly mode: NumberMode;
  readonly chainId: number;
  /** With the standard of a token as its type. */
  readonly hasStandardTypes?: boolean;
}

const VERSION_TEXTS = Object.fromEntries(ALL_VERSIONS.map((version) => [version, integerText(version)])) as {
  readonly [V in Version]: JsonText<V>;
};
const casedText = (address: Address, { casing }: DetailedDelegation, at: keyof typeof CASING_AT) =>
  `"${withCasing(address, casing, CASING_AT[at])}"` as JsonText<string>;
const from = (row: DetailedDelegation) => casedText(row.from, row, 'from');
const to = (row: DetailedDelegation) => casedText(row.to, row, 'to');
/** The wallets, by the names of each version. */
const WALLETS = {
  1: { delegate: to, vault: from },
  2: { from, to },
  any: { version: ({ version }: Delegation) => VERSION_TEXTS[version], from, to },
} as const satisfies { [R in Registry]: object };

const BASIC = {
  type: (row: Delegation, { hasStandardTypes }: Format) => plainText(hasStandardTypes ? row.kind : typeOf(row)),
  contract: (row: DetailedDelegation) => (row.contract === null ? NULL : casedText(row.contract, row, 'contract')),
  tokenId: ({ tokenId }: Delegation, { mode }: Format) => (tokenId === null ? NULL : uint256Text(tokenId, mode)),
} as const;

let decoded: { readonly rights: string | null } & DecodedRights = { rights: null, ...decodeRights(null) };
/** Four fields of a row need it, and rows with the same rights often follow each other: the last result is kept. */
function decode(rights: string | null): DecodedRights {
  if (decoded.rights !== rights) decoded = { rights, ...decodeRights(rights) };
  return decoded;
}
/** As `expires` has it. */
export const expiryJson = (expires: Expiry | null) => stringify(EXPIRES, expires);
const stringOrNull = (value: string | null) => (value === null ? NULL : stringify(string, value));

const logText = writerFor<DetailedDelegation['since'], null>()(DETAILED_DELEGATION[2].fields.since, {
  block: ({ block }) => integerText(block),
  timestamp: ({ timestamp }) => integerText(timestamp),
  transactionHash: ({ transactionHash }) => plainText<string>(transactionHash),
  logIndex: ({ logIndex }) => integerText(logIndex),
});

const detailed = writerFor<DetailedDelegation, Format>();
const DETAIL = {
  ...BASIC,
  // The v1 registry does not record the standard of a token.
  standard: ({ kind }: Delegation) =>
    kind === 'ERC721' || kind === 'ERC20' || kind === 'ERC1155' ? plainText(kind) : NULL,
  rights: ({ rights }: Delegation) => (rights === null ? NULL : plainText<string>(rights)),
  rightsText: ({ rights }: Delegation) => stringOrNull(decode(rights).text),
  rightsName: ({ rights }: Delegation) => stringOrNull(decode(rights).name),
  rightsId: ({ rights }: Delegation) => stringOrNull(decode(rights).id),
  expires: ({ rights }: Delegation) => expiryJson(decode(rights).expires),
  amount: ({ amount }: Delegation, { mode }: Format) => (amount === null ? NULL : uint256Text(amount, mode)),
  chainId: (_row: Delegation, { chainId }: Format) => integerText(chainId),
  since: ({ since }: DetailedDelegation) => logText(since, null),
} as const;

const DETAILED_RECORD = {
  1: detailed(DETAILED_DELEGATION[1], { ...DETAIL, ...WALLETS[1] }),
  2: detailed(DETAILED_DELEGATION[2], { ...DETAIL, ...WALLETS[2] }),
  any: detailed(DETAILED_DELEGATION.any, { ...DETAIL, ...WALLETS.any }),
} as const satisfies { [R in Registry]: unknown };

/** A record of a wallet's history. */
export const historyEntryText = writerFor<HistoryEntry, Format>()(HISTORY_ENTRY, {
  ...DETAIL,
  ...WALLETS.any,
  until: ({ until }) => (until === null ? NULL : logText(until, null)),
});

/** A record with `detail=full`. */
export const detailedRecordText = (row: DetailedDelegation, format: Format, registry: Registry = row.version) =>
  DETAILED_RECORD[registry](row, format);

/** A record of either registry, with its version. */
export const anyRecordText = DETAILED_RECORD.any;

export const blockText = ({ number, hash, timestamp }: AnswerBlock) => stringify(BLOCK, { number, hash, timestamp });

export const changeText = writerFor<Change, Format>()(DELEGATION_CHANGE, {
  type: ({ type }) => plainText(type),
  chainId: (_, { chainId }) => integerText(chainId),
  block: ({ block }) => blockText(block),
  transactionHash: ({ transactionHash }) => plainText<string>(transactionHash),
  logIndex: ({ logIndex }) => integerText(logIndex),
  final: ({ isFinal }) => booleanText(isFinal),
  delegation: ({ delegation }, format) => anyRecordText(delegation, format),
});

export const undoText = ({ number, hash, timestamp }: AnswerBlock, chainId: number) =>
  stringify(UNDO, { type: 'undo', chainId, block: { number, hash, timestamp } });

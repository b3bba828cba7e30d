// What the registries' list functions return.

import { type Address, type Delegation, type DelegationKey, KINDS, type Kind } from './delegation.ts';
import type { Version } from './versions.ts';

/** Return data that is not what the function returns. */
export class BadReturnDataError extends Error {
  override readonly name = 'BadReturnDataError';
}

/** The rows of an ABI-encoded array of tuples of static words, with the names of the words. */
export function rowsOf<const Field extends string>(name: string, data: string, fields: readonly Field[]) {
  const words = /^0x(?:[0-9a-f]{64})*$/i.test(data) ? (data.slice(2).toLowerCase().match(/.{64}/g) ?? []) : [];
  const [offset, length, ...cells] = words;
  const width = fields.length;
  if (offset === undefined || BigInt(`0x${offset}`) !== 32n) throw new BadReturnDataError(`${name}: not an array`);
  if (length === undefined || BigInt(`0x${length}`) * BigInt(width) !== BigInt(cells.length))
    throw new BadReturnDataError(`${name}: ${cells.length} words do not make the rows that its length promises`);
  return Array.from(
    { length: cells.length / width },
    (_, row) =>
      Object.fromEntries(fields.map((field, at) => [field, cells[row * width + at]])) as Record<Field, string>,
  );
}

export function asAddress(word: string): Address {
  if (!word.startsWith('0'.repeat(24))) throw new BadReturnDataError(`no address: 0x${word}`);
  return `0x${word.slice(24)}`;
}

/** The v1 registry's getters of all delegations of a wallet: the kind that each returns, and its words. */
const V1_GETTERS = {
  getDelegatesForAll: ['ALL', ['to']],
  getContractLevelDelegations: ['CONTRACT', ['contract', 'to']],
  getTokenLevelDelegations: ['TOKEN', ['contract', 'tokenId', 'to']],
} as const satisfies Readonly<Record<string, readonly [Kind, readonly string[]]>>;

/** The raw return data of these getters for one wallet at one block. */
export type RawVaultState = Readonly<Record<keyof typeof V1_GETTERS, string>>;

/** Every v1 delegation that the registry has for the wallet. */
export const decodeVaultState = (vault: Address, raw: RawVaultState): DelegationKey[] =>
  (Object.keys(V1_GETTERS) as (keyof typeof V1_GETTERS)[]).flatMap((getter) => {
    const [kind, fields] = V1_GETTERS[getter];
    return rowsOf<'to' | 'contract' | 'tokenId'>(getter, raw[getter], fields).map((row) => ({
      version: 1 as const,
      from: vault,
      rights: null,
      to: asAddress(row.to),
      ...targetOf(kind, row),
    }));
  });

/** The fields that a kind has, in the words of a row. */
const targetOf = (kind: Kind, { contract, tokenId }: Readonly<Record<'contract' | 'tokenId', string>>) => ({
  kind,
  contract: KINDS[kind].contract ? asAddress(contract) : null,
  tokenId: KINDS[kind].tokenId ? BigInt(`0x${tokenId}`) : null,
});

const V2_KINDS: Readonly<Record<string, Kind>> = { 1: 'ALL', 2: 'CONTRACT', 3: 'ERC721', 4: 'ERC20', 5: 'ERC1155' };
const V2_WORDS = ['type', 'to', 'from', 'rights', 'contract', 'tokenId', 'amount'] as const;

/** The delegations in what the two list functions of a registry like v2 return. */
export const decodeV2List = (version: Version, data: string): Delegation[] =>
  rowsOf('list', data, V2_WORDS).map((row) => {
    const kind = V2_KINDS[String(BigInt(`0x${row.type}`))];
    if (kind === undefined) throw new BadReturnDataError(`list: no type ${row.type}`);
    return {
      version,
      from: asAddress(row.from),
      to: asAddress(row.to),
      rights: `0x${row.rights}`,
      ...targetOf(kind, row),
      amount: KINDS[kind].amount ? BigInt(`0x${row.amount}`) : null,
    };
  });

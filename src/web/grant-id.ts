// Names a grant of a wallet in a link: v2.ERC721.0xto.0xcontract.42.0x766f7465. Version and kind decide which parts follow. The
// amount is not a part: a grant whose amount changes is still the same grant.

import { Fault, readAddress, tokenId as tokenIdParam } from '../api/params.ts';
import { coldWalletOf, type DelegationRecord, hotWalletOf } from '../api/responses.ts';
import {
  type Address,
  type Bytes32,
  type Delegation,
  type DelegationKey,
  KINDS,
  KINDS_OF,
  type Kind,
  NO_RIGHTS,
} from '../registry/delegation.ts';
import { hasRights, type Version } from '../registry/versions.ts';

/** What the path of the revoke page names: the owner, one chain, and grants on it. */
export const revokeLink = (wallet: string, record: DelegationRecord): string =>
  `/revoke?wallet=${wallet}&chain=${record.chainId}&grant=${grantId(record)}`;

/** The record must have been asked for with `numbers=string`. */
export const grantId = (record: DelegationRecord): string => grantIdOf(delegationOf(record));

/** A record of the API as a delegation. */
export function delegationOf(record: DelegationRecord): Delegation {
  const lower = (text: string | null) => text?.toLowerCase() ?? null;
  return {
    version: 'version' in record ? record.version : 'vault' in record ? 1 : 2,
    kind: record.standard ?? (record.type as Kind),
    from: lower(coldWalletOf(record)) as Address,
    to: lower(hotWalletOf(record)) as Address,
    contract: lower(record.contract) as Address | null,
    tokenId: exact(record.tokenId),
    rights: lower(record.rights) as Bytes32 | null,
    amount: exact(record.amount),
  };
}

/** A number may have lost digits: it would name another token. */
function exact(value: string | number | null): bigint | null {
  if (typeof value === 'number') throw new TypeError('ask the API with numbers=string');
  return value === null ? null : BigInt(value);
}

export function grantIdOf({ version, kind, to, contract, tokenId, rights }: DelegationKey): string {
  const right = rights === null || rights === NO_RIGHTS ? null : rights.replace(/(00)+$/, '');
  return [`v${version}`, kind, to, contract, tokenId, right].filter((part) => part !== null).join('.');
}

const SHORT_RIGHT = /^0x(?:[0-9a-f]{2}){1,32}$/;

/** The grant from this wallet that the text names, or what is wrong with the text. */
export function readGrantId(text: string, from: Address): DelegationKey | Fault {
  const [name = '', kindName = '', ...parts] = text.split('.');
  const version = Number(/^v(\d)$/.exec(name)?.[1]) as Version;
  const kind = kindName as Kind;
  if (!KINDS_OF[version]?.includes(kind))
    return new Fault('must begin with a registry and a type that it has, such as v2.ALL');
  const { contract: hasContract, tokenId: hasTokenId } = KINDS[kind];
  const to = readAddress(parts.shift() ?? '');
  if (to instanceof Fault) return to;
  const contract = hasContract ? readAddress(parts.shift() ?? '') : null;
  if (contract instanceof Fault) return contract;
  const tokenId = hasTokenId ? tokenIdParam.read(parts.shift() ?? '') : null;
  if (tokenId instanceof Fault) return tokenId;
  const right = hasRights(version) ? parts.shift()?.toLowerCase() : undefined;
  if (right !== undefined && !SHORT_RIGHT.test(right)) return new Fault('must have a right of 1 to 32 bytes in hex');
  if (parts.length > 0) return new Fault('has more parts than a grant of this type');
  const rights = hasRights(version) ? ((right ?? '0x').padEnd(66, '0') as Bytes32) : null;
  return { version, kind, from, to, contract, tokenId, rights };
}

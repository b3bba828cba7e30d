// Calls of the registries: what grants or revokes a delegation, and how calls are encoded as transaction input.

import { type Delegation, type DelegationKey, KINDS, type Kind } from './delegation.ts';
import type { Version } from './versions.ts';

type Args = readonly (string | boolean)[];
/** A wallet's call of a registry. Addresses and rights are hex, amounts and ids are decimal. */
export type RegistryCall = readonly [registry: `v${Version}`, caller: string, name: string, args: Args];

/** The functions of the registries that change delegations: selector and parameters. */
export const FUNCTIONS: Readonly<Record<string, readonly [selector: string, params: string]>> = {
  'v1.delegateForAll': ['685ee3e8', 'address delegate,bool value'],
  'v1.delegateForContract': ['49c95d29', 'address delegate,address contract_,bool value'],
  'v1.delegateForToken': ['537a5c3d', 'address delegate,address contract_,uint256 tokenId,bool value'],
  'v1.revokeAllDelegates': ['36137872', ''],
  'v1.revokeDelegate': ['fa352c00', 'address delegate'],
  'v1.revokeSelf': ['219044b0', 'address vault'],
  'v2.delegateAll': ['30ff3140', 'address to,bytes32 rights,bool enable'],
  'v2.delegateContract': ['d90e73ab', 'address to,address contract_,bytes32 rights,bool enable'],
  'v2.delegateERC721': ['b18e2bbb', 'address to,address contract_,uint256 tokenId,bytes32 rights,bool enable'],
  'v2.delegateERC20': ['003c2ba6', 'address to,address contract_,bytes32 rights,uint256 amount'],
  'v2.delegateERC1155': ['ab764683', 'address to,address contract_,uint256 tokenId,bytes32 rights,uint256 amount'],
  'v2.multicall': ['ac9650d8', 'bytes[] data'],
};

const rowOf = (registry: string, name: string) => FUNCTIONS[`${registry}.${name}`] as (typeof FUNCTIONS)[string];

/** The parameters of a call, such as `address to`, in order. */
export const paramsOf = ([registry, , name]: RegistryCall): string[] => rowOf(registry, name)[1].split(',');

/** What sets a delegation, such as `delegateForToken` or `delegateERC721`. Token standards are named as the kinds. */
const SETTERS: Readonly<Record<Version, string>> = { 1: 'delegateFor', 2: 'delegate' };
const SET_KINDS: Partial<Record<Kind, string>> = { ALL: 'All', CONTRACT: 'Contract', TOKEN: 'Token' };

function setterCall(key: DelegationKey, value: string | boolean): RegistryCall {
  const { version, kind, from, to, contract, tokenId, rights } = key;
  const scope = [contract, tokenId === null ? null : String(tokenId), rights].filter((one) => one !== null);
  return [`v${version}`, from, `${SETTERS[version]}${SET_KINDS[kind] ?? kind}`, [to, ...scope, value]];
}

export const grantCall = (delegation: Delegation): RegistryCall =>
  setterCall(delegation, delegation.amount === null ? true : String(delegation.amount));

export const revokeCall = (key: DelegationKey): RegistryCall => setterCall(key, KINDS[key.kind].amount ? '0' : false);

/** Encodes an argument as one 32-byte word. */
export function word(value: string | boolean): string {
  if (typeof value === 'boolean') return (value ? '1' : '0').padStart(64, '0');
  return value.startsWith('0x') ? value.slice(2).padStart(64, '0') : BigInt(value).toString(16).padStart(64, '0');
}

const numberWord = (value: number) => word(String(value));

/** Bytes of any length: their number, and the bytes themselves up to a whole word. */
export function encodeBytes(data: string): string {
  const digits = data.slice(2);
  return `${numberWord(digits.length / 2)}${digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')}`;
}

/** A single argument that is an array of elements without a fixed length. */
export function encodeArray(elements: readonly string[]): string {
  let at = 32 * elements.length;
  const offsets = elements.map((element) => {
    const offset = numberWord(at);
    at += element.length / 2;
    return offset;
  });
  return `${numberWord(32)}${numberWord(elements.length)}${offsets.join('')}${elements.join('')}`;
}

export const encodeCall = ([registry, , name, args]: RegistryCall): string =>
  `0x${rowOf(registry, name)[0]}${args.map(word).join('')}`;

/** The version of the registry that is called. */
export const versionOf = ([registry]: RegistryCall) => Number(registry.slice(1)) as Version;

/** What a wallet sends to a registry at once. */
export interface RegistryTransaction {
  readonly version: Version;
  /** Several are one multicall. */
  readonly calls: readonly RegistryCall[];
  readonly data: string;
}

type SomeCalls = readonly [RegistryCall, ...RegistryCall[]];

/** Encodes several calls of one registry as one, which makes all of them or none. */
export const encodeMulticall = (calls: SomeCalls): string =>
  `0x${rowOf(calls[0][0], 'multicall')[0]}${encodeArray(calls.map((call) => encodeBytes(encodeCall(call))))}`;

/** A single call goes as it is. */
export const encodeCalls = (calls: SomeCalls): Pick<RegistryTransaction, 'calls' | 'data'> => ({
  calls,
  data: calls.length === 1 ? encodeCall(calls[0]) : encodeMulticall(calls),
});

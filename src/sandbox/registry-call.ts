// Calls of the registries: what grants or revokes a delegation, and how calls are encoded as transaction input.

import { type Delegation, type DelegationKey, KINDS, type Kind } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';

/** A wallet's call of a registry. Addresses and rights are hex, amounts and ids are decimal. */
export type RegistryCall = readonly [
  registry: 'v1' | 'v2',
  caller: string,
  name: string,
  args: readonly (string | boolean)[],
];

const SELECTORS: Readonly<Record<string, string>> = {
  'v1.delegateForAll': '685ee3e8',
  'v1.delegateForContract': '49c95d29',
  'v1.delegateForToken': '537a5c3d',
  'v1.revokeAllDelegates': '36137872',
  'v1.revokeDelegate': 'fa352c00',
  'v1.revokeSelf': '219044b0',
  'v2.delegateAll': '30ff3140',
  'v2.delegateContract': 'd90e73ab',
  'v2.delegateERC721': 'b18e2bbb',
  'v2.delegateERC20': '003c2ba6',
  'v2.delegateERC1155': 'ab764683',
};

/** What sets a delegation, by version and kind. */
const SETTERS: Readonly<Record<Version, Partial<Record<Kind, string>>>> = {
  1: { ALL: 'delegateForAll', CONTRACT: 'delegateForContract', TOKEN: 'delegateForToken' },
  2: {
    ALL: 'delegateAll',
    CONTRACT: 'delegateContract',
    ERC721: 'delegateERC721',
    ERC20: 'delegateERC20',
    ERC1155: 'delegateERC1155',
  },
};

function setterCall(key: DelegationKey, value: string | boolean): RegistryCall {
  const { version, kind, from, to, contract, tokenId, rights } = key;
  const scope = [contract, tokenId === null ? null : String(tokenId), rights].filter((one) => one !== null);
  return [`v${version}`, from, SETTERS[version][kind] as string, [to, ...scope, value]];
}

export const grantCall = (delegation: Delegation): RegistryCall =>
  setterCall(delegation, delegation.amount === null ? true : String(delegation.amount));

export const revokeCall = (key: DelegationKey): RegistryCall => setterCall(key, KINDS[key.kind].amount ? '0' : false);

/** Encodes an argument as one 32-byte word. */
function word(value: string | boolean): string {
  if (typeof value === 'boolean') return (value ? '1' : '0').padStart(64, '0');
  return value.startsWith('0x') ? value.slice(2).padStart(64, '0') : BigInt(value).toString(16).padStart(64, '0');
}

export const encodeCall = ([registry, , name, args]: RegistryCall): string =>
  `0x${SELECTORS[`${registry}.${name}`]}${args.map(word).join('')}`;

/** Encodes a smart account's `execute`, which makes several calls. */
export function encodeExecute(calls: readonly { to: string; data: string }[]): string {
  const number = (value: number) => value.toString(16).padStart(64, '0');
  const bodies = calls.map(({ to, data }) => {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
    return `${word(to)}${number(64)}${number(bytes.length / 2)}${padded}`;
  });
  let at = 32 * calls.length;
  const offsets = bodies.map((body) => {
    const offset = number(at);
    at += body.length / 2;
    return offset;
  });
  return `0x${EXECUTE}${number(32)}${number(calls.length)}${offsets.join('')}${bodies.join('')}`;
}

/** execute((address,bytes)[]) */
const EXECUTE = 'baae8abf';

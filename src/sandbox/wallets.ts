// The sandbox's wallets and contracts, with names. Their addresses are hashes of the names: they have no private keys.

import { keccak } from 'hash-wasm';
import type { Address } from '../registry/delegation.ts';

const addressOf = async (name: string): Promise<Address> =>
  `0x${(await keccak(`delegations sandbox: ${name}`, 256)).slice(-40)}`;

const addressesOf = async <Name extends string>(names: readonly Name[], what: string) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await addressOf(`${name}, ${what}`)])),
  ) as Record<Name, Address>;

/** The owners in the welcome text. Their delegations do not change after the start. */
const SHOWN = ['Ada', 'Ben', 'Cleo', 'Dan', 'Ella', 'Finn'] as const;
/** The owners who keep granting and revoking. */
const OTHERS = ['Gus', 'Hana', 'Ivo', 'June', 'Kim', 'Luca', 'Mina', 'Noor', 'Otis', 'Pia'] as const;

const PEOPLE = [...SHOWN, ...OTHERS];
export const COLD = await addressesOf(PEOPLE, 'cold wallet');
export const HOT = await addressesOf(PEOPLE, 'hot wallet');
/** Smart accounts. They act through a transaction of the relay. */
export const SMART = await addressesOf(['Harbour DAO', 'Guild treasury', 'Attic fund'], 'smart account');
export const OTHER = await addressesOf(['Vote agent', 'Arcade server', 'Old phone', 'Relay'], 'wallet');
export const CONTRACTS = await addressesOf(['Harbour Lights', 'Foghorns', 'Lantern', 'Tidal Cards'], 'contract');

export const ACTIVE = { cold: OTHERS.map((name) => COLD[name]), hot: OTHERS.map((name) => HOT[name]) };

const LABELS = new Map<string, string>([
  ...PEOPLE.flatMap((name): [string, string][] => [
    [COLD[name], `${name} (cold)`],
    [HOT[name], `${name} (hot)`],
  ]),
  ...[SMART, OTHER, CONTRACTS].flatMap((group) =>
    Object.entries(group).map(([name, address]): [string, string] => [address, name]),
  ),
]);

export const labelOf = (address: string): string => LABELS.get(address) ?? address;

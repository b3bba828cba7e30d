// Who lives in the sandbox: wallets with names, and the contracts that they hold things of. Nobody has their keys.

import { keccak } from 'hash-wasm';
import type { Address } from '../registry/delegation.ts';

/** The same address for the same name, every time. */
const addressOf = async (name: string): Promise<Address> =>
  `0x${(await keccak(`delegations sandbox: ${name}`, 256)).slice(-40)}`;

const addressesOf = async <Name extends string>(names: readonly Name[], what: string) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await addressOf(`${name}, ${what}`)])),
  ) as Record<Name, Address>;

/** Those whose delegations the sandbox shows: nothing happens to them after the start. */
const SHOWN = ['Ada', 'Ben', 'Cleo', 'Dan', 'Ella', 'Finn'] as const;
/** Those who go on granting and revoking. */
const OTHERS = ['Gus', 'Hana', 'Ivo', 'June', 'Kim', 'Luca', 'Mina', 'Noor', 'Otis', 'Pia'] as const;

export const PEOPLE = [...SHOWN, ...OTHERS];
export const COLD = await addressesOf(PEOPLE, 'cold wallet');
export const HOT = await addressesOf(PEOPLE, 'hot wallet');
/** Accounts that are contracts: what they do, they do through somebody else's transaction. */
export const SMART = await addressesOf(['Harbour DAO', 'Guild treasury', 'Attic fund'], 'smart account');
export const OTHER = await addressesOf(['Vote agent', 'Arcade server', 'Old phone', 'Relay', 'Stranger'], 'wallet');
export const CONTRACTS = await addressesOf(['Harbour Lights', 'Foghorns', 'Lantern', 'Tidal Cards'], 'contract');

/** Those between whom something happens every few seconds. */
export const ACTIVE = { cold: OTHERS.map((name) => COLD[name]), hot: OTHERS.map((name) => HOT[name]) };

const NAMES = new Map<string, string>([
  ...PEOPLE.flatMap((name): [string, string][] => [
    [COLD[name], `${name} (cold)`],
    [HOT[name], `${name} (hot)`],
  ]),
  ...[SMART, OTHER, CONTRACTS].flatMap((group) =>
    Object.entries(group).map(([name, of]): [string, string] => [of, name]),
  ),
]);

export const labelOf = (address: string): string => NAMES.get(address) ?? address;

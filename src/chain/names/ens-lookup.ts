// Asks ENS for the names of wallets and the addresses of names, many at once.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import type { ContractCalls } from './contract-calls.ts';
import {
  decodeAddress,
  decodeName,
  ENS_REGISTRY,
  encodeAddr,
  encodeName,
  encodeResolver,
  nodeOf,
  reverseNodeOf,
} from './ens.ts';

/** What the resolver of each node returned; null for a node without one. */
async function askResolvers(
  ens: ContractCalls,
  nodes: readonly Bytes32[],
  encode: (node: Bytes32) => string,
  deadline: number,
): Promise<(string | null)[]> {
  const resolvers = (await ens.words(ENS_REGISTRY, nodes.map(encodeResolver), deadline)).map(decodeAddress);
  return atNonNull(resolvers, (found) =>
    ens.each(
      found.map(([to, at]) => ({ to, data: encode(nodes[at] as Bytes32) })),
      deadline,
    ),
  );
}

/** The address that each name leads to, or null. */
export const readAddresses = async (ens: ContractCalls, names: readonly string[], deadline: number) =>
  (await askResolvers(ens, names.map(nodeOf), encodeAddr, deadline)).map(decodeAddress);

/** The name that each wallet says it has, if the name leads back to it. */
export async function readPrimaryNames(ens: ContractCalls, wallets: readonly Address[], deadline: number) {
  const returned = await askResolvers(ens, wallets.map(reverseNodeOf), encodeName, deadline);
  const said = await Promise.all(returned.map(decodeName));
  const back = await atNonNull(said, (found) =>
    readAddresses(
      ens,
      found.map(([name]) => name),
      deadline,
    ),
  );
  return wallets.map((wallet, at) => (back[at] === wallet ? (said[at] ?? null) : null));
}

/** The values with what the work makes of those that are there, in order. */
async function atNonNull<T, R>(
  values: readonly (T | null)[],
  work: (found: readonly (readonly [value: T, at: number])[]) => Promise<readonly (R | null)[]>,
): Promise<(R | null)[]> {
  const found = values.flatMap((value, at) => (value === null ? [] : [[value, at] as const]));
  const made = found.length === 0 ? [] : (await work(found)).values();
  const next = made[Symbol.iterator]();
  return values.map((value) => (value === null ? null : (next.next().value ?? null)));
}

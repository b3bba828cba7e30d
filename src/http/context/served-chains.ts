// Which chains and registries the service answers for.

import type { BlockChoice } from '../../api/params.ts';
import { badRequest, Problem } from '../../api/problems.ts';
import { REGISTRIES, type Registry } from '../../api/registries.ts';
import { NETWORKS } from '../../registry/network.ts';
import type { Version } from '../../registry/versions.ts';

/** Says that a chain has none of these registries; null if it has one. */
function missingRegistry(chainId: number, registry: Registry): string | null {
  const versions: readonly Version[] = REGISTRIES[registry].asks;
  const registries = NETWORKS.get(chainId)?.registries;
  return versions.some((version) => registries?.[version] !== undefined)
    ? null
    : `${chainId} has no v${versions[0]} registry`;
}

/** A block number is of one chain only. */
export function requireOneChain(block: BlockChoice | undefined, chains: number): void {
  if (chains > 1 && typeof block === 'number')
    throw badRequest([{ parameter: 'block', detail: 'must not be a number with several chains; use timestamp' }]);
}

/** The chains of a request that names several. */
export function requestedChains(
  chainId: readonly number[] | 'served',
  block: BlockChoice | undefined,
  chainIds: ReadonlySet<number>,
): readonly number[] {
  const requested = chainId === 'served' ? [...chainIds].sort((a, b) => a - b) : chainId;
  requireOneChain(block, requested.length);
  for (const one of requested) requireServed(one, 'any', chainIds);
  return requested;
}

/** Throws a problem if the chain is not served or lacks the registry. */
export function requireServed(
  chainId: number,
  registry: Registry,
  chainIds: ReadonlySet<number>,
  parameter = 'chainId',
): void {
  const detail = chainIds.has(chainId) ? missingRegistry(chainId, registry) : `${chainId} is not served here`;
  if (detail === null) return;
  const served = [...chainIds].filter((id) => missingRegistry(id, registry) === null);
  throw new Problem('unknown-chain', `${parameter} ${detail}.`, {
    fields: { errors: [{ parameter, detail }], chainIds: served.sort((a, b) => a - b) },
  });
}

/** The same of the chain of a token, and of those whose delegations count. */
export function requireAllServed(chainId: number, delegations: readonly number[], chainIds: ReadonlySet<number>): void {
  requireServed(chainId, 'any', chainIds);
  for (const one of delegations) requireServed(one, 'any', chainIds, 'delegationChainId');
}

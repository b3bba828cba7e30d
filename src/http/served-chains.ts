// Which chains and registries the service answers for.

import type { BlockChoice } from '../api/params.ts';
import { badRequest, Problem } from '../api/problems.ts';
import { REGISTRIES, type Registry } from '../api/registries.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';

/** Says that a chain has no registry of this version; null if it has one. */
export const missingRegistry = (chainId: number, version: Version): string | null =>
  NETWORKS.get(chainId)?.registries[version] === undefined ? `${chainId} has no v${version} registry` : null;

/** The chains of a request that names several. A block number is of one chain only. */
export function requestedChains(
  chainId: readonly number[] | 'served',
  block: BlockChoice | undefined,
  chainIds: ReadonlySet<number>,
): readonly number[] {
  const requested = chainId === 'served' ? [...chainIds].sort((a, b) => a - b) : chainId;
  if (requested.length !== 1 && typeof block === 'number')
    throw badRequest([{ parameter: 'block', detail: 'must not be a number with several chains; use timestamp' }]);
  for (const one of requested) requireServed(one, 'any', chainIds);
  return requested;
}

/** Throws a problem if the chain is not served or lacks the registry. */
export function requireServed(chainId: number, registry: Registry, chainIds: ReadonlySet<number>): void {
  const versions: readonly Version[] = REGISTRIES[registry].asks;
  const missing = (id: number) => {
    const reasons = versions.map((version) => missingRegistry(id, version));
    return reasons.includes(null) ? null : reasons[0];
  };
  const detail = chainIds.has(chainId) ? missing(chainId) : `${chainId} is not served here`;
  if (detail == null) return;
  const served = [...chainIds].filter((id) => missing(id) === null);
  throw new Problem('unknown-chain', `chainId ${detail}.`, {
    fields: { errors: [{ parameter: 'chainId', detail }], chainIds: served.sort((a, b) => a - b) },
  });
}

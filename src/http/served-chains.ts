// Which chains and registries the service answers for.

import { Problem } from '../api/problems.ts';
import { REGISTRIES, type Registry } from '../api/registries.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';

/** Says that a chain has none of these registries; null if it has one. */
export function missingRegistry(chainId: number, registry: Registry): string | null {
  const versions: readonly Version[] = REGISTRIES[registry].asks;
  const registries = NETWORKS.get(chainId)?.registries;
  return versions.some((version) => registries?.[version] !== undefined)
    ? null
    : `${chainId} has no v${versions[0]} registry`;
}

/** Throws a problem if the chain is not served or lacks the registry. */
export function requireServed(chainId: number, registry: Registry, chainIds: ReadonlySet<number>): void {
  const detail = chainIds.has(chainId) ? missingRegistry(chainId, registry) : `${chainId} is not served here`;
  if (detail === null) return;
  const served = [...chainIds].filter((id) => missingRegistry(id, registry) === null);
  throw new Problem('unknown-chain', `chainId ${detail}.`, {
    fields: { errors: [{ parameter: 'chainId', detail }], chainIds: served.sort((a, b) => a - b) },
  });
}

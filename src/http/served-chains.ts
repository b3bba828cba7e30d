// Which chains and registries the service answers for.

import { Problem } from '../api/problems.ts';
import { REGISTRIES, type Registry } from '../api/registries.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';

/** Says that a chain has no registry of this version; null if it has one. */
export const missingRegistry = (chainId: number, version: Version): string | null =>
  NETWORKS.get(chainId)?.registries[version] === undefined ? `${chainId} has no v${version} registry` : null;

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

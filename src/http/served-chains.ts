// Which chains and registries the service answers for.

import { Problem } from '../api/problems.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';

/** Says that a chain has no registry of this version; null if it has one. */
export const missingRegistry = (chainId: number, version: Version): string | null =>
  NETWORKS.get(chainId)?.registries[version] === undefined ? `${chainId} has no v${version} registry` : null;

/** Throws a problem if the chain is not served or has no registry of this version. */
export function requireServed(chainId: number, version: Version, chainIds: ReadonlySet<number>): void {
  const detail = chainIds.has(chainId) ? missingRegistry(chainId, version) : `${chainId} is not served here`;
  if (detail === null) return;
  const served = [...chainIds].filter((id) => missingRegistry(id, version) === null);
  throw new Problem('unknown-chain', `chainId ${detail}.`, {
    fields: { errors: [{ parameter: 'chainId', detail }], chainIds: served.sort((a, b) => a - b) },
  });
}

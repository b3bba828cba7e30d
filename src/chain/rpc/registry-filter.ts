// The `eth_getLogs` filter for a network's registries.

import { eventTopics } from '../../registry/event.ts';
import type { Network } from '../../registry/network.ts';
import { ALL_VERSIONS } from '../../registry/versions.ts';
import type { LogFilter } from './node.ts';

export function registryFilter({ registries }: Network): LogFilter {
  const deployed = ALL_VERSIONS.filter((version) => registries[version] !== undefined);
  return { address: deployed.flatMap((version) => registries[version] ?? []), topics: [deployed.flatMap(eventTopics)] };
}

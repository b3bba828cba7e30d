// The `eth_getLogs` filter for a network's registries.

import { eventTopics } from '../registry/event.ts';
import type { Network } from '../registry/network.ts';
import type { LogFilter } from './node.ts';

export function registryFilter({ registries }: Network): LogFilter {
  const address = [registries[1], registries[2]].filter((one) => one !== undefined);
  return { address, topics: [[...(registries[1] ? eventTopics(1) : []), ...eventTopics(2)]] };
}

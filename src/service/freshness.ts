// The clocks and limits that a process judges the freshness of its chains by.

import { createSightings } from '../http/context/freshness.ts';
import type { Service } from '../http/context/service.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Config } from './config.ts';

/** The wall clock, a monotonic record of when each chain moved, and the maximum lag set by the operator or the network. */
export const createFreshness = ({ maxLag }: Pick<Config, 'maxLag'>): Pick<Service, 'now' | 'maxLag' | 'sightings'> => ({
  now: () => Date.now() / 1000,
  sightings: createSightings(),
  maxLag: (chainId) => maxLag.get(chainId) ?? NETWORKS.get(chainId)?.maxLagSeconds ?? 0,
});

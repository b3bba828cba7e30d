// Decodes a provider's log into a registry event.

import { decodeEvent, type RegistryEvent } from '../../registry/event.ts';
import { type Network, registryAt } from '../../registry/network.ts';
import type { NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

/** Comparing providers decodes the same log many times. */
const cache = new WeakMap<NodeLog, RegistryEvent>();

export function decodeLog(network: Network, log: NodeLog): RegistryEvent {
  let event = cache.get(log);
  if (event === undefined) {
    const version = registryAt(network, log.address);
    if (version === null) throw new RpcError('malformed', `a log of ${log.address}, which is not a registry`);
    event = decodeEvent(version, log);
    cache.set(log, event);
  }
  return event;
}

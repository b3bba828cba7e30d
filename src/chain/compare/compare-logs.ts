// Compares logs by their events and order. Log indexes are ignored, because nodes number logs differently.

import type { RegistryEvent } from '../../registry/event.ts';
import type { Network } from '../../registry/network.ts';
import type { LogRecord } from '../../store/store.ts';
import { decodeLog } from '../rpc/decode-log.ts';
import type { NodeLog } from '../rpc/node.ts';

/** Equal for equal events. */
export function eventKey(event: RegistryEvent): string {
  let key = cache.get(event);
  if (key === undefined) {
    key = keyText(event);
    cache.set(event, key);
  }
  return key;
}
const cache = new WeakMap<RegistryEvent, string>();

function keyText(event: RegistryEvent): string {
  if (!('delegation' in event)) return `${event.type} ${event.from} ${'to' in event ? event.to : ''}`;
  const { version, kind, from, to, contract, tokenId, rights } = event.delegation;
  const amount = event.type === 'granted' ? event.delegation.amount : '';
  return `${event.type} ${version} ${kind} ${from} ${to} ${contract} ${tokenId} ${rights} ${amount}`;
}

/** Throws if a log cannot be decoded. */
export const eventKeys = (network: Network, logs: readonly (NodeLog | LogRecord)[]): string[] =>
  logs.map((log) => eventKey('event' in log ? log.event : decodeLog(network, log)));

export const isEqual = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((key, position) => key === b[position]);

/** The keys that `others` does not have. A key that occurs n times must be there n times. */
export function missingFrom(others: readonly string[], keys: readonly string[]): string[] {
  const left = [...others];
  return keys.filter((key) => {
    const at = left.indexOf(key);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

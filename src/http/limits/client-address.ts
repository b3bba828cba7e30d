// Finds the client's address: the peer's, or the one that trusted proxies report.

import { BlockList, isIP } from 'node:net';
import { parseCidr } from '../../webhooks/networks.ts';

/** The networks of proxies whose X-Forwarded-For is trusted. */
export type TrustedProxies = Pick<BlockList, 'check'>;

/** Parses a list such as 10.0.0.0/8, 2001:db8::/32, 192.0.2.1; null if it is invalid. */
export function readProxies(text: string): TrustedProxies | null {
  const networks = new BlockList();
  for (const part of text.split(',').map((one) => one.trim())) {
    const cidr = part === '' ? undefined : parseCidr(part);
    if (cidr === null) return null;
    if (cidr !== undefined) networks.addSubnet(cidr.address, cidr.prefix, `ipv${cidr.version}`);
  }
  return networks;
}

const MAPPED = /^(?:0*:)*:?ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;
/** Some proxies add the port. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([0-9a-f:.]+)\](?::\d+)?)$/i;

/** Strips the port and unwraps IPv4-mapped IPv6; null if it is not an address. */
function normalizeAddress(text: string): string | null {
  if (isIP(text) === 4) return text;
  const [, four, six] = WITH_PORT.exec(text) ?? [];
  const address = four ?? six ?? text;
  if (isIP(address) === 0) return null;
  const [, dotted, high, low] = MAPPED.exec(address) ?? [];
  if (high === undefined || low === undefined) return dotted ?? address;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
}

const isTrusted = (address: string, proxies: TrustedProxies) =>
  proxies.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/**
 * The rate limit key of a client. Behind trusted proxies, it is the last address in `X-Forwarded-For` that is not a trusted
 * proxy: the caller can forge everything to its left.
 */
export function clientAddress(socket: string, forwarded: string | null, proxies: TrustedProxies): string {
  let client = normalizeAddress(socket);
  if (client === null) return 'unknown';
  for (const entry of (forwarded ?? '').split(',').reverse()) {
    if (!isTrusted(client, proxies)) break;
    const before = normalizeAddress(entry.trim());
    if (before === null) break;
    client = before;
  }
  return isIP(client) === 4 ? client : networkOf(client);
}

/** The /48 of a client that is a /64; null for others. */
export function widerPrefix(client: string): string | null {
  if (!client.endsWith('::/64')) return null;
  const end = client.length - '::/64'.length;
  return `${client.slice(0, client.lastIndexOf(':', end - 1))}::/48`;
}

/** The /64 of an IPv6 address: one client usually owns all of it. */
function networkOf(address: string): string {
  const [left = '', right] = (address.split('%')[0] ?? '').split('::');
  const groups = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  // A dotted IPv4 tail counts as two groups.
  const width = (list: readonly string[]) => list.length + (list.at(-1)?.includes('.') ? 1 : 0);
  const zeros = right === undefined ? 0 : 8 - width(groups) - width(after);
  const all = [...groups, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

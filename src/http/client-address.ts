// Who is asking: the address of the socket, or what a trusted proxy says that it was.

import { BlockList, isIP } from 'node:net';

/** The networks of proxies whose word counts. */
export type TrustedProxies = Pick<BlockList, 'check'>;

/** From a list such as 10.0.0.0/8, 2001:db8::/32, 192.0.2.1; null where it is none. */
export function readProxies(text: string): TrustedProxies | null {
  const networks = new BlockList();
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [address = '', prefix, ...rest] = part.split('/');
    const version = isIP(address);
    const bits = version === 4 ? 32 : 128;
    if (version === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return null;
    if (Number(prefix ?? bits) > bits) return null;
    networks.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

const MAPPED = /^(?:0*:)*:?ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;
/** Some proxies write the port as well. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([0-9a-f:.]+)\](?::\d+)?)$/i;

/** IPv4 in its own form also where it comes as IPv6; null for what is no address. */
function plain(text: string): string | null {
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
 * What stands for the caller. Behind trusted proxies it is the last address of `X-Forwarded-For` that is not one of theirs:
 * what stands left of it, the caller may have made up.
 */
export function clientAddress(socket: string, forwarded: string | null, proxies: TrustedProxies): string {
  let client = plain(socket);
  if (client === null) return 'unknown';
  for (const entry of (forwarded ?? '').split(',').reverse()) {
    if (!isTrusted(client, proxies)) break;
    const before = plain(entry.trim());
    if (before === null) break;
    client = before;
  }
  return isIP(client) === 4 ? client : networkOf(client);
}

/** Of an IPv6 address the first 64 bits: whoever has one of them has them all. */
function networkOf(address: string): string {
  const [left = '', right] = (address.split('%')[0] ?? '').split('::');
  const groups = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  // An IPv4 tail stands for two groups.
  const width = (list: readonly string[]) => list.length + (list.at(-1)?.includes('.') ? 1 : 0);
  const zeros = right === undefined ? 0 : 8 - width(groups) - width(after);
  const all = [...groups, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

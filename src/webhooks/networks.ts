// Decides which addresses a webhook may connect to: public unicast addresses, and the networks that the operator allows.

import { BlockList, isIP } from 'node:net';

/** The networks of WEBHOOK_NETWORKS. */
export interface Networks {
  readonly v4: BlockList;
  readonly v6: BlockList;
}

/** Networks that can be allowed by name. */
const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
]);

export const NETWORKS_RULE = `a comma-separated list of CIDR networks and the names ${[...NAMED.keys()].join(', ')}`;

/** Not public, by IANA's registries of special-purpose addresses. */
const SPECIAL_V4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform services, which its machines reach at this public address
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/** All public unicast addresses are in it. Mapped, translated (64:ff9b::), unique-local and link-local addresses are not. */
const UNICAST_V6 = ['2000::/3'];
const SPECIAL_V6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
];

/** Null if it is not a network. An address counts as a network of one. */
export function parseCidr(text: string): { address: string; prefix: number; version: 4 | 6 } | null {
  const [, address = '', digits] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = Number(digits ?? bits);
  return prefix <= bits ? { address, prefix, version } : null;
}

/** Null if one of them is invalid. */
function readNetworks(texts: readonly string[]): Networks | null {
  const networks = { v4: new BlockList(), v6: new BlockList() };
  for (const text of texts) {
    const cidr = parseCidr(text);
    if (cidr === null) return null;
    const { address, prefix, version } = cidr;
    networks[`v${version}`].addSubnet(address, prefix, `ipv${version}`);
  }
  return networks;
}

/** Parses a list such as `loopback, 10.20.0.0/16`; null if it is invalid. */
export function parseNetworks(text: string): Networks | null {
  const parts = text.split(',').map((one) => one.trim().toLowerCase());
  return readNetworks(parts.filter((one) => one !== '').flatMap((one) => NAMED.get(one) ?? [one]));
}

const [SPECIAL, UNICAST] = [[...SPECIAL_V4, ...SPECIAL_V6], UNICAST_V6].map(readNetworks) as [Networks, Networks];

/**
 * Expects an address as the resolver or the URL parser returns it. An address with a zone is never allowed. IPv4 addresses inside
 * IPv6 addresses are not unwrapped: they are allowed only if the operator lists that IPv6 network.
 */
export function isAllowedAddress(address: string, { v4, v6 }: Networks): boolean {
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return v4.check(address, 'ipv4') || !SPECIAL.v4.check(address, 'ipv4');
    case 6:
      return v6.check(address, 'ipv6') || (UNICAST.v6.check(address, 'ipv6') && !SPECIAL.v6.check(address, 'ipv6'));
    default:
      return false;
  }
}

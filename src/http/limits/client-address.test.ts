// The client's address behind proxies.

import { describe, expect, test } from 'bun:test';
import { clientAddress, readProxies, type TrustedProxies } from './client-address.ts';

const proxies = readProxies('10.0.0.0/8, 2001:db8::/32, 127.0.0.1') as TrustedProxies;

describe('the client address', () => {
  test.each([
    ['the socket, where there is no proxy', '203.0.113.9', null, '203.0.113.9'],
    ['what a peer that nobody trusts says changes nothing', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['behind a trusted proxy, whom it names', '10.1.1.1', '198.51.100.1', '198.51.100.1'],
    [
      'the last one that is not trusted: what is left of it may be made up',
      '127.0.0.1',
      '1.1.1.1, 198.51.100.1, 10.2.2.2',
      '198.51.100.1',
    ],
    ['the proxy itself, where it names nobody', '10.1.1.1', null, '10.1.1.1'],
    ['the proxy itself, where it names nonsense', '10.1.1.1', 'unknown, <script>', '10.1.1.1'],
    ['IPv4 that comes as IPv6', '::ffff:203.0.113.9', null, '203.0.113.9'],
    ['a trusted proxy that comes as IPv6', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['the address alone, where the proxy names the port too', '10.1.1.1', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 in brackets with a port', '10.1.1.1', '[2a00:1:2:3::9]:99', '2a00:1:2:3::/64'],
    ['IPv4 that comes as IPv6 in hex', '::ffff:c633:64c9', null, '198.51.100.201'],
    ['IPv6 by its network', '2a00:1450:4001:82a::200e', null, '2a00:1450:4001:82a::/64'],
    ['IPv6 with zeros in the middle', '2a00::1', null, '2a00:0:0:0::/64'],
    ['IPv6 with few zeros', '2a00::4:5:6:7:8', null, '2a00:0:0:4::/64'],
    ['IPv6 with a dotted end', '2a00::5:6:7:192.0.2.1', null, '2a00:0:0:5::/64'],
    ['IPv6 behind a proxy', '2001:db8::1', '2a00:1:2:3:4:5:6:7', '2a00:1:2:3::/64'],
    ['a socket without an address', '', '198.51.100.1', 'unknown'],
  ])('is %s', (_, socket, forwarded, client) => {
    expect(clientAddress(socket, forwarded, proxies)).toBe(client);
  });

  test('a list of proxies is parsed or rejected', () => {
    for (const good of ['', '10.0.0.0/8', '::1', '192.0.2.1, 2001:db8::/32']) expect(readProxies(good)).not.toBeNull();
    for (const bad of ['10.0.0.0/33', 'example.org', '10.0.0.0/8/8', '::1/129', '10.0.0.0/-1'])
      expect(readProxies(bad)).toBeNull();
  });
});

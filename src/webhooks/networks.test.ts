import { describe, expect, test } from 'bun:test';
import { isAllowedAddress, type Networks, parseNetworks } from './networks.ts';

const NONE = parseNetworks('') as Networks;

/** Each range with its first and last address, and the public neighbours where there are some. */
const REFUSED: readonly (readonly [what: string, inside: readonly string[], outside: readonly string[]])[] = [
  ['unspecified, this network', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['private 10/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255', '100.100.100.200'], ['100.63.255.255', '100.128.0.0']],
  ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ["Azure's platform", ['168.63.129.16'], ['168.63.129.15', '168.63.129.17']],
  ['link-local', ['169.254.0.0', '169.254.169.254', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['private 172.16/12', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['protocol assignments', ['192.0.0.0', '192.0.0.192', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['documentation 1', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
  ['6to4 relays', ['192.88.99.0', '192.88.99.255'], ['192.88.98.255', '192.88.100.0']],
  ['private 192.168/16', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['benchmarks', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['documentation 2', ['198.51.100.0', '198.51.100.255'], ['198.51.99.255', '198.51.101.0']],
  ['documentation 3', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
  ['multicast', ['224.0.0.0', '239.255.255.255'], ['223.255.255.255']],
  ['reserved, broadcast', ['240.0.0.0', '255.255.255.255'], []],
  ['unspecified and loopback v6', ['::', '::1', '0:0:0:0:0:0:0:1'], []],
  ['IPv4-compatible', ['::127.0.0.1', '::8.8.8.8', '::808:808'], []],
  ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:0a00:0001'], []],
  ['IPv4-translated', ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'], []],
  ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::10.0.0.1'], []],
  ['discard', ['100::', '100::ffff:ffff:ffff:ffff'], []],
  ['Teredo', ['2001::', '2001:0:ffff:ffff::1', '2001:0:53aa:64c:0:1234:f5ff:fffe'], []],
  ['benchmarks v6', ['2001:2::', '2001:2:0:ffff::1'], []],
  ['ORCHID', ['2001:10::1', '2001:20::1', '2001:1ff:ffff::1'], ['2001:200::1']],
  ['documentation v6', ['2001:db8::', '2001:db8:ffff::1'], ['2001:db7:ffff::1', '2001:db9::1']],
  ['6to4', ['2002::', '2002:7f00:1::1', '2002:ffff:ffff::1'], ['2001:ffff::1', '2003::1']],
  ['documentation 3fff', ['3fff::', '3fff:fff:ffff::1'], ['3ffe:ffff::1', '3fff:1000::1']],
  ['segment routing', ['5f00::1'], ['2a00:1450::1']],
  ['unassigned', ['1fff:ffff::1', '4000::1'], ['2606:4700::1111']],
  ['unique-local', ['fc00::', 'fd00:ec2::254', 'fdff:ffff::1'], []],
  ['link-local v6', ['fe80::1', 'febf:ffff::1'], []],
  ['site-local', ['fec0::1'], []],
  ['multicast v6', ['ff00::', 'ff02::1', 'ffff::1'], []],
  ['zone ids', ['fe80::1%eth0', '2a00:1450::1%1', '::1%lo'], []],
  ['no addresses', ['', 'localhost', '127.1', '0177.0.0.1', '2130706433', '8.8.8.8 ', '[2a00:1450::1]'], []],
];

describe.each(REFUSED)('%s', (_, inside, outside) => {
  for (const address of inside)
    test(`${address} is refused`, () => expect(isAllowedAddress(address, NONE)).toBe(false));
  for (const address of outside)
    test(`${address} is allowed`, () => expect(isAllowedAddress(address, NONE)).toBe(true));
});

describe('WEBHOOK_NETWORKS', () => {
  const isAllowed = (text: string, address: string) => isAllowedAddress(address, parseNetworks(text) as Networks);

  test.each([
    ['loopback', '127.8.8.8', '10.0.0.1'],
    ['loopback', '::1', '::2'],
    ['private', '10.1.2.3', '127.0.0.1'],
    ['private', 'fd12::1', 'fe80::1'],
    ['link-local', '169.254.169.254', '10.0.0.1'],
    ['link-local', 'fe80::1', 'fe80::1%eth0'],
    ['10.20.0.0/16', '10.20.255.255', '10.21.0.0'],
    ['fd00:1::/32', 'fd00:1::9', 'fd00:2::9'],
    ['192.168.7.9', '192.168.7.9', '192.168.7.10'],
    [' Loopback , 10.0.0.0/8 ', '10.0.0.1', '172.16.0.1'],
  ])('%s allows %s and not %s', (text, inside, outside) => {
    expect(isAllowed(text, inside)).toBe(true);
    expect(isAllowed(text, outside)).toBe(false);
    expect(isAllowed(text, '8.8.8.8')).toBe(true);
  });

  test('an allowed IPv4 network does not allow its addresses inside IPv6 addresses', () => {
    for (const address of ['::ffff:127.0.0.1', '::127.0.0.1', '2002:7f00:1::', '64:ff9b::7f00:1'])
      expect(isAllowed('loopback,private,link-local', address)).toBe(false);
  });

  test.each([
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0/8',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
    'constructor',
  ])('%s is invalid', (text) => expect(parseNetworks(text)).toBeNull());
});

import { describe, expect, test } from 'bun:test';
import { Fault } from '../api/params.ts';
import { type Networks, parseNetworks } from './networks.ts';
import { readTarget } from './target.ts';

const PUBLIC = { networks: parseNetworks('') as Networks, allowsHttp: false };
const SANDBOX = { networks: parseNetworks('loopback,private') as Networks, allowsHttp: true };
const readText = (text: string, rules = PUBLIC) => {
  const target = readTarget(text, rules);
  return target instanceof Fault ? target.detail : target.href;
};

describe('refused as not public', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://0X7F.0x0.0x0.0x1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://00000177.0.0.01/',
    'https://127.0.0.1./',
    'https://127.0.0.1:8443/',
    'https://%31%32%37.0.0.1/',
    'https://127%2e0%2e0%2e1/',
    'https:127.0.0.1',
    'https:\\\\127.0.0.1\\',
    'https://0/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://167772161/',
    'https://012.1/',
    'https://172.16.0.1/',
    'https://192.168.0.1/',
    'https://0xc0.0xa8.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://0251.0376.0251.0376/',
    'https://168.63.129.16/',
    'https://100.100.100.200/',
    'https://192.0.0.192/',
    'https://198.18.0.1/',
    'https://203.0.113.7/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:53aa:64c::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
  ])('%s', (text) => expect(readText(text)).toBe('must be at a public address'));
});

describe('refused', () => {
  test.each([
    ['http://example.com/', 'must be a URL with https, such as https://example.com/webhook'],
    ['ftp://example.com/', 'must be a URL with https'],
    ['file:///etc/passwd', 'must be a URL with https'],
    ['gopher://example.com/', 'must be a URL with https'],
    ['javascript:alert(1)', 'must be a URL with https'],
    ['example.com', 'must be a URL with https'],
    ['/webhook', 'must be a URL with https'],
    ['', 'must be a URL with https'],
    ['https://', 'must be a URL with https'],
    ['https://[fe80::1%25eth0]/', 'must be a URL with https'],
    ['https://[fe80::1%eth0]/', 'must be a URL with https'],
    ['https://256.1.1.1/', 'must be a URL with https'],
    ['https://1.2.3.4.5/', 'must be a URL with https'],
    ['https://①②⑦.0.0.1/', 'must not contain spaces'],
    ['https://127。0。0。1/', 'must not contain spaces'],
    ['https://example.com/a b', 'must not contain spaces'],
    ['https://example.com/\r\nhost: x', 'must not contain spaces'],
    ['https://exa\tmple.com/', 'must not contain spaces'],
    ['https://user@example.com/', 'must not contain a user name'],
    ['https://:secret@example.com/', 'must not contain a user name'],
    ['https://8.8.8.8@127.0.0.1/', 'must not contain a user name'],
    ['https://example.com/#part', 'must not contain a fragment'],
    ['https://example.com/#', 'must not contain a fragment'],
    ['https://example.com:0/', 'must not have port 0'],
    [`https://example.com/${'a'.repeat(2048)}`, 'must have at most 2048 characters'],
  ])('%j', (text, detail) => expect(readText(text)).toStartWith(detail));
});

test.each([
  'https://example.com/',
  'https://example.com:8443/webhook?token=a%20b',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  // A name is checked when a delivery connects.
  'https://localhost/',
])('%s is allowed', (text) => expect(readText(text)).toBe(text));

test('rules can allow http and networks', () => {
  for (const text of [
    'http://example.com/',
    'http://127.0.0.1:3000/webhook',
    'https://10.0.0.1/',
    'http://[::1]:3000/',
  ])
    expect(readText(text, SANDBOX)).toBe(text);
  expect(readText('http://169.254.169.254/', SANDBOX)).toBe('must be at a public address');
  expect(readText('ftp://127.0.0.1/', SANDBOX)).toStartWith('must be a URL with https or http');
});

import { expect, test } from 'bun:test';
import { acceptsGzip } from './request-headers.ts';

test.each([
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, GZIP;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=x', false],
  ['br', false],
  ['identity', false],
  ['*', false],
  ['', false],
])('Accept-Encoding: %s', (value, accepts) => {
  expect(acceptsGzip(new Request('http://localhost', { headers: { 'accept-encoding': value } }))).toBe(accepts);
});

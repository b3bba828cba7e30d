import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockedPackage, requireIntegrity } from './install-native.ts';

const LOCK = readFileSync(join(import.meta.dir, '../../package-lock.json'), 'utf8');
const NAME = '@nomicfoundation/edr-linux-x64-gnu';

test('the lock file has version and integrity of the native package for every platform', () => {
  for (const platform of ['linux-x64-gnu', 'linux-arm64-gnu', 'darwin-x64', 'darwin-arm64'])
    expect(lockedPackage(LOCK, `@nomicfoundation/edr-${platform}`)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
    });
  expect(() => lockedPackage(LOCK, '@nomicfoundation/edr-plan9')).toThrow('does not have @nomicfoundation/edr-plan9');
});

test('a package with other bytes than the lock file names is not installed', () => {
  const bytes = new TextEncoder().encode('package');
  const integrity = 'sha512-4tN1B1Bh0Zc3Cwxkyx4Tr0w8pPFJ5uELhd6qXcQ8kS0eOqcO3tA6Kyy6wY3dSdJpYkXyJzr0mQnbDTuVyKzEhA==';
  expect(() => requireIntegrity(NAME, bytes, integrity)).toThrow('Nothing was installed');
  const own = `sha512-${new Bun.CryptoHasher('sha512').update(bytes).digest('base64')}`;
  expect(() => requireIntegrity(NAME, bytes, own)).not.toThrow();
});

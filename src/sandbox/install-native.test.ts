import { expect, test } from 'bun:test';
import packages from '../../package.json' with { type: 'json' };
import { nativePackage, requireIntegrity } from './install-native.ts';
import { integrity, version } from './native-packages.json' with { type: 'json' };

const PLATFORMS = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
] as const;

test('every platform of the sandbox has a native package, which npm installs where it can', async () => {
  const lock = (await Bun.file(`${import.meta.dir}/../../package-lock.json`).json()) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const names = PLATFORMS.map(([platform, arch]) => nativePackage(platform, arch));
  expect(Object.keys(integrity).sort()).toEqual([...names].sort());
  for (const name of names) {
    expect(packages.optionalDependencies).toHaveProperty([name], version);
    expect(lock.packages[`node_modules/${name}`]).toMatchObject({
      version,
      integrity: integrity[name as keyof typeof integrity],
    });
  }
});

test('another platform is named, with those that the sandbox runs on', () => {
  expect(() => nativePackage('freebsd', 'x64')).toThrow('does not run on freebsd x64, only on Linux (glibc) and macOS');
});

test('a package with other bytes is not installed', () => {
  const bytes = new TextEncoder().encode('package');
  expect(() => requireIntegrity('@nomicfoundation/edr-linux-x64-gnu', bytes)).toThrow('Nothing was installed');
});

// The package as it is published: its size, its files, and how other projects resolve it.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type PackedClient, packClient, run } from '../../test/support/packed-client.ts';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dir, '../..');
const MAX_BYTES = 6500;
/** With Keccak. */
const MAX_VERIFIER_BYTES = 9000;

let client: PackedClient;
beforeAll(() => {
  client = packClient();
});

const bundledSize = async (file: string, external: string[] = []) => {
  const { outputs } = await Bun.build({
    entrypoints: [join(client.project, 'node_modules/delegations-client/dist', file)],
    minify: true,
    // What is loaded later has a file of its own.
    splitting: true,
    external,
  });
  return Bun.gzipSync(await (outputs[0] as Blob).arrayBuffer(), { level: 9 }).length;
};

describe('the package', () => {
  test('has a main entry of at most 6.5 kB, minified and compressed', async () => {
    const main = await bundledSize('index.js');
    const react = await bundledSize('react.js', ['react', '@tanstack/react-query']);
    console.log(`client: ${main} bytes; react entry: ${react} bytes; tarball: ${statSync(client.tarball).size} bytes`);
    expect(main).toBeLessThanOrEqual(MAX_BYTES);
    const verifier = await bundledSize('verify.js');
    console.log(`verify entry, with Keccak: ${verifier} bytes`);
    expect(verifier).toBeLessThanOrEqual(MAX_VERIFIER_BYTES);
  });

  test('has no dependencies, and only optional peers', () => {
    expect('dependencies' in manifest).toBe(false);
    expect(Object.keys(manifest.peerDependencies)).toEqual(Object.keys(manifest.peerDependenciesMeta));
  });

  test('imports nothing but its peers, each in its own entry', () => {
    const modules = (file: string) =>
      [...readFileSync(join(client.folder, 'dist', file), 'utf8').matchAll(/(?:from|import) '([^.'][^']*)'/g)].map(
        ([, name]) => name,
      );
    const files = run(client.folder, 'ls', 'dist').split('\n').filter(Boolean);
    const importing = files.map((file) => [file, modules(file)] as const).filter(([, names]) => names.length > 0);
    expect(Object.fromEntries(importing)).toEqual({
      'react.js': ['@tanstack/react-query', 'react'],
      'react.d.ts': ['react'],
      'viem.d.ts': ['viem'],
    });
  });

  test('has no tests and no sources of the server', () => {
    const files = run(client.folder, 'tar', 'tzf', client.tarball).split('\n').filter(Boolean);
    expect(
      files.filter((name) => !/^package\/(dist\/[\w-]+(\.d\.ts|\.js)|README\.md|LICENSE|package\.json)$/.test(name)),
    ).toEqual([]);
  });

  test('has the version of the server', async () => {
    expect(manifest.version).toBe((await Bun.file(join(ROOT, 'package.json')).json()).version);
  });

  test('is clean for publint', () => {
    const output = run(ROOT, 'node', 'node_modules/publint/src/cli.js', client.folder, '--strict', '--pack', 'npm');
    expect(output).toContain('All good');
  });

  test('resolves with its types for ES modules and bundlers (attw)', () => {
    const attw = 'node_modules/@arethetypeswrong/cli/dist/index.js';
    // Fails if a kind of importer that is not ignored does not get both.
    const output = run(ROOT, 'node', attw, client.tarball, '--profile', 'esm-only', '--no-emoji');
    expect(output.match(/^node16 \(from ESM\): OK \(ESM\)$/gm)).toHaveLength(4);
  });
});

// What a release consists of, and the workflows that publish it.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { name, scripts, version } from '../../package.json' with { type: 'json' };
import { temporaryPath } from '../../test/support/engines.ts';
import { type BunPackage, PLATFORMS } from './executables.ts';
import { notesOf } from './notes.ts';
import { buildRelease } from './run.ts';
import { run } from './run-command.ts';
import { sbomOf } from './sbom.ts';
import { agreedVersion, VERSIONED_FILES } from './versions.ts';

const ROOT = join(import.meta.dir, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('versions', () => {
  test('agree', () => {
    expect(agreedVersion(textOf)).toBe(version);
    expect(VERSIONED_FILES.length).toBeGreaterThan(5);
  });

  for (const path of VERSIONED_FILES.slice(1))
    test(`another one in ${path} is an error that names it`, () => {
      const changed = (one: string) => (one === path ? textOf(one).replaceAll(version, '9.8.7') : textOf(one));
      expect(() => agreedVersion(changed)).toThrow(`${path} has 9.8.7`);
    });

  test('a file without one is an error', () => {
    expect(() => agreedVersion((path) => (path === 'openapi.json' ? '{}' : textOf(path)))).toThrow(
      'openapi.json has no version',
    );
  });
});

describe('the notes', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.0 (2026-01-02)\n\n- Old.\n\n## 1.2.0-rc.1\n\n- Older.\n';

  test('are the section of the version', () => {
    expect(notesOf(changelog, '1.2.0', false)).toBe('- Old.');
    expect(notesOf(changelog, '1.2.0-rc.1', false)).toBe('- Older.');
  });

  test('of a version without a section are those that are not released yet, in a dry run only', () => {
    expect(notesOf(changelog, '1.3.0', true)).toBe('- New.');
    expect(() => notesOf(changelog, '1.3.0', false)).toThrow('CHANGELOG.md has no notes for 1.3.0');
  });
});

test('the bill of materials has every package that runs, Bun included, and no development dependency', () => {
  const text = sbomOf(textOf('package-lock.json'));
  expect(sbomOf(textOf('package-lock.json'))).toBe(text);
  const { bomFormat, specVersion, metadata, components } = JSON.parse(text) as {
    bomFormat: string;
    specVersion: string;
    metadata: { component: object };
    components: { name: string; purl: string; 'bom-ref': string; hashes: { alg: string; content: string }[] }[];
  };
  expect([bomFormat, specVersion]).toEqual(['CycloneDX', '1.6']);
  expect(metadata.component).toMatchObject({ name, version, purl: `pkg:npm/${name}@${version}` });
  const names = components.map((one) => one.name);
  for (const needed of [
    'viem',
    'hash-wasm',
    'standardwebhooks',
    '@modelcontextprotocol/server',
    ...Object.keys(PLATFORMS),
  ])
    expect(names).toContain(needed);
  for (const unneeded of ['bun', 'typescript', '@biomejs/biome', 'solc', 'delegations-client'])
    expect(names).not.toContain(unneeded);
  expect(new Set(components.map((one) => one['bom-ref'])).size).toBe(components.length);
  for (const { hashes } of components) expect(hashes[0]?.content).toMatch(/^[0-9a-f]{128}$/);
});

describe('a release', () => {
  const folder = temporaryPath('release');
  /** This machine's, and one of another format. `npm run release` builds all of them. */
  const own = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}` as BunPackage;
  const foreign: BunPackage = '@oven/bun-darwin-aarch64';
  const executableOf = (platform: BunPackage) => join(folder, `delegations-${version}-${PLATFORMS[platform]}`);
  beforeAll(async () => buildRelease({ folder, isDryRun: true, platforms: [own, foreign] }), 240_000);

  test('has the packages, the executables, notes and bill of materials, with checksums', () => {
    const files = readdirSync(folder).sort();
    expect(files).toEqual(
      [
        'SHA256SUMS',
        `delegations-${version}-${PLATFORMS[own]}`,
        `delegations-${version}-${PLATFORMS[foreign]}`,
        `delegations-${version}.cdx.json`,
        `delegations-${version}.tgz`,
        `delegations-client-${version}.tgz`,
        'notes.md',
      ].sort(),
    );
    const checked = run(folder, 'sha256sum', '--check', '--strict', 'SHA256SUMS').trim().split('\n');
    expect(checked.sort()).toEqual(
      files
        .filter((file) => file !== 'SHA256SUMS')
        .map((file) => `${file}: OK`)
        .sort(),
    );
  });

  test('has an executable that runs here, and one for macOS', () => {
    expect(run(folder, executableOf(own), '--version').trim()).toBe(version);
    // The first bytes of a 64-bit Mach-O file and of its type for Apple silicon.
    expect(readFileSync(executableOf(foreign)).subarray(0, 8).toHex()).toBe('cffaedfe0c000001');
  });

  test('has compiled code for this platform alone: that of one platform crashes on another', () => {
    const isCompiled = (platform: BunPackage) => readFileSync(executableOf(platform)).includes('\0// @bun @bytecode\n');
    expect([isCompiled(own), isCompiled(foreign)]).toEqual([true, false]);
  });
});

describe('workflows', () => {
  interface Step {
    readonly uses?: string;
    readonly run?: string;
  }
  interface Workflow {
    readonly permissions: unknown;
    readonly jobs: Readonly<Record<string, { readonly needs?: string; readonly steps?: readonly Step[] }>>;
  }
  const files = readdirSync(join(ROOT, '.github/workflows')).sort();
  const workflows = files.map((file) => Bun.YAML.parse(textOf(`.github/workflows/${file}`)) as Workflow);
  const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);

  test('may only read unless a job needs more, and use no action of an unknown version', () => {
    expect(files).toEqual(['release.yaml', 'test.yaml']);
    for (const workflow of workflows) {
      expect(workflow.permissions).toEqual({ contents: 'read' });
      for (const { uses } of stepsOf(workflow)) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
    }
  });

  test('run scripts that exist, and put no value of an event into a shell', () => {
    const commands = workflows.flatMap(stepsOf).flatMap((step) => step.run ?? []);
    const named = commands.flatMap((text) => [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script));
    expect(named.sort()).toEqual(['image', 'release']);
    for (const script of named) expect(scripts).toHaveProperty([script as string]);
    for (const text of commands) expect(text).not.toContain('${' + '{');
  });

  test('publish only what was tested, with provenance', () => {
    const [release] = workflows as [Workflow];
    expect(release.jobs['build']?.needs).toBe('test');
    expect(release.jobs['image']?.needs).toBe('build');
    const commands = stepsOf(release).flatMap((step) => step.run ?? []);
    for (const text of commands.filter((one) => one.includes('npm publish'))) expect(text).toContain('--provenance');
    expect(stepsOf(release).filter(({ uses }) => uses?.startsWith('actions/attest-')).length).toBe(2);
  });
});

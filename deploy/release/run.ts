// npm run release: builds everything that a release consists of into dist/release. It publishes nothing: the workflow does.
//
//   npm run release -- --dry-run      # before CHANGELOG.md has the version

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packProgram } from '../package.ts';
import { type BunPackage, buildExecutable, PLATFORMS } from './executables.ts';
import { notesOf } from './notes.ts';
import { run } from './run-command.ts';
import { sbomOf } from './sbom.ts';
import { agreedVersion } from './versions.ts';

const ROOT = join(import.meta.dir, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export interface ReleaseOptions {
  readonly folder: string;
  readonly isDryRun: boolean;
  readonly platforms?: readonly BunPackage[];
}

/** Replaces the folder. */
export async function buildRelease({
  folder,
  isDryRun,
  platforms = Object.keys(PLATFORMS) as BunPackage[],
}: ReleaseOptions): Promise<void> {
  const version = agreedVersion(textOf);
  const notes = notesOf(textOf('CHANGELOG.md'), version, isDryRun);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'notes.md'), `${notes}\n`);
  writeFileSync(join(folder, `delegations-${version}.cdx.json`), sbomOf(textOf('package-lock.json')));
  await packProgram(folder);
  run(ROOT, 'npm', 'pack', '--silent', '--pack-destination', folder, '--workspace', 'client');
  for (const platform of platforms) buildExecutable(platform, version, folder);
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(folder));
}

/** As sha256sum prints them. */
const sumsOf = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');

if (import.meta.main) {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== '--dry-run')) throw new Error('Usage: npm run release [-- --dry-run]');
  const folder = join(ROOT, 'dist/release');
  try {
    await buildRelease({ folder, isDryRun: args.includes('--dry-run') });
    for (const name of readdirSync(folder))
      console.log(`dist/release/${name}: ${statSync(join(folder, name)).size} bytes`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

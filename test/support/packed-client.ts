// Builds and packs the client as `npm pack` does, without writing into the repository.

import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../../deploy/release/run-command.ts';
import { temporaryPath } from './engines.ts';

export { run };

const ROOT = join(import.meta.dir, '../..');

export interface PackedClient {
  /** The package before it was packed. */
  readonly folder: string;
  readonly tarball: string;
  /** An empty project with the package installed. */
  readonly project: string;
}

/** Returns the folder of the package, with the tarball in it. */
export function buildClient(): string {
  const folder = join(temporaryPath('client'), 'package');
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(ROOT, 'client', file), join(folder, file));
  run(ROOT, 'node', 'node_modules/typescript/bin/tsc', '--project', 'client', '--outDir', join(folder, 'dist'));
  for (const file of ['verify.js', 'verify.d.ts']) cpSync(join(ROOT, 'client/src', file), join(folder, 'dist', file));
  run(folder, 'npm', 'pack', '--ignore-scripts', '--silent');
  return folder;
}

/** The files of a run share what was built once, in `TEST_CLIENT`. */
export function packClient(): PackedClient {
  const folder = process.env['TEST_CLIENT'] ?? buildClient();
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  const project = join(temporaryPath('client'), 'project');
  const installed = join(project, 'node_modules/delegations-client');
  mkdirSync(installed, { recursive: true });
  run(project, 'tar', 'xzf', tarball, '--strip-components=1', '-C', installed);
  return { folder, tarball, project };
}

/** Installs packages of the repository into a project. */
export function linkPackages(project: string, ...names: string[]): void {
  for (const name of names) {
    const path = join(project, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), path);
  }
}

// npm run image: builds the image of the executable in dist/, without a daemon, a network or traces elsewhere.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { name, version } from '../package.json' with { type: 'json' };
import { writeImageFiles } from './image-files.ts';

/** Writes an archive that docker load, podman load and buildah read. */
export function buildImage(executable: string, archive: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'delegations-image-'));
  const buildah = buildahIn(scratch);
  try {
    const files = join(scratch, 'files');
    writeImageFiles(executable, files);
    const dockerfile = join(import.meta.dir, 'Dockerfile');
    // The format decides whether the image keeps its HEALTHCHECK.
    buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--tag', name, '--file', dockerfile, files);
    rmSync(archive, { force: true });
    mkdirSync(dirname(archive), { recursive: true });
    buildah('push', '--format', 'v2s2', name, `docker-archive:${archive}:${name}:${version}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs buildah with its storage in a folder. Returns what it prints. */
export const buildahIn =
  (folder: string) =>
  (...args: string[]): string => {
    const program = Bun.which('buildah');
    if (program === null) throw new Error('buildah is missing. Install it first: on Debian, apt-get install buildah.');
    const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...storage, ...args]);
    if (exitCode !== 0) throw new Error(`buildah ${args[0]} failed: ${stderr.toString().slice(-1000)}`);
    return stdout.toString().trim();
  };

if (import.meta.main) {
  const dist = join(import.meta.dir, '../dist');
  const archive = join(dist, 'delegations-image.tar');
  buildImage(join(dist, 'delegations'), archive);
  const megabytes = (Bun.file(archive).size / 1e6).toFixed(0);
  console.log(`dist/delegations-image.tar: ${megabytes} MB. docker load --input dist/delegations-image.tar`);
}

// Builds the image and runs it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildahIn, buildImage } from '../deploy/build-image.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { buildExecutable } from './support/built-executable.ts';
import { temporaryPath } from './support/engines.ts';
import { findProgram } from './support/programs.ts';
import { serveRecording } from './support/recorded-service.ts';
import { runProgram } from './support/serve-process.ts';

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Volumes: Readonly<Record<string, unknown>>;
}

interface Image {
  readonly config: ImageConfig;
  /** The folder with its files. */
  readonly root: string;
  /** The command that runs a program of the image in place of this process. */
  command(program: readonly string[]): string[];
  environment(more: Readonly<Record<string, string>>): Record<string, string>;
  remove(): void;
}

/** $1 is the image's files, $2 its user, $3 a folder for /data; the rest is the program. */
const RUN = `
set -e
root=$1; user=$2; data=$3; shift 3
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs --bounding-set=-all,+setuid,+setgid,+sys_chroot chroot --userspec="$user" "$root" "$@"
`;

/**
 * Unpacks the image into the folder, to be run as a container engine does: its files read-only, its user without privileges, /data
 * writable. Needs root, as a container engine does.
 */
function unpackImage(archive: string, folder: string): Image {
  const buildah = buildahIn(folder);
  const container = buildah('from', '--quiet', `docker-archive:${archive}`);
  const root = buildah('mount', container);
  const { Docker } = JSON.parse(buildah('inspect', container)) as { Docker: { config: ImageConfig } };
  const config = Docker.config;
  // A container engine creates these.
  for (const name of ['dev', 'proc']) mkdirSync(join(root, name), { recursive: true });
  const data = join(folder, 'data');
  mkdirSync(data);
  const [user, group] = config.User.split(':').map(Number);
  chownSync(data, user ?? 0, group ?? 0);
  return {
    config,
    root,
    command: (program) => ['unshare', '--mount', 'sh', '-c', RUN, 'sh', root, config.User, data, ...program],
    environment: (more) => ({
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
      ...more,
    }),
    remove: () => void buildah('rm', container),
  };
}

/** The user, group and capabilities of a process. */
function privilegesOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
  return { users: field('Uid').split('\t'), groups: field('Gid').split('\t'), effective: field('CapEff') };
}

const folder = temporaryPath('image');
const archive = join(folder, 'image.tar');
const USER = '10001';

let image: Image;
beforeAll(() => {
  findProgram('buildah');
  mkdirSync(folder);
  buildExecutable(join(folder, 'delegations'));
  buildImage(join(folder, 'delegations'), archive);
  image = unpackImage(archive, folder);
  console.log(`the image: ${(statSync(archive).size / 1e6).toFixed(0)} MB`);
}, 120_000);
afterAll(() => image?.remove());

const run = (program: readonly string[], environment: Record<string, string> = {}) =>
  runProgram(image.command(program), { environment: image.environment(environment) });

describe('the image', () => {
  test('has the executable, its libraries, certificates and users, and no shell', () => {
    const files = readdirSync(image.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(image.root.length));
    const known =
      /^\/(usr\/local\/bin\/delegations|lib(64)?\/.+\.so(\.\d+)*|etc\/(passwd|group|nsswitch\.conf|ssl\/certs\/ca-certificates\.crt))$/;
    expect(files.filter((path) => !known.test(path))).toEqual([]);
    expect(files).toContain('/usr/local/bin/delegations');
    expect(files).toContain('/etc/ssl/certs/ca-certificates.crt');
    expect(statSync(join(image.root, 'data')).uid).toBe(Number(USER));
  });

  test('answers with a read-only file system and without privileges, is healthy, and stops on a signal', async () => {
    const { Entrypoint, Cmd, Healthcheck } = image.config;
    const [kind, ...healthcheck] = Healthcheck.Test;
    expect(kind).toBe('CMD');
    const PORT = String(freePort());
    const served = await serveRecording(image.command([...Entrypoint, ...Cmd]), {
      folder,
      environment: image.environment({ PORT }),
    });
    try {
      const { asked, wrong } = await served.compareAnswers();
      console.log(`the image: ${asked} answers compared, ${wrong} wrong`);
      expect([asked > 100, wrong]).toEqual([true, 0]);
      expect(privilegesOf(served.pid)).toEqual({
        users: Array(4).fill(USER),
        groups: Array(4).fill(USER),
        effective: '0'.repeat(16),
      });
      expect(readdirSync(join(folder, 'data'))).toContain('delegations.db');
      expect(await run(healthcheck, { PORT })).toMatchObject({ code: 0, stderr: '' });
    } finally {
      // A process that is killed because it took too long has another code.
      expect(await served.stop()).toBe(0);
    }
    expect(await run(healthcheck, { PORT })).toMatchObject({ code: 1 });
  });

  test('writes nowhere but in /data', async () => {
    // Anyone could write there if the file system were not read-only.
    expect(statSync(join(image.root, 'tmp')).mode & 0o7777).toBe(0o1777);
    const { code, stdout, stderr } = await run([...image.config.Entrypoint, 'serve'], {
      DATABASE_URL: 'sqlite:/tmp/elsewhere.db',
    });
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining('/tmp/elsewhere.db')]);
    expect(readdirSync(join(image.root, 'tmp'))).toEqual([]);
    expect(Object.keys(image.config.Volumes)).toEqual(['/data']);
  });
});

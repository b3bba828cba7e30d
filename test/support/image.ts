// Runs an image as a container engine does, without one: its files read-only, its user without privileges, /data writable.

import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildahIn } from '../../deploy/build-image.ts';

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Volumes: Readonly<Record<string, unknown>>;
}

export interface Image {
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

/** Unpacks the image into the folder. Needs root, as a container engine does. */
export function unpackImage(archive: string, folder: string): Image {
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
export function privilegesOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
  return { users: field('Uid').split('\t'), groups: field('Gid').split('\t'), effective: field('CapEff') };
}

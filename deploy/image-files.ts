// Puts the files of the image together, for the Dockerfile. The libraries are those of this machine.

import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';

const USER = 10_001;
const FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': `root:x:0:0::/:/sbin/nologin\ndelegations:x:${USER}:${USER}::/data:/sbin/nologin\n`,
  '/etc/group': `root:x:0:\ndelegations:x:${USER}:\n`,
  // Names in /etc/hosts first: containers find each other by it.
  '/etc/nsswitch.conf': 'hosts: files dns\n',
  // Those that the executable trusts by itself, where other programs look for them.
  '/etc/ssl/certs/ca-certificates.crt': `${rootCertificates.join('\n')}\n`,
};

/** Writes `root`, which is root's, and `owned`, which is the service's. */
export function writeImageFiles(executable: string, folder: string): void {
  const root = join(folder, 'root');
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(root + to), { recursive: true });
    copyFileSync(from, root + to);
    chmodSync(root + to, 0o755);
  };
  copy(executable, '/usr/local/bin/delegations');
  for (const library of librariesOf(executable)) copy(library, library);
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(root + path), { recursive: true });
    writeFileSync(root + path, text, { mode: 0o644 });
  }
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
  mkdirSync(join(folder, 'owned/data'), { recursive: true, mode: 0o700 });
}

/** The dynamic libraries and their loader, as ldd names them. */
function librariesOf(executable: string): string[] {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['ldd', executable]);
  if (exitCode !== 0) throw new Error(`ldd ${executable} failed: ${stderr}`);
  return [...stdout.toString().matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)].map(([, path]) => path as string);
}

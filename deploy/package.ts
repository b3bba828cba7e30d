// npm run package: the program as JavaScript that needs nothing but Bun, packed for npm. The sandbox's chain is not in it: 27 MB for
// each platform, which few need.

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { run } from './release/run-command.ts';

const ROOT = join(import.meta.dir, '..');
const COPIED = ['delegations', 'openapi.json', 'README.md', 'LICENSE'];
/** The innermost package that a file is part of. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Its entry is main.js. */
export const bundleProgram = (folder: string) =>
  Bun.build({
    entrypoints: ['src/cli/main.ts', 'src/sandbox/evm-process.ts'].map((path) => join(ROOT, path)),
    outdir: folder,
    target: 'bun',
    splitting: true,
    metafile: true,
    // One folder, in which a part finds the program beside itself.
    naming: { entry: '[name].js', chunk: '[name]-[hash].js', asset: '[name]-[hash].[ext]' },
  });

/** Returns the path of the packed file. */
export async function packProgram(destination: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-package-'));
  mkdirSync(destination, { recursive: true });
  const { metafile } = await bundleProgram(join(folder, 'program'));
  const packages = Object.keys(metafile?.inputs ?? {}).flatMap((path) => PACKAGE.exec(path)?.[1] ?? []);
  writeFileSync(join(folder, 'third-party-licenses.txt'), licensesOf([...new Set(packages)].sort()));
  for (const name of COPIED) copyFileSync(join(ROOT, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  const packed = run(folder, 'npm', 'pack', '--silent', '--pack-destination', destination).trim();
  rmSync(folder, { recursive: true });
  return join(destination, packed);
}

/** Everything else is in the bundle. */
function publishedManifest(): object {
  const { name, version, description, license, type, bin, exports, engines, optionalDependencies } = manifest;
  const runtimes = Object.entries(optionalDependencies).filter(([one]) => one.startsWith('@oven/bun-'));
  const kept = { name, version, description, license, type, bin, exports, engines };
  return { ...kept, optionalDependencies: Object.fromEntries(runtimes) };
}

function licensesOf(folders: readonly string[]): string {
  if (folders.length === 0) throw new Error('The bundle has no packages: the bundler did not say what is in it.');
  const font = `Geist\n\n${readFileSync(join(ROOT, 'src/web/geist-license.txt'), 'utf8')}`;
  const packages = folders.map((path) => {
    const folder = join(ROOT, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? `License: ${license}\n` : readFileSync(join(folder, file), 'utf8');
    return `${name} ${version}\n\n${text}`;
  });
  return [...packages, font].join('\n---\n\n');
}

if (import.meta.main) {
  const path = await packProgram(join(ROOT, 'dist'));
  console.log(`${path.slice(ROOT.length + 1)}: ${Bun.file(path).size} bytes`);
}

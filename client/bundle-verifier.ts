// Bundles the verifier for callers' programs and for the page.

import { join } from 'node:path';

const SERVER_KECCAK = /\/keccak\.ts$/;

/** Identifiers are kept, so that it can be read. */
export async function bundledVerifier(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'verifier.ts')],
    target: 'browser',
    minify: { whitespace: true, syntax: true, identifiers: false },
    plugins: [
      {
        name: 'keccak',
        setup: (build) =>
          void build.onResolve({ filter: SERVER_KECCAK }, () => ({ path: join(import.meta.dir, 'keccak.ts') })),
      },
    ],
  });
  const [output] = outputs;
  return `// Bundled from verifier.ts. Keccak: @noble/hashes, MIT, (c) Paul Miller.\n${await output?.text()}`;
}

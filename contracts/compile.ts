// npm run contracts: compiles the contracts of this folder into artifacts.json, which is committed with a digest of what it was made of:
// compiling takes half a minute, so the tests compare digests.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';

export interface Artifact {
  /** Deployed bytecode, for `hardhat_setCode`. */
  readonly code: `0x${string}`;
}

function compilerInput(): string {
  const names = readdirSync(import.meta.dir).filter((name) => name.endsWith('.sol'));
  const sources = Object.fromEntries(
    names.sort().map((name) => [name, { content: readFileSync(join(import.meta.dir, name), 'utf8') }]),
  );
  return JSON.stringify({
    language: 'Solidity',
    sources,
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  });
}

/** Of sources, settings, compiler and result: a change to one of them is a change to it. */
export const digestOf = (artifacts: string): string =>
  new Bun.CryptoHasher('sha256').update(solc.version() + compilerInput() + artifacts).digest('hex');

/** Compiles every contract of this folder; the keys are contract names. */
function compileContracts(): Record<string, Artifact> {
  const output = JSON.parse(solc.compile(compilerInput()));
  const errors = (output.errors ?? []).filter(({ severity }: { severity: string }) => severity === 'error');
  if (errors.length > 0)
    throw new Error(errors.map((one: { formattedMessage: string }) => one.formattedMessage).join('\n'));
  return Object.fromEntries(
    Object.values(output.contracts as Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>)
      .flatMap((contracts) => Object.entries(contracts))
      // An interface has no code.
      .filter(([, { evm }]) => evm.deployedBytecode.object !== '')
      .map(([name, { evm }]) => [name, { code: `0x${evm.deployedBytecode.object}` }]),
  );
}

if (import.meta.main) {
  const artifacts = `${JSON.stringify(compileContracts(), null, 2)}\n`;
  await Bun.write(join(import.meta.dir, 'artifacts.json'), artifacts);
  await Bun.write(join(import.meta.dir, 'artifacts.sha256'), `${digestOf(artifacts)}\n`);
}

// npm run contracts: compiles the contracts of this folder into artifacts.json, which is committed.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';

export interface Artifact {
  /** Deployed bytecode, for `hardhat_setCode`. */
  readonly code: `0x${string}`;
}

/** Compiles every contract of this folder; the keys are contract names. */
export function compileContracts(): Record<string, Artifact> {
  const names = readdirSync(import.meta.dir).filter((name) => name.endsWith('.sol'));
  const sources = Object.fromEntries(
    names.sort().map((name) => [name, { content: readFileSync(join(import.meta.dir, name), 'utf8') }]),
  );
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
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

export const artifactsText = () => `${JSON.stringify(compileContracts(), null, 2)}\n`;

if (import.meta.main) await Bun.write(join(import.meta.dir, 'artifacts.json'), artifactsText());

// A client with types that openapi-typescript generates from the committed document.

import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { temporaryPath } from './support/engines.ts';

const CLIENT = `
import type { components, operations } from './api.ts';

type Query<Id extends keyof operations> = operations[Id]['parameters'] extends { query: infer Q } ? Q : never;
type Body<Id extends keyof operations> = operations[Id]['responses'][200]['content']['application/json'];

declare function get<Id extends keyof operations>(id: Id, query: Query<Id>): Promise<Body<Id>>;

const wallets = { to: '0x1', from: '0x2' };

export async function use(): Promise<void> {
  const value = await get('checkAllV2', wallets);
  const isGranted: boolean = typeof value === 'boolean' ? value : value.result;
  const balance = await get('checkErc20V2', { ...wallets, contract: '0x3', numbers: 'string' });
  const text: string | number = typeof balance === 'object' ? balance.result : balance;
  const explained = await get('checkErc721V2', { ...wallets, contract: '0x3', tokenId: '1', explain: 'true' });
  if (typeof explained === 'object' && 'delegations' in explained) {
    const since: number | undefined = explained.delegations[0]?.since.block;
    console.log(since);
  }
  console.log(isGranted, text);

  // @ts-expect-error a check needs its wallets
  await get('checkAllV2', {});
  // @ts-expect-error a check needs both wallets
  await get('checkAllV2', { to: '0x1' });
  // @ts-expect-error a v1 check needs its wallets
  await get('checkAllV1', { delegate: '0x1' });
  // @ts-expect-error a check of a token needs its id
  await get('checkErc721V2', { ...wallets, contract: '0x3' });
  // @ts-expect-error v1 has no rights
  await get('checkAllV1', { delegate: '0x1', vault: '0x2', rights: '0x' });
}

/** A problem has the fields of its type. */
export function chainIds(problem: operations['checkAllV2']['responses'][400]['content']['application/problem+json']) {
  return problem.type === '/docs#problem-unknown-chain' ? problem.chainIds : problem.errors;
}

export const network = (one: components['schemas']['Network']): string | null => one.name;
`;

test('compiles strictly, and refuses a check without its wallets', async () => {
  const document = new URL('../openapi.json', import.meta.url);
  const folder = temporaryPath('client');
  mkdirSync(folder);
  writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(document)));
  writeFileSync(join(folder, 'client.ts'), CLIENT);
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    module: 'preserve',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    target: 'esnext',
    lib: ['esnext', 'dom'],
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts'] }));
  const compiler = join(import.meta.dir, '../node_modules/.bin/tsgo');
  const { stdout, exitCode } = Bun.spawnSync([compiler, '--project', folder, '--pretty', 'false']);
  expect([stdout.toString(), exitCode]).toEqual(['', 0]);
});

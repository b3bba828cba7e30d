// The types of the client against the declarations of the API.

import { expect, test } from 'bun:test';
import type { CHANGES_OPERATION } from '../../src/api/changes-operation.ts';
import type { ResponseOf } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/operations.ts';
import { CLIENT_OPERATIONS, CLIENT_PROBLEMS } from '../api-types.ts';
import { bundledVerifier } from '../bundle-verifier.ts';
import { formattedApiTypes } from '../formatted-api-types.ts';
import type { DetailedDelegation, Operations } from '../src/api.ts';
import type { Registry } from '../src/checks.ts';
import { PROBLEM_CLASSES } from '../src/errors.ts';

test('are generated from it: run `npm run types -w client` after a change', async () => {
  expect(await Bun.file(`${import.meta.dir}/../src/api.ts`).text()).toBe(formattedApiTypes());
});

test('and so is the verifier', async () => {
  expect(await Bun.file(`${import.meta.dir}/../src/verify.js`).text()).toBe(await bundledVerifier());
});

test('cover every operation but the probes and the document', () => {
  const left = OPERATIONS.filter((one) => !CLIENT_OPERATIONS.includes(one)).map(({ id }) => id);
  expect(left).toEqual(['health', 'ready', 'openapi']);
});

test('every problem of these operations has a class', () => {
  expect(Object.keys(PROBLEM_CLASSES).sort()).toEqual([...CLIENT_PROBLEMS].sort());
  const possible = new Set(CLIENT_OPERATIONS.flatMap(({ problems }): readonly string[] => problems));
  expect([...possible].filter((type) => !(type in PROBLEM_CLASSES))).toEqual([]);
});

type Same<A, B> = [A, B] extends [B, A] ? true : false;

test('name every registry that a delegation can be in', () => {
  const isSame: Same<Registry, DetailedDelegation['version'] | 'any'> = true;
  expect(isSame).toBe(true);
});

/** As the API writes it with `numbers=string`. */
type Wire<T> = T extends bigint
  ? number | string
  : T extends string | number | boolean | null | undefined
    ? T
    : { readonly [N in keyof T]: Wire<T[N]> };

test('agree with the types that the server derives from the same declarations', () => {
  const fromServer = (body: ResponseOf<typeof CHANGES_OPERATION>): Wire<Looser<Operations['changes']['body']>> => body;
  expect(typeof fromServer).toBe('function');
});

/** The server has plain strings for hex. */
type Looser<T> = T extends `0x${string}` ? string : T extends object ? { readonly [N in keyof T]: Looser<T[N]> } : T;

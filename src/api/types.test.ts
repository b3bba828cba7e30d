// What must not compile. The compiler checks each @ts-expect-error.

import { expect, test } from 'bun:test';
import { integerText, plainText, stringify, writerFor } from './json-text.ts';
import { handled, type RequestOf, type ResponseOf } from './operation.ts';
import { CHECKS, type CheckOperation, type ListOperation } from './operations.ts';
import { Problem } from './problems.ts';
import { integer, object, string } from './shape.ts';
import { urlFor } from './url.ts';

const SHAPE = object({ name: string, age: integer });

test('a parameter that a handler does not read does not compile', () => {
  const read = ({ wallet, chainId, block, timestamp, ...rest }: RequestOf<ListOperation>) => {
    // @ts-expect-error direction, limit and others are not read
    handled(rest);
    return [wallet, chainId, block, timestamp];
  };
  const readAll = ({ chainId, ...rest }: Pick<RequestOf<CheckOperation>, 'chainId'>) => {
    handled(rest);
    return chainId;
  };
  expect([typeof read, typeof readAll]).toEqual(['function', 'function']);
});

test('a response with a field more or less than its shape does not compile', () => {
  stringify(SHAPE, { name: 'x', age: 1 });
  // @ts-expect-error age is missing
  stringify(SHAPE, { name: 'x' });
  const more = { name: 'x', age: 1, extra: true };
  // @ts-expect-error extra is not in the shape, also in a value that was made elsewhere
  stringify(SHAPE, more);
  // @ts-expect-error age is a number
  stringify(SHAPE, { name: 'x', age: '1' });

  const writer = writerFor<{ name: string }, null>();
  const name = (row: { name: string }) => plainText(row.name);
  const age = () => integerText(1);
  expect<string>(writer(SHAPE, { name, age })({ name: 'x' }, null)).toBe('{"name":"x","age":1}');
  const refused = () => {
    // @ts-expect-error no writer for age
    writer(SHAPE, { name });
    // @ts-expect-error extra is not in the shape
    writer(SHAPE, { name, age, extra: age });
    // @ts-expect-error the text of a number is not that of a string
    writer(SHAPE, { name: age, age });
  };
  expect(typeof refused).toBe('function');
});

test('types follow from the declarations', () => {
  const url = urlFor(CHECKS[2].erc721, { to: '0x1', from: '0x2', contract: '0x3', tokenId: 4n });
  expect(url).toBe('/registry/v2/check/erc721?to=0x1&from=0x2&contract=0x3&tokenId=4');
  const refused = () => {
    // @ts-expect-error a check needs its wallets
    urlFor(CHECKS[2].all, { to: '0x1' });
    // @ts-expect-error v1 has no rights
    urlFor(CHECKS[1].all, { delegate: '0x1', vault: '0x2', rights: '0x' });
    // @ts-expect-error a check of v2 that answers true or false has no balance
    const value: ResponseOf<(typeof CHECKS)[2]['all']> = '5';
    // @ts-expect-error a 503 needs retryAfter
    new Problem('not-ready', 'x');
    // @ts-expect-error a halted chain has fields
    new Problem('chain-halted', 'x', { retryAfter: 1 });
    return value;
  };
  expect(typeof refused).toBe('function');
});

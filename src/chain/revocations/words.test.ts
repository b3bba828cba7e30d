// What of a registry's state is believed where it cannot be proven.

import { expect, test } from 'bun:test';
import type { Context } from '../compare/context.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import { agreeAll, ifKnown, readWords, Unknown } from './words.ts';

const context = {
  network: { registries: { 1: '0x1' } },
  providerCount: 2,
  proof: { isProven: false },
} as unknown as Context;
const provider = (name: string, node: object = {}) => ({ name, node }) as Provider;
const [A, B] = [provider('A'), provider('B')];
const both: TickProviders = [A, B];
const says =
  (answers: Readonly<Record<string, number | null>>) =>
  async ({ name }: Provider) => {
    const answer = answers[name];
    if (answer === undefined) throw new Error('no answer');
    return answer;
  };

test('what all configured providers say alike is believed', async () => {
  expect(await agreeAll(context, both, says({ A: 7, B: 7 }))).toBe(7);
});

test('what one of them does not say is unknown: because it fails, does not know, or is not there', async () => {
  await expect(agreeAll(context, both, says({ A: 7 }))).rejects.toThrow(new Unknown('B: no answer'));
  await expect(agreeAll(context, both, says({ A: 7, B: null }))).rejects.toThrow(Unknown);
  await expect(agreeAll(context, [A], says({ A: 7 }))).rejects.toThrow(Unknown);
});

test('what they contradict each other about is disputed', async () => {
  await expect(agreeAll(context, both, says({ A: 7, B: 8 }))).rejects.toMatchObject({
    name: 'Unknown',
    isDisputed: true,
  });
});

test('zeros of a node that has thrown the state of the block away are not an answer', async () => {
  let headers = 0;
  const headerOf = async () => void headers++;
  const words = async (hasState: boolean) => {
    const node = { storageAt: async () => [0n], hasState: async () => hasState, headerOf };
    const providers = [provider('A', node), provider('B', node)] as const;
    const block = { number: 1, hash: '0x1' } as const;
    return ifKnown(readWords(context, providers, ['0x2'], block));
  };
  expect(await words(true)).toEqual([0n]);
  expect(await words(false)).toBeUndefined();
  // Where nothing can be proven, nobody is asked for what a proof needs.
  expect(headers).toBe(0);
});

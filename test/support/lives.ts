// Generates random chains: the calls of wallets, and the events in the store that follows them.

import fc from 'fast-check';
import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';

export const WALLETS = ['a1', 'b2', 'c3'].map((byte): Address => `0x${byte.repeat(20)}`) as [Address, Address, Address];
export const CONTRACTS = ['00', 'cc'].map((byte): Address => `0x${byte.repeat(20)}`);
export const IDS = ['0', String(2n ** 256n - 1n)];
export const RIGHTS = [`0x${'0'.repeat(64)}`, `0x${'766f7465'.padEnd(64, '0')}`] as Bytes32[];

/** How a revocation that names no delegate is resolved. */
export type Resolution = 'transaction' | 'state' | 'unreadable';
export interface LifeCall {
  readonly call: RegistryCall;
  readonly resolution: Resolution;
}
export interface LifeBlock {
  readonly gap: number;
  readonly seconds: number;
  readonly calls: readonly LifeCall[];
}
export type Step =
  | { readonly type: 'append'; readonly blocks: readonly LifeBlock[] }
  | { readonly type: 'reorg'; readonly depth: number; readonly blocks: readonly LifeBlock[] }
  | { readonly type: 'withhold'; readonly blocks: readonly LifeBlock[]; readonly pick: number }
  | { readonly type: 'repair'; readonly reread: boolean }
  | { readonly type: 'readLate' }
  | { readonly type: 'rebuild' };

const wallet = fc.constantFrom(...WALLETS);
const contract = fc.constantFrom(...CONTRACTS);
const id = fc.constantFrom(...IDS);
const rights = fc.constantFrom(...RIGHTS);
const amount = fc.constantFrom('0', '1', '50', String(2n ** 256n - 1n));
const flag = fc.boolean();

const callOf = (
  registry: 'v1' | 'v2',
  name: string,
  ...args: fc.Arbitrary<string | boolean>[]
): fc.Arbitrary<RegistryCall> =>
  fc.tuple(wallet, fc.tuple(...args)).map(([caller, values]): RegistryCall => [registry, caller, name, values]);

const anyCall = fc.oneof(
  callOf('v1', 'delegateForAll', wallet, flag),
  callOf('v1', 'delegateForContract', wallet, contract, flag),
  callOf('v1', 'delegateForToken', wallet, contract, id, flag),
  callOf('v1', 'revokeAllDelegates'),
  callOf('v1', 'revokeDelegate', wallet),
  callOf('v1', 'revokeSelf', wallet),
  callOf('v2', 'delegateAll', wallet, rights, flag),
  callOf('v2', 'delegateContract', wallet, contract, rights, flag),
  callOf('v2', 'delegateERC721', wallet, contract, id, rights, flag),
  callOf('v2', 'delegateERC20', wallet, contract, rights, amount),
  callOf('v2', 'delegateERC1155', wallet, contract, id, rights, amount),
);
const blocks = (minLength: number) =>
  fc.array(
    fc.record({
      gap: fc.constantFrom(1, 1, 1, 3),
      seconds: fc.constantFrom(0, 1, 12),
      calls: fc.array(
        fc.record({
          call: anyCall,
          resolution: fc.constantFrom<Resolution>('transaction', 'state', 'state', 'unreadable'),
        }),
        { maxLength: 5 },
      ),
    }),
    { minLength, maxLength: 3 },
  );
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('append' as const), blocks: blocks(1) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('reorg' as const), depth: fc.nat(8), blocks: blocks(0) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('withhold' as const), blocks: blocks(1), pick: fc.nat(20) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('repair' as const), reread: flag }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('readLate' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rebuild' as const) }) },
);

/** Chains that gave a wrong answer once. */
export const ONCE_WRONG: Step[][] = [
  // A missed grant, whose revocation was known only from a state read, became active again with the repair.
  [
    {
      type: 'withhold',
      pick: 0,
      blocks: [
        {
          gap: 1,
          seconds: 0,
          calls: [{ call: ['v1', WALLETS[1], 'delegateForAll', [WALLETS[1], true]], resolution: 'transaction' }],
        },
        {
          gap: 1,
          seconds: 0,
          calls: [{ call: ['v1', WALLETS[1], 'revokeDelegate', [WALLETS[1]]], resolution: 'state' }],
        },
      ],
    },
    { type: 'repair', reread: false },
  ],
];

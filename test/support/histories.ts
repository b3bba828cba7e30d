// Random histories of a store: the calls of wallets, the events that they emit, and questions about them with their true answers.

import fc from 'fast-check';
import { type AnyQuestion, asksBalance, partsOf, type Question } from '../../src/registry/check.ts';
import {
  type Address,
  type Bytes32,
  type DelegationKey,
  type Kind,
  MAX_UINT256,
} from '../../src/registry/delegation.ts';
import type { RegistryEvent } from '../../src/registry/event.ts';
import { type RegistryCall, versionOf } from '../../src/registry/registry-call.ts';
import type { Model } from './model.ts';
import { type Argument, CALLS, CONTRACTS, IDS, RIGHTS, WALLETS } from './wallets.ts';

/** How a revocation that names no delegate is resolved. */
type Resolution = 'transaction' | 'state' | 'unreadable';
export interface HistoryCall {
  readonly call: RegistryCall;
  readonly resolution: Resolution;
}
export interface HistoryBlock {
  readonly gap: number;
  readonly seconds: number;
  readonly calls: readonly HistoryCall[];
}
export type Step =
  | { readonly type: 'append'; readonly blocks: readonly HistoryBlock[] }
  | { readonly type: 'reorg'; readonly depth: number; readonly blocks: readonly HistoryBlock[] }
  | { readonly type: 'withhold'; readonly blocks: readonly HistoryBlock[]; readonly pick: number }
  | { readonly type: 'repair'; readonly reread: boolean }
  | { readonly type: 'readLate' }
  | { readonly type: 'rebuild' };

const wallet = fc.constantFrom<string>(...WALLETS);
const amount = fc.constantFrom('0', '1', '50', String(2n ** 256n - 1n));
const VALUES: Readonly<Record<Argument, fc.Arbitrary<string | boolean>>> = {
  wallet,
  contract: fc.constantFrom(...CONTRACTS),
  id: fc.constantFrom(...IDS),
  rights: fc.constantFrom(...RIGHTS),
  flag: fc.boolean(),
  erc20: amount,
  erc1155: amount,
};
const anyCall = fc.oneof(
  ...CALLS.map(([registry, name, ...kinds]) =>
    fc
      .tuple(wallet, fc.tuple(...kinds.map((kind) => VALUES[kind])))
      .map(([caller, args]): RegistryCall => [registry, caller, name, args]),
  ),
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
  { weight: 2, arbitrary: fc.record({ type: fc.constant('repair' as const), reread: fc.boolean() }) },
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

/** The event that a call emits; one that changes nothing emits one too. */
export function eventOfCall(call: RegistryCall): RegistryEvent {
  const [, caller, name, args] = call;
  const from = caller as Address;
  const [first] = args as [Address];
  if (name === 'revokeAllDelegates') return { type: 'vaultRevoked', from };
  if (name === 'revokeDelegate') return { type: 'unknownRevoked', from };
  if (name === 'revokeSelf') {
    return first === from ? { type: 'unknownRevoked', from } : { type: 'delegateRevoked', from: first, to: from };
  }
  const version = versionOf(call);
  const kind = name.replace('delegateFor', '').replace('delegate', '').toUpperCase() as Kind;
  const middle = args.slice(1, -1) as string[];
  const value = args.at(-1) as string | boolean;
  const rights = version === 2 ? (middle.pop() as Bytes32) : null;
  const [contract = null, tokenId] = middle as [Address?, string?];
  const key: DelegationKey = {
    version,
    kind,
    from,
    to: first,
    contract,
    tokenId: tokenId === undefined ? null : BigInt(tokenId),
    rights,
  };
  if (value === false || value === '0') return { type: 'ended', delegation: key };
  return { type: 'granted', delegation: { ...key, amount: value === true ? null : BigInt(value) } };
}

/** A few questions, different ones at each turn. */
export function questionsFor(turn: number): (Question | AnyQuestion)[] {
  const pick = <T>(from: readonly T[], offset: number) => from[(turn + offset) % from.length] as T;
  const pair = { from: pick(WALLETS, 0), to: pick(WALLETS, Math.floor(turn / 3)) };
  const target = { contract: pick(CONTRACTS, Math.floor(turn / 2)), tokenId: BigInt(pick(IDS, Math.floor(turn / 5))) };
  const v2 = { version: 2, ...pair, rights: pick(RIGHTS, Math.floor(turn / 7)) } as const;
  return [
    { version: 1, ...pair, scope: 'token', ...target },
    { ...v2, scope: 'erc721', ...target },
    { ...v2, scope: 'erc1155', ...target },
    { ...v2, scope: 'erc20', contract: target.contract },
    { ...v2, version: 'any', scope: 'all' },
    { ...v2, version: 'any', scope: 'contract', contract: target.contract },
    { ...v2, version: 'any', scope: 'erc721', ...target },
    { ...v2, version: 'any', scope: 'erc1155', ...target },
    { ...v2, version: 'any', scope: 'erc20', contract: target.contract },
  ];
}

/** A v1 grant is unlimited. */
export function truthOf(model: Model, question: Question | AnyQuestion): boolean | bigint {
  const [first = false, second = false] = partsOf(question).map((part) => {
    const rest: string[] = part.scope === 'all' ? [] : [part.contract];
    if ('tokenId' in part) rest.push(String(part.tokenId));
    return part.version === 1
      ? model.v1(part.scope, part.to, part.from, ...(rest as [string?, string?]))
      : model.v2(part.scope, part.to, part.from, ...rest, part.rights);
  });
  return second === true ? (asksBalance(question) ? MAX_UINT256 : true) : first;
}

// What the transactions do is compared with viem's decoding of them, and with the encoders of the registries' own SDK.

import { describe, expect, test } from 'bun:test';
import {
  rawDelegateAll,
  rawDelegateContract,
  rawDelegateERC20,
  rawDelegateERC721,
  rawDelegateERC1155,
  rawMulticall,
} from '@delegatexyz/sdk';
import fc from 'fast-check';
import { decodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem';
import { type Address, type Delegation, delegationId, KINDS, KINDS_OF, type Kind, NO_RIGHTS } from './delegation.ts';
import { FUNCTIONS } from './registry-call.ts';
import { MOST_IN_MULTICALL, planRevocations, type Revocation } from './revocation.ts';
import { ALL_VERSIONS, hasRights, type Version } from './versions.ts';

const OWNER: Address = `0x${'a1'.repeat(20)}`;
const NOTHING_WHOLE = { vault: false, delegates: new Set<Address>() };

const signatureOf = (name: string) => `${name.slice(3)}(${FUNCTIONS[name]?.[1]})`;
const abiOf = (version: Version) =>
  parseAbi(
    Object.keys(FUNCTIONS)
      .filter((name) => name.startsWith(`v${version}.`))
      .map((name) => `function ${signatureOf(name)}`),
  );

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((of) => `0x${of.toHex()}` as Hex);
const few = (bytes: number) =>
  fc.constantFrom(...[1, 2, 3].map((one) => `0x${String(one).padStart(2 * bytes, '0')}` as Hex));
const uint256 = (from: bigint) => fc.oneof(fc.bigInt(from, 5n), fc.bigInt(from, 2n ** 256n - 1n));

const anyDelegation = (wallets = hex(20)): fc.Arbitrary<Delegation> =>
  fc
    .constantFrom(...ALL_VERSIONS.flatMap((version) => KINDS_OF[version].map((kind) => ({ version, kind }))))
    .chain(({ version, kind }) =>
      fc.record({
        version: fc.constant(version),
        kind: fc.constant(kind),
        from: fc.constant(OWNER),
        to: wallets,
        contract: KINDS[kind].contract ? hex(20) : fc.constant(null),
        tokenId: KINDS[kind].tokenId ? uint256(0n) : fc.constant(null),
        rights: hasRights(version) ? fc.oneof(fc.constant(NO_RIGHTS), hex(32)) : fc.constant(null),
        amount: KINDS[kind].amount ? uint256(1n) : fc.constant(null),
      }),
    );

interface Call {
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** The single calls of a transaction, by viem. */
function decode({ version, data }: Pick<Revocation, 'version' | 'data'>): Call[] {
  const { functionName, args = [] } = decodeFunctionData({ abi: abiOf(version), data: data as Hex }) as Call;
  return functionName === 'multicall'
    ? (args[0] as string[]).flatMap((inner) => decode({ version, data: inner }))
    : [{ functionName, args }];
}

const KIND_OF: Readonly<Record<string, Kind>> = {
  delegateForAll: 'ALL',
  delegateForContract: 'CONTRACT',
  delegateForToken: 'TOKEN',
  delegateAll: 'ALL',
  delegateContract: 'CONTRACT',
  delegateERC721: 'ERC721',
  delegateERC20: 'ERC20',
  delegateERC1155: 'ERC1155',
};

/** The delegation that a call ends, read from its arguments alone. */
function endedBy(version: Version, { functionName, args }: Call): string {
  const kind = KIND_OF[functionName] as Kind;
  const rest = args.map((one) => (typeof one === 'string' ? one.toLowerCase() : one)) as never[];
  const next = <T>(): T => rest.shift() as T;
  const key = {
    version,
    kind,
    from: OWNER,
    to: next<Address>(),
    contract: KINDS[kind].contract ? next<Address>() : null,
    tokenId: KINDS[kind].tokenId ? next<bigint>() : null,
    rights: hasRights(version) ? next<Hex>() : null,
  };
  expect(rest).toEqual([KINDS[kind].amount ? 0n : false] as never[]);
  return delegationId(key);
}

test('the selector of every function is the hash of its signature', () => {
  for (const [name, [selector]] of Object.entries(FUNCTIONS))
    expect([name, toFunctionSelector(signatureOf(name))]).toEqual([name, `0x${selector}`]);
});

describe('a plan', () => {
  test('ends exactly the chosen delegations, each by name', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyDelegation(), { selector: delegationId, maxLength: 12 }), (chosen) => {
        const plan = planRevocations(OWNER, chosen, NOTHING_WHOLE);
        const ended = plan.map((one) => decode(one).map((call) => endedBy(one.version, call)));
        expect(ended).toEqual(plan.map(({ ends }) => ends.map(delegationId)));
        expect(ended.flat().sort()).toEqual(chosen.map(delegationId).sort());
        const inV2 = plan.filter(({ version }) => version === 2);
        expect(inV2.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('ends what the v1 registry ends at once where all of it is chosen, and lists all of it', () => {
    const v1 = fc.uniqueArray(
      anyDelegation(few(20)).filter(({ version }) => version === 1),
      { selector: delegationId, minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(v1, fc.infiniteStream(fc.boolean()), (held, choose) => {
        const chosen = held.filter(() => choose.next().value);
        const left = held.filter((one) => !chosen.includes(one));
        const delegates = new Set(chosen.map(({ to }) => to).filter((to) => !left.some((one) => one.to === to)));
        const plan = planRevocations(OWNER, chosen, { vault: left.length === 0, delegates });
        expect(plan.flatMap(({ ends }) => ends.map(delegationId)).sort()).toEqual(chosen.map(delegationId).sort());
        if (left.length === 0) expect(plan).toHaveLength(1);
        for (const delegate of delegates)
          expect(plan.filter(({ ends }) => ends.some(({ to }) => to === delegate))).toHaveLength(1);
        for (const one of plan) {
          const [call, ...more] = decode(one) as [Call, ...Call[]];
          expect(more).toEqual([]);
          const whole = {
            revokeAllDelegates: () => held,
            revokeDelegate: () => held.filter(({ to }) => to === String(call.args[0]).toLowerCase()),
          }[call.functionName];
          // A single delegation is ended by name: a whole wallet may have been given more in the meantime.
          expect(whole === undefined).toBe(one.ends.length === 1);
          if (whole === undefined) expect([endedBy(1, call)]).toEqual(one.ends.map(delegationId));
          else expect(whole().map(delegationId).sort()).toEqual(one.ends.map(delegationId).sort());
        }
      }),
    );
  });

  test('has as many transactions as a block can take', () => {
    const chosen = Array.from({ length: 2 * MOST_IN_MULTICALL + 1 }, (_, id) => ({
      ...V2,
      kind: 'ERC721' as const,
      tokenId: BigInt(id),
    }));
    expect(planRevocations(OWNER, chosen, NOTHING_WHOLE).map(({ ends }) => ends.length)).toEqual([100, 100, 1]);
  });

  test('is encoded as by the SDK of the registries', () => {
    const { to, contract, rights } = V2;
    const kinds: readonly [Delegation, Hex][] = [
      [{ ...V2, kind: 'ALL', contract: null }, rawDelegateAll(to, rights, false)],
      [{ ...V2, kind: 'CONTRACT' }, rawDelegateContract(to, contract, rights, false)],
      [{ ...V2, kind: 'ERC721', tokenId: 7n }, rawDelegateERC721(to, contract, 7, rights, false)],
      [{ ...V2, kind: 'ERC20', amount: 9n }, rawDelegateERC20(to, contract, rights, 0)],
      [{ ...V2, kind: 'ERC1155', tokenId: 7n, amount: 9n }, rawDelegateERC1155(to, contract, 7, rights, 0)],
    ];
    const dataOf = (chosen: readonly Delegation[]) =>
      planRevocations(OWNER, chosen, NOTHING_WHOLE).map(({ data }) => data);
    for (const [delegation, data] of kinds) expect(dataOf([delegation])).toEqual([data]);
    expect(dataOf(kinds.map(([delegation]) => delegation))).toEqual([rawMulticall(kinds.map(([, data]) => data))]);
  });
});

const V2 = {
  version: 2,
  from: OWNER,
  to: `0x${'b2'.repeat(20)}`,
  contract: `0x${'c3'.repeat(20)}`,
  tokenId: null,
  rights: `0x${'766f7465'.padEnd(64, '0')}`,
  amount: null,
} as const;

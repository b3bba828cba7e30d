// A small model of both registries, driven by the calls of wallets. It shares no code with src/, so that a bug in one shows as
// a difference.

import type { Address, Bytes32, Delegation, DelegationKey, Kind } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';

export interface Model {
  call(call: RegistryCall): void;
  /** All active delegations. */
  held(): Delegation[];
  /**
   * A wallet's active delegations: incoming, then outgoing; a delegation to itself only among the incoming. In v2 each has the
   * place of its first grant ever, in v1 of its last grant.
   */
  list(version: 1 | 2, wallet: string, direction?: 'incoming' | 'outgoing'): Delegation[];
  v1(scope: 'all' | 'contract' | 'token', to: string, from: string, contract?: string, id?: string): boolean;
  v2(
    scope: 'all' | 'contract' | 'erc721' | 'erc20' | 'erc1155',
    to: string,
    from: string,
    ...rest: [...unknown: string[], rights: string]
  ): boolean | bigint;
}

const MAX = 2n ** 256n - 1n;
const ZERO = `0x${'0'.repeat(64)}`;
const text = (key: DelegationKey) =>
  [key.version, key.kind, key.from, key.to, key.contract, key.tokenId, key.rights].join('|');

/** Creates both registries, with initial delegations. */
export function createModel(already: readonly Delegation[] = []): Model {
  const held = new Map(already.map((delegation) => [text(delegation), delegation]));
  const places = new Map(already.map((delegation, place) => [text(delegation), place]));

  const key = (
    version: 1 | 2,
    kind: Kind,
    from: string,
    to: unknown,
    contract: unknown = null,
    tokenId: unknown = null,
    rights: unknown = null,
  ): DelegationKey => ({
    version,
    kind,
    from: from as Address,
    to: to as Address,
    contract: contract as Address | null,
    tokenId: tokenId === null ? null : BigInt(tokenId as string),
    rights: rights as Bytes32 | null,
  });
  const set = (of: DelegationKey, value: unknown) => {
    const amount = typeof value === 'boolean' ? null : BigInt(value as string);
    if (value === false || amount === 0n) return end(of);
    held.set(text(of), { ...of, amount });
    if (!places.has(text(of))) places.set(text(of), calls);
  };
  const end = (of: DelegationKey) => {
    held.delete(text(of));
    if (of.version === 1) places.delete(text(of));
  };
  const endWhere = (matches: (delegation: Delegation) => boolean) => {
    for (const delegation of held.values()) if (delegation.version === 1 && matches(delegation)) end(delegation);
  };
  const has = (of: DelegationKey) => held.has(text(of));

  let calls = already.length;
  const model: Model = {
    call([registry, caller, name, args]) {
      calls++;
      const [a, b, c, d, e] = args;
      switch (`${registry}.${name}`) {
        case 'v1.delegateForAll':
          return set(key(1, 'ALL', caller, a), b);
        case 'v1.delegateForContract':
          return set(key(1, 'CONTRACT', caller, a, b), c);
        case 'v1.delegateForToken':
          return set(key(1, 'TOKEN', caller, a, b, c), d);
        case 'v1.revokeAllDelegates':
          return endWhere(({ from }) => from === caller);
        case 'v1.revokeDelegate':
          return endWhere(({ from, to }) => from === caller && to === a);
        case 'v1.revokeSelf':
          return endWhere(({ from, to }) => from === a && to === caller);
        case 'v2.delegateAll':
          return set(key(2, 'ALL', caller, a, null, null, b), c);
        case 'v2.delegateContract':
          return set(key(2, 'CONTRACT', caller, a, b, null, c), d);
        case 'v2.delegateERC721':
          return set(key(2, 'ERC721', caller, a, b, c, d), e);
        case 'v2.delegateERC20':
          return set(key(2, 'ERC20', caller, a, b, null, c), d);
        case 'v2.delegateERC1155':
          return set(key(2, 'ERC1155', caller, a, b, c, d), e);
        default:
          throw new Error(`The model does not know ${registry}.${name}`);
      }
    },
    held: () => [...held.values()],
    list(version, wallet, direction) {
      const own = [...held.values()].filter((one) => one.version === version);
      own.sort((one, other) => (places.get(text(one)) ?? 0) - (places.get(text(other)) ?? 0));
      const incoming = direction === 'outgoing' ? [] : own.filter(({ to }) => to === wallet);
      const outgoing = direction === 'incoming' ? [] : own.filter(({ from }) => from === wallet);
      return [...new Set([...incoming, ...outgoing])];
    },
    v1(scope, to, from, contract, id) {
      if (has(key(1, 'ALL', from, to))) return true;
      if (scope === 'all') return false;
      if (has(key(1, 'CONTRACT', from, to, contract))) return true;
      return scope === 'token' && has(key(1, 'TOKEN', from, to, contract, id));
    },
    v2(scope, to, from, ...rest) {
      const wanted = rest.at(-1) as string;
      const [contract, id] = rest.slice(0, -1);
      const [usual, specific] = [ZERO, wanted].map((rights) => {
        const all = has(key(2, 'ALL', from, to, null, null, rights));
        const whole = all || (scope !== 'all' && has(key(2, 'CONTRACT', from, to, contract, null, rights)));
        if (scope === 'all' || scope === 'contract') return whole;
        if (scope === 'erc721') return whole || has(key(2, 'ERC721', from, to, contract, id, rights));
        const kind = scope === 'erc20' ? 'ERC20' : 'ERC1155';
        const amount = held.get(text(key(2, kind, from, to, contract, id ?? null, rights)))?.amount;
        return whole ? MAX : (amount ?? 0n);
      }) as [boolean | bigint, boolean | bigint];
      if (specific > usual) return specific;
      return usual;
    },
  };
  return model;
}

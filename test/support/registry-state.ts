// Computes the state of both registries at the end of a block, for a fake node: checks, lists, and the words of their storage that
// answers depend on, with proofs.

import { encodeRlp, toQuantity } from '../../src/proof/rlp.ts';
import { type Address, type Bytes32, type Delegation, delegationId, type Kind } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import {
  delegateVersionSlot,
  grantSlot,
  listLengthSlot,
  membershipSlot,
  vaultVersionSlot,
} from '../../src/registry/storage.ts';
import { ALL_VERSIONS, type Version } from '../../src/registry/versions.ts';
import { buildTrie, type FakeTrie } from './fake-trie.ts';
import { createModel, type Model } from './model.ts';
import { MAINNET } from './vectors.ts';

export const word = (value: string | bigint) =>
  typeof value === 'bigint' ? value.toString(16).padStart(64, '0') : value.slice(2).toLowerCase().padStart(64, '0');

/** Immutable, because blocks share it. */
interface RegistryState {
  readonly model: Model;
  /** Revocations by pair, and of everything by wallet. */
  readonly versions: ReadonlyMap<string, number>;
  /** Every v2 delegation ever made. */
  readonly made: ReadonlyMap<string, Delegation>;
  readonly storage: { readonly [V in Version]: Storage };
}

/** The words of a registry, and their trie. */
interface Storage {
  readonly words: ReadonlyMap<string, bigint>;
  readonly trie: FakeTrie;
}

/** The calls of a block, and of those before it. */
export interface History {
  readonly parent: History | null;
  readonly calls: readonly RegistryCall[];
}

/** The number of cached states; others are computed from the nearest cached ancestor. */
const MOST_STATES = 256;
const states = new Map<History, RegistryState>();

/** The state after a block's calls. */
export function stateAfter(history: History): RegistryState {
  const known = states.get(history);
  if (known !== undefined) return known;
  const missing: History[] = [];
  let at: History | null = history;
  while (at !== null && !states.has(at)) {
    missing.push(at);
    at = at.parent;
  }
  const base = at === null ? null : (states.get(at) as RegistryState);
  if (base !== null && missing.every(({ calls }) => calls.length === 0)) return keep(history, base);
  const model = createModel(base?.model.held());
  const versions = new Map(base?.versions);
  const made = new Map(base?.made);
  const changed = new Set(base === null ? ['v1', 'v2'] : []);
  for (const { calls } of missing.reverse()) {
    for (const call of calls) {
      model.call(call);
      const revoked = revokedBy(call);
      if (revoked !== null) versions.set(revoked, (versions.get(revoked) ?? 0) + 1);
      changed.add(call[0]);
      const granted = grantedBy(call);
      if (granted !== null) made.set(delegationId(granted), granted);
    }
  }
  const same = { 1: changed.has('v1') ? null : base?.storage[1], 2: changed.has('v2') ? null : base?.storage[2] };
  const make = { 1: () => storageOfV1(model, versions), 2: () => storageOfV2(model, made) };
  let storage: RegistryState['storage'] | null = null;
  const state: RegistryState = {
    model,
    versions,
    made,
    get storage() {
      storage ??= { 1: same[1] ?? make[1](), 2: same[2] ?? make[2]() };
      return storage;
    },
  };
  return keep(history, state);
}

function keep(history: History, state: RegistryState): RegistryState {
  states.set(history, state);
  if (states.size > MOST_STATES) states.delete(states.keys().next().value as History);
  return state;
}

const V2_CALLS: Readonly<Record<string, readonly [kind: Kind, ...rest: ('contract' | 'tokenId' | 'rights')[]]>> = {
  delegateAll: ['ALL', 'rights'],
  delegateContract: ['CONTRACT', 'contract', 'rights'],
  delegateERC721: ['ERC721', 'contract', 'tokenId', 'rights'],
  delegateERC20: ['ERC20', 'contract', 'rights'],
  delegateERC1155: ['ERC1155', 'contract', 'tokenId', 'rights'],
};

/** The v2 delegation that a call grants; null if it grants none. */
function grantedBy([registry, from, name, [to, ...args]]: RegistryCall): Delegation | null {
  const [kind, ...names] = V2_CALLS[name] ?? [];
  const value = args.at(-1);
  if (registry !== 'v2' || kind === undefined || value === false || value === '0') return null;
  const named = Object.fromEntries(names.map((one, at) => [one, args[at]])) as Record<string, string>;
  return {
    version: 2,
    kind,
    from: from as Address,
    to: to as Address,
    contract: (named['contract'] ?? null) as Address | null,
    tokenId: named['tokenId'] === undefined ? null : BigInt(named['tokenId']),
    rights: named['rights'] as Bytes32,
    amount: value === true ? null : BigInt(value as string),
  };
}

/** The pair, or the wallet, that a call revokes; null if none. Calls that end nothing count too. */
function revokedBy([registry, caller, name, [other]]: RegistryCall): string | null {
  if (registry !== 'v1') return null;
  if (name === 'revokeDelegate') return `${caller} ${other}`;
  if (name === 'revokeAllDelegates') return caller;
  return name === 'revokeSelf' ? `${other} ${caller}` : null;
}

const slots = new Map<string, string>();
/** Hashing takes most of the time. */
const cached = (name: string, make: () => string): string => {
  let slot = slots.get(name);
  if (slot === undefined) {
    slot = make();
    slots.set(name, slot);
    if (slots.size > 1_000_000) slots.clear();
  }
  return slot;
};

function storageOfV1(model: Model, versions: ReadonlyMap<string, number>): Storage {
  const words = new Map<string, bigint>();
  for (const [name, count] of versions) {
    const [vault, delegate] = name.split(' ') as [Address, Address?];
    const slot = cached(name, () => (delegate ? delegateVersionSlot(vault, delegate) : vaultVersionSlot(vault)));
    words.set(slot, BigInt(count));
  }
  for (const one of model.held()) {
    if (one.version !== 1) continue;
    const [vaultVersion = 0, delegateVersion = 0] = [one.from, `${one.from} ${one.to}`].map((name) =>
      versions.get(name),
    );
    const name = [one.kind, one.from, one.to, one.contract, one.tokenId, vaultVersion, delegateVersion].join();
    words.set(
      cached(name, () => membershipSlot(one, BigInt(vaultVersion), BigInt(delegateVersion))),
      1n,
    );
  }
  return storageOf(words);
}

/** Without the words that no answer depends on. */
function storageOfV2(model: Model, made: ReadonlyMap<string, Delegation>): Storage {
  const words = new Map<string, bigint>();
  const held = new Map(model.held().map((one) => [delegationId(one), one]));
  const add = (slot: string, value: bigint) => words.set(slot, (words.get(slot) ?? 0n) + value);
  for (const [id, key] of made) {
    const now = held.get(id);
    words.set(
      cached(id, () => grantSlot(key)),
      key.amount === null ? BigInt(now === undefined ? 1 : key.from) : (now?.amount ?? 0n),
    );
    add(
      cached(`from ${key.from}`, () => listLengthSlot(key.from, 'outgoing')),
      1n,
    );
    add(
      cached(`to ${key.to}`, () => listLengthSlot(key.to, 'incoming')),
      1n,
    );
  }
  return storageOf(words);
}

function storageOf(words: ReadonlyMap<string, bigint>): Storage {
  const present = [...words].filter(([, value]) => value !== 0n);
  const trie = buildTrie(present.map(([slot, value]) => [bytesOf(slot), encodeRlp(toQuantity(value))]));
  return { words, trie };
}

const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));
const NO_BYTES = new Uint8Array();
const EMPTY_CODE = bytesOf('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');

const accounts = new WeakMap<RegistryState['storage'], FakeTrie>();
const ADDRESSES = MAINNET.registries as { readonly [V in Version]: Address };
const storageAt = ({ storage }: RegistryState, address: string): Storage | null =>
  ALL_VERSIONS.map((version) => (address.toLowerCase() === ADDRESSES[version] ? storage[version] : null)).find(
    Boolean,
  ) ?? null;

/** The accounts of a chain: the registries, and another one. */
function accountsOf({ storage }: RegistryState): FakeTrie {
  const account = (root: string) => encodeRlp([toQuantity(1), NO_BYTES, bytesOf(root), EMPTY_CODE]);
  let trie = accounts.get(storage);
  if (trie === undefined) {
    trie = buildTrie([
      ...ALL_VERSIONS.map((version) => [bytesOf(ADDRESSES[version]), account(storage[version].trie.root)] as const),
      [bytesOf(`0x${'77'.repeat(20)}`), account(buildTrie([]).root)],
    ]);
    accounts.set(storage, trie);
  }
  return trie;
}

export const stateRootOf = (state: RegistryState): Bytes32 => accountsOf(state).root;

/** What `eth_getProof` returns. */
export function proofOf(state: RegistryState, address: Address, asked: readonly Bytes32[]) {
  const storage = storageAt(state, address);
  return {
    address,
    accountProof: accountsOf(state).prove(bytesOf(address)),
    storageProof: asked.map((key) => ({
      key,
      value: storedWord(state, key, address),
      proof: storage?.trie.prove(bytesOf(key)) ?? [],
    })),
  };
}

/** The value of a slot of a registry. */
export const storedWord = (state: RegistryState, slot: string, address: string = ADDRESSES[1]): string =>
  `0x${word(storageAt(state, address)?.words.get(`0x${word(slot)}`) ?? 0n)}`;

/** The registries' answer to a check or a list of v2; null for any other call. */
export const answerOf = (state: RegistryState, data: string): string | null =>
  checkOf(state.model, data) ?? v2ListOf(state.model, data) ?? slotsOf(state, data);

/** The words that v2's `readSlots` returns; null for any other call. */
function slotsOf(state: RegistryState, data: string): string | null {
  if (!data.startsWith('0x61451a30')) return null;
  const [, , ...slots] = data.slice(10).match(/.{64}/g) ?? [];
  return listData(slots.map((slot) => storedWord(state, `0x${slot}`, ADDRESSES[2]).slice(2)));
}

/** What each v1 getter lists, and how it encodes a row. */
const GETTERS: Readonly<Record<string, readonly [kind: Kind, row: (one: Delegation) => string]>> = {
  '0x1b61f675': ['ALL', ({ to }) => word(to)],
  '0xf956cf94': ['CONTRACT', ({ contract, to }) => word(contract ?? '') + word(to)],
  '0x6f007d87': ['TOKEN', ({ contract, tokenId, to }) => word(contract ?? '') + word(tokenId ?? 0n) + word(to)],
};

/** Return data of a v1 getter for a wallet; null if the getter does not exist. */
export function getterOf({ model }: RegistryState, vault: Address, selector: string): string | null {
  const [kind, row] = GETTERS[selector] ?? [];
  if (row === undefined) return null;
  const own = model.held().filter((one) => one.version === 1 && one.from === vault && one.kind === kind);
  return listData(own.map(row));
}

const listData = (rows: readonly string[]) => `0x${word(32n)}${word(BigInt(rows.length))}${rows.join('')}`;

const TYPES: Readonly<Record<string, bigint>> = { ALL: 1n, CONTRACT: 2n, ERC721: 3n, ERC20: 4n, ERC1155: 5n };

/** The v2 registry's answer to a list; null for any other call. */
function v2ListOf(model: Model, data: string): string | null {
  const wallet = `0x${data.slice(-40)}`;
  const side = ({ '0x42f87c25': 'to', '0x51525e9a': 'from' } as const)[data.slice(0, 10)];
  if (side === undefined) return null;
  const rows = model
    .held()
    .filter((one) => one.version === 2 && one[side] === wallet)
    .map(({ kind, to, from, rights, contract, tokenId, amount }) =>
      [TYPES[kind] as bigint, to, from, rights ?? '0x', contract ?? '0x', tokenId ?? 0n, amount ?? 0n]
        .map(word)
        .join(''),
    );
  return listData(rows);
}

/** A registry's answer to one of its checks; null for any other call. */
function checkOf(model: Model, data: string): string | null {
  const words = data.slice(10).match(/.{64}/g) ?? [];
  const address = (at: number) => `0x${(words[at] ?? '').slice(24)}`;
  const id = (at: number) => String(BigInt(`0x${words[at]}`));
  const rights = (at: number) => `0x${words[at]}`;
  const [to, from] = [address(0), address(1)];
  const checks: Readonly<Record<string, () => boolean | bigint>> = {
    '0x9c395bc2': () => model.v1('all', to, from),
    '0x90c9a2d0': () => model.v1('contract', to, from, address(2)),
    '0xaba69cf8': () => model.v1('token', to, from, address(2), id(3)),
    '0xe839bd53': () => model.v2('all', to, from, rights(2)),
    '0x8988eea9': () => model.v2('contract', to, from, address(2), rights(3)),
    '0xb9f36874': () => model.v2('erc721', to, from, address(2), id(3), rights(4)),
    '0xba63c817': () => model.v2('erc20', to, from, address(2), rights(3)),
    '0xb8705875': () => model.v2('erc1155', to, from, address(2), id(3), rights(4)),
  };
  const answer = checks[data.slice(0, 10)]?.();
  return answer === undefined ? null : `0x${word(BigInt(answer))}`;
}

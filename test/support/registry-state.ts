// Computes the state of both registries at the end of a block, for a fake node: checks, lists, and the storage of v1 with proofs.

import { encodeRlp, toQuantity } from '../../src/chain/prove/rlp.ts';
import { delegateVersionSlot, membershipSlot, vaultVersionSlot } from '../../src/chain/prove/state.ts';
import type { Address, Bytes32, Delegation, Kind } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import { buildTrie, type FakeTrie } from './fake-trie.ts';
import { createModel, type Model } from './model.ts';

export const word = (value: string | bigint) =>
  typeof value === 'bigint' ? value.toString(16).padStart(64, '0') : value.slice(2).toLowerCase().padStart(64, '0');

/** Immutable, because blocks share it. */
interface RegistryState {
  readonly model: Model;
  /** Revocations by pair, and of everything by wallet. */
  readonly versions: ReadonlyMap<string, number>;
  /** The words of the v1 registry, and their trie. */
  readonly storage: Storage;
}

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
  let isChanged = base === null;
  for (const { calls } of missing.reverse()) {
    for (const call of calls) {
      model.call(call);
      const revoked = revokedBy(call);
      if (revoked !== null) versions.set(revoked, (versions.get(revoked) ?? 0) + 1);
      isChanged ||= call[0] === 'v1';
    }
  }
  let storage = isChanged ? null : (base?.storage ?? null);
  const state: RegistryState = {
    model,
    versions,
    get storage() {
      storage ??= storageOf(model, versions);
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

function storageOf(model: Model, versions: ReadonlyMap<string, number>): Storage {
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
  const trie = buildTrie([...words].map(([slot, word]) => [bytesOf(slot), encodeRlp(toQuantity(word))]));
  return { words, trie };
}

const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));
const NO_BYTES = new Uint8Array();
const EMPTY_CODE = bytesOf('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');

const accounts = new WeakMap<Storage, FakeTrie>();

/** The accounts of a chain: the v1 registry, and another one. */
function accountsOf({ storage }: RegistryState, registry: Address): FakeTrie {
  const account = (root: string) => encodeRlp([toQuantity(1), NO_BYTES, bytesOf(root), EMPTY_CODE]);
  let trie = accounts.get(storage);
  if (trie === undefined) {
    trie = buildTrie([
      [bytesOf(registry), account(storage.trie.root)],
      [bytesOf(`0x${'77'.repeat(20)}`), account(buildTrie([]).root)],
    ]);
    accounts.set(storage, trie);
  }
  return trie;
}

export const stateRootOf = (state: RegistryState, registry: Address): Bytes32 => accountsOf(state, registry).root;

/** What `eth_getProof` returns. */
export function proofOf(state: RegistryState, registry: Address, address: Address, asked: readonly Bytes32[]) {
  const isRegistry = address.toLowerCase() === registry;
  return {
    address,
    accountProof: accountsOf(state, registry).prove(bytesOf(address)),
    storageProof: asked.map((key) => ({
      key,
      value: isRegistry ? storedWord(state, key) : '0x0',
      proof: isRegistry ? state.storage.trie.prove(bytesOf(key)) : [],
    })),
  };
}

/** The value of a slot of the v1 registry. */
export const storedWord = ({ storage }: RegistryState, slot: string): string =>
  `0x${word(storage.words.get(`0x${word(slot)}`) ?? 0n)}`;

/** The registries' answer to a check or a list of v2; null for any other call. */
export const answerOf = ({ model }: RegistryState, data: string): string | null =>
  checkOf(model, data) ?? v2ListOf(model, data);

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

// Reads owners and balances of tokens at a block hash. Equal reads of one block are shared, and several providers must agree.

import { type Address, type Bytes32, ZERO_ADDRESS } from '../../registry/delegation.ts';
import { word } from '../../registry/registry-call.ts';
import { findCause, WrongChain } from '../rpc/errors.ts';
import { isCallFailure, isRevert, parseHeader, parseHex, parseQuantity } from '../rpc/node.ts';
import { chunksOf, createRpc, nullIfRefused, RpcError } from '../rpc/rpc.ts';
import { createSharedReads, READ_LIMITS, type ReadLimits, respondingWithin } from '../rpc/shared-reads.ts';
import { CALLS_OF_MULTICALL, decodeAggregate, encodeAggregate, MULTICALL3 } from './multicall.ts';

/** A contract at a block. */
export interface TokenContract {
  readonly chainId: number;
  readonly blockHash: Bytes32;
  readonly contract: Address;
  /** Who asks. Callers take turns. */
  readonly caller: string;
}

/** Nothing is known: not an answer. */
export interface Unavailable {
  readonly type: 'unavailable';
  /** `no-provider`: too few providers answered for this block. `disputed`: they differ. `overloaded`: too many reads wait. */
  readonly cause: 'no-provider' | 'disputed' | 'overloaded';
  /** What each provider failed with, such as `1/2 timeout`. */
  readonly failures: readonly string[];
}

/** The contract does not answer as a token does. */
export interface NotAToken {
  readonly type: 'not-a-token';
  readonly cause: 'no-code' | 'reverted' | 'bad-return-data';
}

export type OwnerRead =
  | { readonly type: 'owner'; readonly owner: Address }
  /** Nobody owns the token: it does not exist, or was burned. */
  | { readonly type: 'no-owner' }
  | NotAToken
  | Unavailable;

/** A block that only its number is known of. It must be final: otherwise a reorg would not be noticed. */
export type BlockRead = { readonly type: 'block'; readonly hash: Bytes32; readonly timestamp: number } | Unavailable;

type BalancesRead = { readonly type: 'balances'; readonly balances: readonly bigint[] } | NotAToken | Unavailable;

export type TokenReader = ReturnType<typeof createTokenReader>;

export interface TokenReaderOptions {
  /** Provider URLs by chain. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Called when two providers answer differently. */
  readonly onDispute?: (chainId: number, contract: Address, providers: readonly string[]) => void;
  /** Called for every read, shared ones included. */
  readonly onRead?: (outcome: 'answered' | Unavailable['cause']) => void;
  readonly limits?: Partial<ReadLimits>;
}

/** With several providers, two must give the same answer. A third is asked where the first two differ. */
const QUORUM = 2;
/** How long to wait before providers that rejected the block are asked again: the newest block reaches some later. */
const RETRY_MS = [200, 400, 800] as const;
/** A provider that failed in another way is asked after the others for this long. */
const UNHEALTHY_MS = 10_000;

/** Longer answers are not kept: those of many wallets would fill the memory. */
const MOST_KEPT_CALLS = 128;

const NO_PROVIDER: Unavailable = { type: 'unavailable', cause: 'no-provider', failures: [] };
const OVERLOADED: Unavailable = { type: 'unavailable', cause: 'overloaded', failures: [] };

export function createTokenReader({ nodes, onDispute, onRead, limits }: TokenReaderOptions) {
  const { requestMs, ...rest } = { ...READ_LIMITS, ...limits };
  const chains = new Map(
    [...nodes].map(([chainId, urls]) => [
      chainId,
      urls.map((url, position) => createTokenProvider(`${chainId}/${position + 1}`, chainId, url, requestMs)),
    ]),
  );
  const shared = createSharedReads<TokenData | Unavailable>(
    { requestMs, ...rest },
    (answer) => answer.type !== 'unavailable' && (answer.type !== 'data' || answer.data.length <= MOST_KEPT_CALLS),
  );

  /** Asks until enough providers answered, all of them failed, or the time is over. */
  async function ask(
    providers: readonly TokenProvider[],
    { chainId, contract }: Pick<TokenContract, 'chainId' | 'contract'>,
    work: (provider: TokenProvider, ms: number) => Promise<TokenData>,
    deadline: number,
  ): Promise<TokenData | Unavailable> {
    const now = performance.now();
    let left = providers.toSorted((a, b) => Number(a.unhealthyUntil > now) - Number(b.unhealthyUntil > now));
    const quorum = Math.min(QUORUM, providers.length);
    const answers: { readonly name: string; readonly answer: TokenData }[] = [];
    const failures = new Map<string, string>();
    const countEqual = (one: TokenData) => answers.filter(({ answer }) => Bun.deepEquals(answer, one)).length;
    const findAgreed = () => answers.find(({ answer }) => countEqual(answer) >= quorum);
    for (let round = 0; ; round++) {
      const rejected: typeof left = [];
      while (!findAgreed() && left.length > 0 && performance.now() < deadline) {
        // Two at first. If they differ, the next one by one, until two agree.
        const asked = left.slice(0, Math.max(1, quorum - answers.length));
        left = left.slice(asked.length);
        await Promise.all(
          asked.map(async (provider) => {
            const { name } = provider;
            try {
              const answer = await work(provider, deadline - performance.now());
              answers.push({ name, answer });
            } catch (error) {
              const cause = findCause(error);
              failures.set(name, cause);
              // Probably the block: a call that failed would fail again.
              if (cause !== 'rpc-error') provider.unhealthyUntil = performance.now() + UNHEALTHY_MS;
              else if (!isCallFailure(error as RpcError)) rejected.push(provider);
            }
          }),
        );
      }
      const pause = RETRY_MS[round];
      const isOver = pause === undefined || rejected.length === 0 || performance.now() + pause >= deadline;
      if (findAgreed() || isOver) break;
      await Bun.sleep(pause);
      left = rejected;
    }
    const failed = [...failures].map(([name, cause]) => `${name} ${cause}`);
    if (answers.length < quorum) return { type: 'unavailable', cause: 'no-provider', failures: failed };
    const agreed = findAgreed();
    if (agreed === undefined || countEqual(agreed.answer) < answers.length) {
      const names = answers.map(({ name }) => name);
      onDispute?.(chainId, contract, names);
      if (agreed === undefined) return { type: 'unavailable', cause: 'disputed', failures: names };
    }
    return agreed.answer;
  }

  const read = ({ chainId, blockHash, contract, caller }: TokenContract, data: readonly string[]) =>
    readCounted({ chainId, contract, caller }, [blockHash, contract, ...data].join(), (provider, ms) =>
      provider.call(contract, data, blockHash, ms),
    );

  async function readCounted(...args: Parameters<typeof readShared>): Promise<TokenData | Unavailable> {
    const answer = await readShared(...args);
    onRead?.(answer.type === 'unavailable' ? answer.cause : 'answered');
    return answer;
  }

  async function readShared(
    of: Omit<TokenContract, 'blockHash'>,
    key: string,
    work: Parameters<typeof ask>[2],
  ): Promise<TokenData | Unavailable> {
    const { chainId, caller } = of;
    const providers = chains.get(chainId);
    if (providers === undefined) return NO_PROVIDER;
    return (await shared(chainId, caller, key, (deadline) => ask(providers, of, work, deadline))) ?? OVERLOADED;
  }

  return {
    /** The hash and the time of a final block. */
    async block(chainId: number, number: number, caller: string): Promise<BlockRead> {
      const of = { chainId, contract: ZERO_ADDRESS, caller };
      const answer = await readCounted(of, `block ${number}`, (provider, ms) => provider.block(number, ms));
      if (answer.type !== 'data') return answer.type === 'unavailable' ? answer : NO_PROVIDER;
      const [hash, timestamp] = answer.data;
      return { type: 'block', hash: hash as Bytes32, timestamp: Number(timestamp) };
    },
    /** Of an ERC-721 token. */
    async ownerOf(of: TokenContract, tokenId: bigint): Promise<OwnerRead> {
      const answer = await read(of, [encodeOwnerOf(tokenId)]);
      if (answer.type === 'unavailable') return answer;
      if (answer.type === 'reverted') return explainRevert(of);
      if (answer.type === 'no-code') return { type: 'not-a-token', cause: 'no-code' };
      const owner = decodeAddress(answer.data[0] ?? '');
      if (owner === null) return { type: 'not-a-token', cause: 'bad-return-data' };
      return owner === ZERO_ADDRESS ? { type: 'no-owner' } : { type: 'owner', owner };
    },
    /** In the order of the owners: of an ERC-1155 token, or without a token of an ERC-20 or ERC-721 contract. */
    async balances(of: TokenContract, owners: readonly Address[], tokenId: bigint | null): Promise<BalancesRead> {
      if (owners.length === 0) return { type: 'balances', balances: [] };
      const calls = owners.map((owner) => encodeBalanceOf(owner, tokenId));
      const answer = await read(of, calls);
      if (answer.type === 'unavailable') return answer;
      if (answer.type !== 'data') return { type: 'not-a-token', cause: answer.type };
      const balances = answer.data.map(decodeUint256);
      return balances.every((balance) => balance !== null)
        ? { type: 'balances', balances }
        : { type: 'not-a-token', cause: 'bad-return-data' };
    },
  };

  /** `ownerOf` reverts for a token that does not exist, which means something only of a contract that declares ERC-721. */
  async function explainRevert(of: TokenContract): Promise<OwnerRead> {
    const answer = await read(of, [SUPPORTS_ERC721]);
    if (answer.type === 'unavailable') return answer;
    const isErc721 = answer.type === 'data' && decodeUint256(answer.data[0] ?? '') === 1n;
    return isErc721 ? { type: 'no-owner' } : { type: 'not-a-token', cause: 'reverted' };
  }
}

/** ERC-721 `ownerOf(uint256)`. */
export const encodeOwnerOf = (tokenId: bigint): string => `0x6352211e${word(String(tokenId))}`;

/** `balanceOf(address)` of ERC-20 and ERC-721, or with a token `balanceOf(address,uint256)` of ERC-1155. */
export const encodeBalanceOf = (owner: Address, tokenId: bigint | null): string =>
  tokenId === null ? `0x70a08231${word(owner)}` : `0x00fdd58e${word(owner)}${word(String(tokenId))}`;

/** ERC-165 `supportsInterface(bytes4)` with the id of ERC-721. */
const SUPPORTS_ERC721 = `0x01ffc9a780ac58cd${'0'.repeat(56)}`;

/** Null unless the data is exactly one word. */
const decodeUint256 = (data: string): bigint | null => (/^0x[0-9a-f]{64}$/.test(data) ? BigInt(data) : null);

/** Null unless the data is exactly one word with an address in it. */
const decodeAddress = (data: string): Address | null =>
  /^0x0{24}[0-9a-f]{40}$/.test(data) ? `0x${data.slice(26)}` : null;

/** What a contract answered to calls at one block. */
type TokenData =
  | { readonly type: 'data'; readonly data: readonly string[] }
  /** There is no contract at the address. */
  | { readonly type: 'no-code' }
  /** At least one of the calls reverted. */
  | { readonly type: 'reverted' };

type TokenProvider = ReturnType<typeof createTokenProvider>;

/** Bounds what a hostile contract costs a node. Below the maximum of one transaction (EIP-7825), which some nodes enforce. */
const GAS = '0x1e8480';
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_CONTRACTS = 10_000;
const MAX_BLOCKS = 1000;
/** A provider that rejected a block is not asked about it for this long, whoever asks: it may get it a little later. */
const REJECTED_MS = 150;
/** Calls of one HTTP request, and requests that a provider is sent at once. */
const BATCH = 25;
const REQUESTS_AT_ONCE = 8;

/** `name`: the chain id and the position of its URL, which is a secret. */
function createTokenProvider(name: string, chainId: number, url: string, timeoutMs: number) {
  const rpc = createRpc(url, { timeoutMs, maxBytes: MAX_BYTES });
  let isChainChecked = false;
  /** Whether the provider has a block, and until when that is believed. */
  const blocks = new Map<Bytes32, { readonly probe: Promise<unknown>; until: number }>();
  /** Contracts that had code at some block. */
  const contracts = new Set<Address>();

  async function requireChain(): Promise<void> {
    const id = parseQuantity('chain id', await rpc.call('eth_chainId', []));
    if (id !== chainId) throw new WrongChain(id);
    isChainChecked = true;
  }
  /** Asks once, for all that read at the block: what the provider does not have would cost a call for each wallet. */
  function requireBlock(blockHash: Bytes32, at: object): Promise<unknown> {
    const known = blocks.get(blockHash);
    if (known !== undefined && performance.now() < known.until) return known.probe;
    if (blocks.size >= MAX_BLOCKS) blocks.clear();
    const entry = { probe: rpc.call('eth_getBalance', [ZERO_ADDRESS, at]), until: Number.POSITIVE_INFINITY };
    entry.probe.catch(() => {
      entry.until = performance.now() + REJECTED_MS;
    });
    blocks.set(blockHash, entry);
    return entry.probe;
  }
  const hasCode = async (contract: Address, at: object) =>
    parseHex('code', await rpc.call('eth_getCode', [contract, at])) !== '0x';

  async function readBlock(number: number): Promise<TokenData> {
    if (!isChainChecked) await requireChain();
    const header = parseHeader(await rpc.call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]), number);
    if (header === null) throw new RpcError('refused', `no block ${number}`);
    return { type: 'data', data: [header.hash, String(header.timestamp)] };
  }

  /** Null if Multicall3 cannot tell what the contract itself would return to each call. */
  async function callAsOne(contract: Address, data: readonly string[], at: object): Promise<string[] | null> {
    if (!contracts.has(MULTICALL3)) {
      if (!(await hasCode(MULTICALL3, at))) return null;
      contracts.add(MULTICALL3);
    }
    const answers: string[] = [];
    for (const chunk of chunksOf(data, CALLS_OF_MULTICALL.most)) {
      const tx = { to: MULTICALL3, data: encodeAggregate(contract, chunk), gas: CALLS_OF_MULTICALL.gas };
      const result = await rpc.call('eth_call', [tx, at]).catch(nullIfRefused);
      const words = result === null ? null : decodeAggregate(parseHex('return data', result), chunk.length);
      if (words === null) return null;
      answers.push(...words);
    }
    return answers;
  }

  async function call(contract: Address, data: readonly string[], blockHash: Bytes32): Promise<TokenData> {
    const at = { blockHash, requireCanonical: true };
    // Once is enough: another chain does not have the block.
    if (!isChainChecked) await requireChain();
    await requireBlock(blockHash, at);
    // A precompile returns data, but has no code.
    if (!contracts.has(contract)) {
      if (!(await hasCode(contract, at))) return { type: 'no-code' };
      if (contracts.size >= MAX_CONTRACTS) contracts.clear();
      contracts.add(contract);
    }
    const asOne = data.length <= BATCH ? null : await callAsOne(contract, data, at);
    if (asOne !== null) return { type: 'data', data: asOne };
    const calls = data.map((one) => ({ method: 'eth_call', params: [{ to: contract, data: one, gas: GAS }, at] }));
    try {
      const results: unknown[] = [];
      for (const batches of chunksOf(chunksOf(calls, BATCH), REQUESTS_AT_ONCE))
        results.push(...(await Promise.all(batches.map(rpc.batch))).flat());
      const answers = results.map((result) => parseHex('return data', result));
      // The code may be younger than the block, or destroyed.
      if (answers.includes('0x') && !(await hasCode(contract, at))) return { type: 'no-code' };
      return { type: 'data', data: answers };
    } catch (error) {
      if (error instanceof RpcError && error.fault === 'refused' && isRevert(error)) return { type: 'reverted' };
      // A reorg may have removed the block.
      blocks.delete(blockHash);
      throw error;
    }
  }

  return {
    name,
    /** By the monotonic clock: others are asked first until then. */
    unhealthyUntil: 0,
    block: (number: number, ms: number): Promise<TokenData> => respondingWithin(ms, readBlock(number)),
    /** Throws if the provider fails, does not have the block, or the block is not on its canonical chain. */
    call: (contract: Address, data: readonly string[], blockHash: Bytes32, ms: number): Promise<TokenData> =>
      respondingWithin(ms, call(contract, data, blockHash)),
  };
}

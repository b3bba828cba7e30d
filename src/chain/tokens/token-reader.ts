// Reads owners and balances of tokens at a block hash. Equal reads of one block are shared, and several providers must agree.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { word } from '../../registry/registry-call.ts';
import { createTurns } from '../../store/turns.ts';
import { findCause } from '../rpc/errors.ts';
import { isCallFailure } from '../rpc/node.ts';
import type { RpcError } from '../rpc/rpc.ts';
import { createTokenProvider, type TokenData, type TokenProvider } from './token-provider.ts';

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

export type BalancesRead =
  | { readonly type: 'balances'; readonly balances: readonly bigint[] }
  | NotAToken
  | Unavailable;

export type TokenReader = ReturnType<typeof createTokenReader>;

export type TokenReadOutcome = 'answered' | Unavailable['cause'];

export interface TokenReaderOptions {
  /** Provider URLs by chain. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Called when two providers answer differently. */
  readonly onDispute?: (chainId: number, contract: Address, providers: readonly string[]) => void;
  /** Called for every read, shared ones included. */
  readonly onRead?: (outcome: TokenReadOutcome) => void;
  readonly limits?: Partial<typeof LIMITS>;
}

const LIMITS = {
  /** For each HTTP request to a provider. */
  requestMs: 4000,
  /** For a whole read, with its time in the queue. */
  readMs: 10_000,
  /** Answers that are kept. */
  maxKept: 1000,
  /** Running reads are of one chain, and waiting ones of all. */
  maxRunning: 16,
  maxWaiting: 256,
  maxRunningOfOne: 4,
  maxWaitingOfOne: 16,
};

/** A read that waited until less time is left is not started. */
const LEAST_MS = 50;
/** With several providers, two must give the same answer. A third is asked where the first two differ. */
const QUORUM = 2;
/** How long to wait before providers that rejected the block are asked again: the newest block reaches some later. */
const RETRY_MS = [200, 400, 800] as const;
/** A provider that failed in another way is asked after the others for this long. */
const UNHEALTHY_MS = 10_000;

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

const OVERLOADED: Unavailable = { type: 'unavailable', cause: 'overloaded', failures: [] };

interface Given {
  readonly name: string;
  readonly answer: TokenData;
}

const countEqual = (answers: readonly Given[], one: TokenData): number =>
  answers.filter(({ answer }) => Bun.deepEquals(answer, one)).length;

export function createTokenReader({ nodes, onDispute, onRead, limits }: TokenReaderOptions) {
  const { requestMs, readMs, maxKept, ...budget } = { ...LIMITS, ...limits };
  const queue = { waiting: 0 };
  const chains = new Map(
    [...nodes].map(([chainId, urls]) => {
      const providers = urls.map((url, position) =>
        createTokenProvider(`${chainId}/${position + 1}`, chainId, url, requestMs),
      );
      return [chainId, { providers, budget: createReadBudget(budget, queue) }];
    }),
  );
  /** Running reads and answers, the least recently used first. */
  const kept = new Map<string, Promise<TokenData | Unavailable>>();

  /** Asks until enough providers answered, all of them failed, or the time is over. */
  async function ask(
    providers: readonly TokenProvider[],
    { chainId, contract, blockHash }: TokenContract,
    data: readonly string[],
    deadline: number,
  ): Promise<TokenData | Unavailable> {
    const now = performance.now();
    let left = providers.toSorted((a, b) => Number(a.unhealthyUntil > now) - Number(b.unhealthyUntil > now));
    const quorum = Math.min(QUORUM, providers.length);
    const answers: Given[] = [];
    const failures = new Map<string, string>();
    const isAgreed = () => answers.some(({ answer }) => countEqual(answers, answer) >= quorum);
    for (let round = 0; ; round++) {
      const rejected: typeof left = [];
      while (!isAgreed() && left.length > 0 && performance.now() < deadline) {
        // Two at first. If they differ, the next one by one, until two agree.
        const asked = left.slice(0, Math.max(1, quorum - answers.length));
        left = left.slice(asked.length);
        await Promise.all(
          asked.map(async (provider) => {
            const { name } = provider;
            try {
              const answer = await provider.call(contract, data, blockHash, deadline - performance.now());
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
      if (isAgreed() || isOver) break;
      await Bun.sleep(pause);
      left = rejected;
    }
    if (answers.length < quorum)
      return {
        type: 'unavailable',
        cause: 'no-provider',
        failures: [...failures].map(([name, cause]) => `${name} ${cause}`),
      };
    const agreed = answers.find(({ answer }) => countEqual(answers, answer) >= quorum);
    if (agreed === undefined || countEqual(answers, agreed.answer) < answers.length) {
      const names = answers.map(({ name }) => name);
      onDispute?.(chainId, contract, names);
      if (agreed === undefined) return { type: 'unavailable', cause: 'disputed', failures: names };
    }
    return agreed.answer;
  }

  /** Null if too many reads wait. */
  function start(of: TokenContract, data: readonly string[]): Promise<TokenData | Unavailable> | null {
    const chain = chains.get(of.chainId);
    if (chain === undefined) return Promise.resolve({ type: 'unavailable', cause: 'no-provider', failures: [] });
    const deadline = performance.now() + readMs;
    return chain.budget.run(of.caller, async () =>
      performance.now() + LEAST_MS < deadline ? ask(chain.providers, of, data, deadline) : OVERLOADED,
    );
  }

  async function read(of: TokenContract, data: readonly string[]): Promise<TokenData | Unavailable> {
    const answer = await readShared(of, data);
    onRead?.(answer.type === 'unavailable' ? answer.cause : 'answered');
    return answer;
  }

  async function readShared(of: TokenContract, data: readonly string[]): Promise<TokenData | Unavailable> {
    const key = new Bun.CryptoHasher('sha256')
      .update([of.chainId, of.blockHash, of.contract, ...data].join())
      .digest('base64');
    let reading = kept.get(key);
    kept.delete(key);
    if (reading === undefined) {
      const started = start(of, data);
      if (started === null) return OVERLOADED;
      reading = started;
      const forget = () => {
        if (kept.get(key) === reading) kept.delete(key);
      };
      void started.then(({ type }) => type === 'unavailable' && forget(), forget);
    }
    kept.set(key, reading);
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
    return reading;
  }

  return {
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
      const answer = await read(
        of,
        owners.map((owner) => encodeBalanceOf(owner, tokenId)),
      );
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

/**
 * Limits how many reads run at once and how many wait, in all and for each caller. Callers take turns. `queue` counts the waiting reads
 * of all budgets that share it.
 */
export function createReadBudget(
  limits: Omit<typeof LIMITS, 'requestMs' | 'readMs' | 'maxKept'>,
  queue = { waiting: 0 },
) {
  const { maxRunning, maxWaiting, maxRunningOfOne, maxWaitingOfOne } = limits;
  const turns = createTurns(maxRunning, maxRunningOfOne);
  return {
    /** Runs the work when there is room. Null if too many reads are waiting. */
    run<T>(caller: string, work: () => Promise<T>): Promise<T> | null {
      if (turns.isFree(caller)) return turns.run(caller, work);
      if (queue.waiting >= maxWaiting || turns.waiting(caller) >= maxWaitingOfOne) return null;
      queue.waiting++;
      return turns.run(caller, () => {
        queue.waiting--;
        return work();
      });
    },
  };
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

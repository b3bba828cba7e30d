// Calls at the newest block of contracts that anybody can deploy. What they return is shown, and decides nothing.

import type { Address } from '../../registry/delegation.ts';
import { WrongChain } from '../rpc/errors.ts';
import { isCallFailure, isRevert, parseHex, parseQuantity } from '../rpc/node.ts';
import { chunksOf, createRpc, RpcError } from '../rpc/rpc.ts';
import { respondingWithin } from '../rpc/shared-reads.ts';
import { CALLS_OF_MULTICALL, decodeAggregate, encodeAggregate, MULTICALL3 } from '../tokens/multicall.ts';

export interface ContractCall {
  readonly to: Address;
  readonly data: string;
}

/** Of a chain's providers. Throws if too few of them answer until the deadline. */
export interface ContractCalls {
  /** What each call returned; null for one that failed or returned too much. */
  each(calls: readonly ContractCall[], deadline: number): Promise<(string | null)[]>;
  /** The word that each call of a contract returned that can be trusted with the gas of all. */
  words(to: Address, data: readonly string[], deadline: number): Promise<(string | null)[]>;
}

/** What a name takes, many times. */
const GAS = '0x7a120';
/** A longer response is as good as none. */
const MAX_BYTES = 64 * 1024;
const CALLS_AT_ONCE = 8;
/** With several providers, two must agree. */
const QUORUM = 2;
/** A provider that failed is asked after the others for this long. */
const UNHEALTHY_MS = 10_000;

export function createContractCalls(chainId: number, urls: readonly string[], timeoutMs: number): ContractCalls {
  const providers = urls.map((url) => createProvider(chainId, url, timeoutMs));
  const quorum = Math.min(QUORUM, providers.length);

  async function agreed(
    work: (provider: Provider) => Promise<(string | null)[]>,
    deadline: number,
  ): Promise<(string | null)[]> {
    const now = performance.now();
    const left = providers.toSorted((a, b) => Number(a.unhealthyUntil > now) - Number(b.unhealthyUntil > now));
    const answers: (string | null)[][] = [];
    let failure: unknown;
    while (answers.length < quorum) {
      const asked = left.splice(0, quorum - answers.length);
      if (asked.length === 0 || performance.now() >= deadline) throw failure;
      const settled = await Promise.allSettled(
        // Half of the time: another one may be asked then.
        asked.map((provider) => respondingWithin((deadline - performance.now()) / 2, work(provider))),
      );
      for (const [position, one] of settled.entries()) {
        if (one.status === 'fulfilled') answers.push(one.value);
        else {
          failure = one.reason;
          (asked[position] as Provider).unhealthyUntil = performance.now() + UNHEALTHY_MS;
        }
      }
    }
    const [first = [], ...others] = answers;
    return first.map((value, at) => (others.every((other) => other[at] === value) ? value : null));
  }

  return {
    each: (calls, deadline) => agreed((provider) => provider.each(calls), deadline),
    words: (to, data, deadline) => agreed((provider) => provider.words(to, data), deadline),
  };
}

type Provider = ReturnType<typeof createProvider>;

function createProvider(chainId: number, url: string, timeoutMs: number) {
  const rpc = createRpc(url, { timeoutMs, maxBytes: MAX_BYTES });
  let isChainChecked = false;
  async function requireChain(): Promise<void> {
    if (isChainChecked) return;
    const id = parseQuantity('chain id', await rpc.call('eth_chainId', []));
    if (id !== chainId) throw new WrongChain(id);
    isChainChecked = true;
  }
  const call = async ({ to, data }: ContractCall, gas: string) =>
    parseHex('return data', await rpc.call('eth_call', [{ to, data, gas }, 'latest'])).toLowerCase();

  async function each(calls: readonly ContractCall[]): Promise<(string | null)[]> {
    await requireChain();
    const results: (string | null)[] = [];
    for (const some of chunksOf(calls, CALLS_AT_ONCE))
      results.push(...(await Promise.all(some.map((one) => call(one, GAS).catch(nullIfOfContract)))));
    return results;
  }
  async function words(to: Address, data: readonly string[]): Promise<(string | null)[]> {
    await requireChain();
    const results: (string | null)[] = [];
    for (const some of chunksOf(data, CALLS_OF_MULTICALL.most)) {
      const asOne = { to: MULTICALL3, data: encodeAggregate(to, some) };
      const found = decodeAggregate(await call(asOne, CALLS_OF_MULTICALL.gas), some.length);
      results.push(...(found ?? (await each(some.map((one) => ({ to, data: one }))))));
    }
    return results;
  }
  return {
    /** By the monotonic clock. */
    unhealthyUntil: 0,
    each,
    words,
  };
}

/** The contract may be at fault, and not the provider. */
function nullIfOfContract(error: unknown): null {
  if (error instanceof RpcError && (error.fault === 'malformed' || isCallFailure(error) || isRevert(error)))
    return null;
  throw error;
}

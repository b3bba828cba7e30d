// Calls a token contract at a block hash through one provider.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { withTimeout } from '../../store/with-timeout.ts';
import { isProviderFault, WrongChain } from '../rpc/errors.ts';
import { isRevert, parseHex, parseQuantity } from '../rpc/node.ts';
import { createRpc, RpcError } from '../rpc/rpc.ts';

/** What a contract answered to calls at one block. */
export type TokenData =
  | { readonly type: 'data'; readonly data: readonly string[] }
  /** There is no contract at the address. */
  | { readonly type: 'no-code' }
  /** At least one of the calls reverted. */
  | { readonly type: 'reverted' };

export type TokenProvider = ReturnType<typeof createTokenProvider>;

/** Bounds what a hostile contract costs a node. Below the maximum of one transaction (EIP-7825), which some nodes enforce. */
const GAS = '0x1e8480';
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_CONTRACTS = 10_000;
const MAX_BLOCKS = 1000;
/** A provider that rejected a block is not asked about it for this long, whoever asks: it may get it a little later. */
const REJECTED_MS = 150;
const ANYBODY = `0x${'0'.repeat(40)}`;
/** Calls of one HTTP request. */
const BATCH = 25;

/** `name`: the chain id and the position of its URL, which is a secret. */
export function createTokenProvider(name: string, chainId: number, url: string, timeoutMs: number) {
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
    const entry = { probe: rpc.call('eth_getBalance', [ANYBODY, at]), until: Number.POSITIVE_INFINITY };
    entry.probe.catch(() => {
      entry.until = performance.now() + REJECTED_MS;
    });
    blocks.set(blockHash, entry);
    return entry.probe;
  }
  const hasCode = async (contract: Address, at: object) =>
    parseHex('code', await rpc.call('eth_getCode', [contract, at])) !== '0x';

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
    const calls = data.map((one) => ({ method: 'eth_call', params: [{ to: contract, data: one, gas: GAS }, at] }));
    const batches = Array.from({ length: Math.ceil(calls.length / BATCH) }, (_, batch) =>
      calls.slice(batch * BATCH, (batch + 1) * BATCH),
    );
    try {
      const results = (await Promise.all(batches.map(rpc.batch))).flat();
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
    /** Throws if the provider fails, does not have the block, or the block is not on its canonical chain. */
    async call(contract: Address, data: readonly string[], blockHash: Bytes32, ms: number): Promise<TokenData> {
      try {
        return await withTimeout(ms, call(contract, data, blockHash));
      } catch (error) {
        if (isProviderFault(error)) throw error;
        throw new RpcError('unreachable', (error as Error).message, { connection: 'timeout' });
      }
    },
  };
}

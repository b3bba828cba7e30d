// Finds out which block providers have at a height, and if they disagree, which is on the chain. A hash is not proven by itself, but a
// newer block that they agree about proves it: the hashes of parents lead down from there.

import { rootsOf } from '../prove/block.ts';
import { Inconsistent, Untrusted, WrongChain } from '../rpc/errors.ts';
import type { BlockId, BlockTag, Header, Node } from '../rpc/node.ts';
import type { Provider, Providers } from '../rpc/provider-pool.ts';
import { RpcError } from '../rpc/rpc.ts';
import type { Context } from './context.ts';
import { MAX_BETWEEN } from './lineage.ts';

/** Throws if the provider serves another chain, or does not have the block. */
export async function fetchHeader({ network, proof }: Context, node: Node, block: BlockTag): Promise<Header> {
  const { chainId, header } = await node.headerAndChainId(block);
  if (chainId !== network.chainId) throw new WrongChain(chainId);
  const fault = block === 'latest' ? 'malformed' : 'refused';
  if (header === null) throw new RpcError(fault, `the provider does not have block ${block}`);
  proof.requireHeaders([header]);
  return header;
}

/** What each provider has at a height, or as its latest block. Null if it has nothing there, or fails. */
export const headersAt = (providers: Providers, block: BlockTag): Promise<(Header | null)[]> =>
  Promise.all(providers.map(({ node }) => node.header(block).catch(() => null)));

/** Whether the node has this hash at this height. */
export const hasBlock = async (node: Node, { number, hash }: BlockId): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

export async function requireBlock(node: Node, block: BlockId): Promise<void> {
  if (!(await hasBlock(node, block))) throw new Inconsistent(`block ${block.number} changed while logs were read`);
}

/** A provider that has another block at that height, or ends below it with a block that is not among ours. Null if none has. */
export async function findOther(providers: Providers, { number, hash }: BlockId, below: readonly BlockId[] = []) {
  const ours = new Map([...below, { number, hash }].map((block) => [block.number, block.hash]));
  const headers = await Promise.all(
    providers.map(async ({ node }) => {
      const header = await node.header(number).catch(() => undefined);
      return header === null ? node.header('latest').catch(() => null) : header;
    }),
  );
  const isOther = (header: Header | null | undefined) =>
    header != null && (ours.get(header.number) ?? header.hash) !== header.hash;
  return providers.find((_, position) => isOther(headers[position])) ?? null;
}

/** The last position below `end` that matches, or -1. All matching positions must come before all others. */
export async function bisectLast(end: number, matches: (position: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [-1, end];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (await matches(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Blocks that providers may disagree about, in one call: each costs calls to the others. */
export const MAX_DIFFERENCES = 64;

export interface AgreedBlock {
  readonly header: Header;
  /** Those that have it. */
  readonly providers: Providers;
  /** Every configured provider has it, or was proven wrong about the chain below the anchor. */
  readonly isAll: boolean;
}

/**
 * The anchor is a newer block that providers have, or the block itself. Where blocks are proven, providers that do not have its ancestors
 * are blamed. Throws if it cannot be decided now.
 */
export async function findAgreedBlock(
  context: Context,
  providers: Providers,
  number: number,
  anchor: BlockId,
  refuted = 0,
): Promise<AgreedBlock> {
  let failure: unknown = new Inconsistent(`the providers disagree about block ${number}`);
  const answers = await Promise.all(
    providers.map(async (provider) => {
      const header = await provider.node.header(number).catch((error) => {
        failure = error;
        return null;
      });
      return header === null || (number === anchor.number && header.hash !== anchor.hash) ? [] : [{ provider, header }];
    }),
  );
  const having = answers.flat();
  const [first] = having;
  if (first === undefined) throw failure;
  const other = having.find(({ header }) => header.hash !== first.header.hash);
  if (other === undefined) {
    const isAll = having.length + refuted === context.providerCount;
    return { header: first.header, providers: having.map(({ provider }) => provider), isAll };
  }
  if (!context.proof.isProven) throw failure;
  const { wrong, silent } = await findWrong([first.provider, other.provider], number, anchor);
  const message = `the provider has no ancestor of block ${anchor.number} at ${number}`;
  for (const provider of wrong) context.blame(provider, new Untrusted(message, number));
  const left = providers.filter((provider) => ![...wrong, ...silent].includes(provider));
  if (left.length === providers.length) throw failure;
  return findAgreedBlock(context, left, number, anchor, refuted + wrong.length);
}

/** Which of two providers has a block below the anchor that is not its ancestor, and which does not show the blocks between. */
async function findWrong(pair: readonly [Provider, Provider], number: number, anchor: BlockId) {
  const headersOf = (height: number) => Promise.all(pair.map(({ node }) => node.header(height)));
  const without = (headers: readonly (Header | null)[], isThere: (header: Header) => boolean) =>
    pair.filter((_, position) => !headers[position] || !isThere(headers[position]));
  let [low, high] = [number, anchor.number];
  let shared = await headersOf(high);
  let silent = without(shared, ({ hash }) => hash === anchor.hash);
  while (silent.length === 0 && high - low > 1) {
    const middle = (low + high) >> 1;
    const headers = await headersOf(middle);
    silent = without(headers, () => true);
    if (headers[0]?.hash === headers[1]?.hash) [high, shared] = [middle, headers];
    else low = middle;
  }
  const parent = shared.find((header) => header && rootsOf(header) !== null)?.parentHash;
  if (silent.length > 0 || parent === undefined) return { wrong: [], silent };
  return { wrong: without(await headersOf(low), ({ hash }) => hash === parent), silent };
}

/** Whether a block is an ancestor of the anchor: by the hashes of parents, or if that is too far, because all providers have it. */
export async function isOnChain(context: Context, agreed: AgreedBlock, anchor: BlockId): Promise<boolean> {
  const { header, providers, isAll } = agreed;
  if (!context.proof.isProven || anchor.number - header.number > MAX_BETWEEN) return isAll;
  const [{ node }] = providers as [Provider];
  return (await context.lineage.ancestorAt(node, anchor, header.number)) === header.hash;
}

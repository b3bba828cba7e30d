// Lies that fit together: a node that invents a transaction shows it in the block's body, its receipts, its logs and its state too. Only
// the block's hash contradicts it.

import { stateSyncHash } from '../../src/chain/prove/receipts.ts';
import type { Address, Bytes32 } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import {
  type FakeBlock,
  type FakeNode,
  type FakeTransaction,
  type Fault,
  logOfCall,
  sealedHeader,
} from './fake-node.ts';
import { type FaultMaker, seeing, showing } from './node-quirks.ts';
import { below, pickFrom, type Random } from './random.ts';
import { word } from './registry-state.ts';
import { MAINNET } from './vectors.ts';
import { WALLETS } from './wallets.ts';

const STRANGER = `0x${'57'.repeat(20)}` as const;
const NO_RIGHTS = `0x${'0'.repeat(64)}`;

/** Calls that never happened: a grant, a revocation, and some that change nothing, so that no state contradicts them. */
const inventedCalls = (random: Random): RegistryCall[] => {
  const [from, to] = [pickFrom(random, WALLETS), pickFrom(random, WALLETS)];
  return pickFrom<readonly RegistryCall[]>(random, [
    [['v2', from, 'delegateAll', [to, NO_RIGHTS, true]]],
    [['v1', from, 'delegateForAll', [to, true]]],
    [['v1', from, 'revokeAllDelegates', []]],
    [['v1', to, 'revokeSelf', [from]]],
    // No-ops.
    [['v1', STRANGER, 'revokeAllDelegates', []]],
    [['v1', STRANGER, 'revokeSelf', [from]]],
    [['v2', STRANGER, 'delegateAll', [to, NO_RIGHTS, false]]],
    // A no-op as a bait, and a grant.
    [
      ['v1', STRANGER, 'revokeAllDelegates', []],
      ['v2', from, 'delegateAll', [to, NO_RIGHTS, true]],
    ],
  ]) as RegistryCall[];
};

const transactionOf = (random: Random, calls: readonly RegistryCall[]): FakeTransaction => ({
  hash: `0x${word(BigInt(below(random, 2 ** 40)) + (1n << 200n))}`,
  from: `0x${'ee'.repeat(20)}`,
  to: `0x${'ba'.repeat(20)}`,
  input: '0x12345678',
  logs: calls.map(logOfCall),
});

/** How the header of a changed block is shown. */
type HeaderLie = 'kept' | 'resealed';

/** Adds a transaction to a block, hides one, or changes one, under the same hash. */
function changeBlock(random: Random, block: FakeBlock, header: HeaderLie): FakeBlock {
  const own = block.transactions;
  const kind = own.length === 0 ? 0 : below(random, 4);
  const invented = transactionOf(random, inventedCalls(random));
  const at = below(random, Math.max(1, own.length));
  const transactions =
    kind === 0
      ? [...own.slice(0, at), invented, ...own.slice(at)]
      : kind === 1
        ? own.filter((_, position) => position !== at)
        : kind === 2
          ? own.with(at, { ...(own[at] as FakeTransaction), logs: invented.logs })
          : own.toReversed();
  const changed = { ...block, transactions };
  if (header === 'kept' || block.header === undefined) return changed;
  return { ...changed, header: sealedHeader(changed, block.header['stateRoot'] as string).header };
}

/** Answers from a chain in which every k-th block is changed, always in the same way. */
const fabricates =
  (header: HeaderLie): FaultMaker =>
  (random, node) => {
    const every = 1 + below(random, 6);
    const changed = new Map<string, FakeBlock>();
    return showing(node, (whole) =>
      whole.map((block) => {
        if (block.number % every !== 0) return block;
        const lie = changed.get(block.hash) ?? changeBlock(random, block, header);
        changed.set(block.hash, lie);
        return lie;
      }),
    );
  };

/** A branch of its own with other transactions, whose headers hash to their hashes. */
const ownBranch: FaultMaker = (random, node) => {
  const depth = 1 + below(random, 6);
  const calls = inventedCalls(random);
  return showing(node, (whole) => {
    const from = Math.max(1, whole.length - depth);
    const branch = [...whole.slice(0, from)];
    for (const block of whole.slice(from)) {
      const transactions = [...block.transactions, transactionOf(random, calls)];
      const content = { ...block, transactions, parentHash: branch.at(-1)?.hash as FakeBlock['hash'] };
      branch.push({
        ...content,
        ...sealedHeader(content, block.header?.['stateRoot'] ?? NO_RIGHTS, { extraData: '0x11a1' }),
      });
    }
    return branch;
  });
};

/** Inputs of transactions that name another delegate, as if the wallet had called the registry itself. */
const liesInInputs: FaultMaker = (random) => {
  const vault = pickFrom(random, WALLETS);
  const delegate = pickFrom(random, WALLETS);
  return (question, honest) => {
    const answer = honest();
    if (question.method !== 'eth_getTransactionByHash' || answer === null) return answer;
    return { ...(answer as object), from: vault, to: MAINNET.registries[1], input: `0xfa352c00${word(delegate)}` };
  };
};

/** Words of storage that are others, with the proofs of the right ones, or of another block, or of nothing. */
const liesInStorage: FaultMaker = (random, node) => {
  const kind = below(random, 4);
  const flip = (value: string) => (BigInt(value) === 0n ? `0x${word(1n)}` : `0x${word(0n)}`);
  return (question, honest) => {
    if (question.method === 'eth_getStorageAt') return flip(honest() as string);
    if (question.method !== 'eth_getProof') return honest();
    if (kind === 0) return staleProof(node, question.params);
    const proof = honest() as { storageProof: { value: string; proof: string[] }[]; accountProof: string[] };
    if (kind === 1) return { ...proof, accountProof: proof.accountProof.slice(0, -1) };
    return {
      ...proof,
      storageProof: proof.storageProof.map((one) => ({
        ...one,
        value: flip(one.value),
        proof: kind === 2 ? one.proof : [],
      })),
    };
  };
};

function staleProof(node: FakeNode, [address, slots]: readonly unknown[]): unknown {
  const old = node.chain[Math.max(0, node.chain.length - 5)];
  return old?.proof?.(address as Address, slots as `0x${string}`[]);
}

/** Logs of blocks in which there are others, with receipts that have them, but not in the body. */
const forgesReceipts: FaultMaker = (random, node) => {
  const lie = fabricates('kept')(random, node);
  return (question, honest) =>
    /^eth_(getLogs|getBlockReceipts|getTransactionReceipt|getTransactionByHash)$/.test(question.method)
      ? lie(question, honest)
      : honest();
};

/** A state root of its own in headers that are otherwise right. */
const ownStateRoot: Fault = (question, honest) => {
  const block = honest();
  if (!/^eth_getBlockBy/.test(question.method) || block === null) return block;
  return { ...(block as object), stateRoot: NO_RIGHTS };
};

/** Single blocks of its own at some heights, with headers that come out. Their children do not link to them. */
const ownBlocks: FaultMaker = (random, node) => {
  const every = 2 + below(random, 9);
  const calls = inventedCalls(random);
  return showing(node, (whole) =>
    whole.map((block) => {
      if (block.number % every !== 0) return block;
      const content = { ...block, transactions: [transactionOf(random, calls)] };
      return { ...content, ...sealedHeader(content, block.header?.['stateRoot'] ?? NO_RIGHTS) };
    }),
  );
};

/** Names other transactions of the chain in logs and receipts: no root covers their hashes. */
const swapsTransactions: FaultMaker = (random, node) => (question, honest) => {
  const answer = honest();
  if (!/^eth_(getLogs|getBlockReceipts)$/.test(question.method) || !Array.isArray(answer)) return answer;
  const all = node.chain.flatMap(({ transactions }) => transactions);
  return answer.map((one) => ({ ...one, transactionHash: pickFrom(random, all)?.hash ?? one.transactionHash }));
};

/** A receipt as Polygon has for messages of Ethereum, which no root covers. */
const addsMessages: FaultMaker = (random, node) => {
  const calls = inventedCalls(random);
  return (_, honest) =>
    seeing(
      node,
      node.chain.map((block) => {
        const hash = stateSyncHash({ stateSync: true }, block) as Bytes32;
        return { ...block, transactions: [...block.transactions, { ...transactionOf(random, calls), hash }] };
      }),
      honest,
    );
};

/** Headers of another kind of chain, malformed. */
const malformsHeaders: FaultMaker = (random) => {
  const extra = pickFrom(random, ['ff', '820102', 'c3808080', '']);
  return (question, honest) => {
    const block = honest();
    if (!/^eth_getBlockBy/.test(question.method) || block === null) return block;
    const { gasLimit: _, mixHash: __, ...rest } = block as Record<string, unknown>;
    return { ...rest, extraData: `0x${'00'.repeat(32)}${extra}` };
  };
};

export const LIAR_QUIRKS: Readonly<Record<string, FaultMaker>> = {
  fabricates: fabricates('kept'),
  fabricatesHeaders: fabricates('resealed'),
  ownBranch,
  liesInInputs,
  liesInStorage,
  forgesReceipts,
  ownStateRoot: () => ownStateRoot,
  ownBlocks,
  swapsTransactions,
  addsMessages,
  malformsHeaders,
};

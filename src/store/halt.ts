// Why a chain is halted, as data. The code alone decides what clears it; messages for people are built from it.

import type { Question } from '../registry/check.ts';
import type { Address, Bytes32 } from '../registry/delegation.ts';

/** How many delegations a wallet ever granted, or was ever granted: the registry never forgets one in its lists. */
export interface ListLength {
  readonly version: 2;
  readonly list: 'outgoing' | 'incoming';
  readonly wallet: Address;
}

/** What a registry answered to a question. */
export interface Statement {
  readonly question: Question | ListLength;
  /** The answer as text. */
  readonly says: string;
  /** It follows from the hash of the block. */
  readonly isProven: boolean;
}

/** More disputed wallets, or pairs of wallets, halt the chain. */
export const MAX_DISPUTED = 100;
export const MAX_DISPUTES = 1000;

/** A wallet whose delegations providers or the registry contradict. Answers about it are refused until they agree. */
export interface Dispute {
  readonly vault: Address;
  /** The other wallet; its lists are refused too. Null if it is unknown. The same one if all answers about the wallet are in doubt. */
  readonly delegate: Address | null;
  /** Unix seconds. */
  readonly since: number;
  readonly block: number;
  /** What the registry answered; null if the logs of the block are disputed. */
  readonly statement: Statement | null;
}

/** Whether answers about what a wallet has granted, or the lists of a wallet, are refused. */
export const findDispute = (
  disputes: readonly Dispute[],
  about: { readonly from: Address; readonly to?: Address } | { readonly wallet: Address },
): Dispute | undefined =>
  disputes.find(({ vault, delegate }) =>
    'from' in about
      ? vault === about.from || (vault === delegate && vault === about.to)
      : vault === about.wallet || delegate === about.wallet,
  );

/** The wallets that a statement is about. */
export const walletsOf = ({ question }: Statement): Pick<Dispute, 'vault' | 'delegate'> =>
  'list' in question
    ? { vault: question.wallet, delegate: question.wallet }
    : { vault: question.from, delegate: question.to };

export type Halt = { readonly since: number } & (
  | {
      /** A finalized block is no longer the chain's. */
      readonly code: 'finality-violation';
      readonly block: number;
      readonly theirs: Bytes32 | null;
      /** No provider has any of the indexed blocks. */
      readonly foreign?: boolean;
    }
  /** So many wallets are disputed that others may be wrong too. */
  | { readonly code: 'registry-mismatch'; readonly block: number }
  | { readonly code: 'import-unfinished' }
);

/** Says what happened and what to do about it. */
export function describeHalt(chainId: number, halt: Halt): { readonly cause: string; readonly help: string } {
  const rewind = (block: number) => `delegations rewind --chain ${chainId} --to ${Math.max(0, block - 1)}`;
  switch (halt.code) {
    case 'finality-violation':
      return halt.foreign
        ? {
            cause: `No provider has any of the indexed blocks: finalized block ${halt.block} is not theirs.`,
            help: `Check that RPC_URL_${chainId} names nodes of chain ${chainId}. If the chain itself was restarted, index it into an empty store.`,
          }
        : {
            cause: `Finalized block ${halt.block} changed${halt.theirs === null ? '' : `: it is now ${halt.theirs}`}.`,
            help: `Resumes when the providers agree for two minutes. To decide now: ${rewind(halt.block)}`,
          };
    case 'registry-mismatch':
      return {
        cause: `The registry contradicts the index about more than ${MAX_DISPUTED} wallets at block ${halt.block}.`,
        help: `Resumes when the audit has repaired the index. To look: delegations audit --chain ${chainId}`,
      };
    case 'import-unfinished':
      return {
        cause: 'An import was interrupted.',
        help: 'Run the same delegations import command again to finish it.',
      };
  }
}

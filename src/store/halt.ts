// Why a chain is halted, as data. The code alone decides what clears it; messages for people are built from it.

import type { Question } from '../registry/check.ts';
import type { Address, Bytes32 } from '../registry/delegation.ts';

/** A wallet's list. The v1 lists by delegate are not read, because v1 checks cover the same rows. */
export type WalletList =
  | { readonly version: 1; readonly wallet: Address; readonly direction: 'outgoing' }
  | { readonly version: 2; readonly wallet: Address; readonly direction: 'outgoing' | 'incoming' };

/** A question or list that a registry can answer. */
export type Subject = Question | WalletList;

/** What a registry answered. */
export interface Statement {
  readonly subject: Subject;
  /** In canonical form: two answers are equal exactly if their texts are. */
  readonly says: string;
}

export type Halt = { readonly since: number } & (
  | {
      /** A finalized block is no longer the chain's. */
      readonly code: 'finality-violation';
      readonly block: number;
      readonly theirs: Bytes32 | null;
      /** No provider has any of the indexed blocks. */
      readonly foreign?: boolean;
    }
  | {
      /** The registry's answer differs from the index. Without statements, the answer was not kept. */
      readonly code: 'registry-mismatch';
      readonly block: number;
      readonly statements: readonly Statement[];
    }
  | {
      /** The index has a log that the chain does not have. */
      readonly code: 'index-mismatch';
      readonly block: number;
    }
  | { readonly code: 'import-unfinished' }
);

export type HaltCode = Halt['code'];

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
        cause: `The registry answered ${halt.statements.length || 'some'} question${halt.statements.length === 1 ? '' : 's'} differently from the index at block ${halt.block}.`,
        help: `Resumes when the audit has found and repaired the difference. To look: delegations audit --chain ${chainId}`,
      };
    case 'index-mismatch':
      return {
        cause: `Block ${halt.block} of the index has a log that the chain does not have.`,
        help: `Resumes when the audit has compared all blocks. To read them again now: ${rewind(halt.block)}`,
      };
    case 'import-unfinished':
      return {
        cause: 'An import was interrupted.',
        help: 'Run the same delegations import command again to finish it.',
      };
  }
}

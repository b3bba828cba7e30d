// The API's answers as those read them who ask it: the command line and the pages.

/** A delegation with `detail=full` and `numbers=string`, of either version. */
export interface DelegationRecord {
  readonly type: 'ALL' | 'CONTRACT' | 'TOKEN';
  readonly from?: string;
  readonly to?: string;
  readonly vault?: string;
  readonly delegate?: string;
  readonly contract: string | null;
  readonly tokenId: string | null;
  readonly standard: string | null;
  readonly rights: string | null;
  readonly amount: string | null;
  readonly since: { readonly block: number; readonly timestamp: number; readonly transactionHash: string };
}

export const coldOf = ({ from, vault }: DelegationRecord): string => from ?? vault ?? '';
export const hotOf = ({ to, delegate }: DelegationRecord): string => to ?? delegate ?? '';

/** A check with `explain=true` and `numbers=string`. */
export interface Explanation {
  readonly result: boolean | string;
  readonly delegations: readonly DelegationRecord[];
  readonly block: { readonly number: number; readonly timestamp: number | null };
}

/** Whether anything is granted: a balance of 0 is a no. */
export const isYes = ({ result }: Explanation): boolean => result !== false && result !== '0';

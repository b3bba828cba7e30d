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

/** A chain as `/networks` has it. */
export interface NetworkRecord {
  readonly chainId: number;
  readonly name: string | null;
  readonly testnet: boolean | null;
  readonly registries: { readonly v1: string | null; readonly v2: string | null };
  readonly ready: boolean;
  readonly firstBlock: number | null;
  readonly partial: boolean | null;
  readonly head: { readonly number: number; readonly hash: string; readonly timestamp: number } | null;
  readonly finalizedBlock: number | null;
  readonly confirmedBlock: number | null;
  readonly chainBlock: number | null;
  readonly progress: {
    readonly share: number;
    readonly logsPerSecond: number;
    readonly secondsLeft: number | null;
    readonly audited: number;
    readonly compared: number;
    readonly providers: readonly { readonly name: string; readonly healthy: boolean }[];
  } | null;
  readonly halt: {
    readonly code: string;
    readonly since: number;
    readonly cause: string;
    readonly help: string;
  } | null;
  readonly lagSeconds: number | null;
  readonly maxLagSeconds: number;
  readonly clockBehindSeconds: number;
}

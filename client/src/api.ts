// The types of the API. Generated from src/api by `npm run types -w client`: do not edit.

/** 0x and hex digits. */
export type Hex = `0x${string}`;

/** Fields that hold a uint256. */
export const UINT256_FIELDS = ['amount', 'balance', 'result', 'tokenId'];

export interface DetailedDelegation {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  readonly version: 1 | 2;
  /** With its EIP-55 checksum. */
  readonly from: Hex;
  /** With its EIP-55 checksum. */
  readonly to: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
  readonly standard: 'ERC721' | 'ERC20' | 'ERC1155' | null;
  readonly rights: Hex | null;
  readonly rightsText: string | null;
  readonly rightsName: string | null;
  readonly rightsId: Hex | null;
  readonly expires: number | 'never' | null;
  readonly amount: bigint | null;
  readonly chainId: number;
  readonly since: {
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly transactionHash: Hex;
    readonly logIndex: number;
  };
}

export interface Block {
  readonly number: number;
  readonly hash: Hex | null;
  readonly timestamp: number | null;
}

/** As in a refusal. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly errors?: readonly { readonly parameter: string; readonly detail: string }[] | undefined;
  readonly [field: string]: unknown;
}

export type ChainPart =
  | {
      readonly chainId: number;
      readonly block: Block;
      /** The first indexed block, if the registry may be older. Earlier grants are unknown. */
      readonly indexedFrom?: number | undefined;
    }
  | { readonly chainId: number; readonly problem: Problem };

export interface Vaults {
  /** With its EIP-55 checksum. */
  readonly wallet: Hex;
  /** Whether every chain has answered. If not, `chains` says which has not, and why. */
  readonly complete: boolean;
  readonly vaults: readonly {
    /** With its EIP-55 checksum. */
    readonly vault: Hex;
    readonly chainId: number;
    /** Whether the delegations cover only a part of what is asked. */
    readonly narrower: boolean;
    readonly grants: readonly DetailedDelegation[];
  }[];
  readonly chains: readonly ChainPart[];
  readonly next: string | null;
  readonly nextChange?: number | null | undefined;
}

export interface Delegates {
  /** With its EIP-55 checksum. */
  readonly wallet: Hex;
  /** Whether every chain has answered. If not, `chains` says which has not, and why. */
  readonly complete: boolean;
  readonly delegates: readonly {
    /** With its EIP-55 checksum. */
    readonly delegate: Hex;
    readonly chainId: number;
    /** Whether the delegations cover only a part of what is asked. */
    readonly narrower: boolean;
    readonly grants: readonly DetailedDelegation[];
  }[];
  readonly chains: readonly ChainPart[];
  readonly next: string | null;
}

/** An integer with every digit, or its decimal text with `numbers=string`. */
export type Balance = bigint;

export interface Holders {
  /** With its EIP-55 checksum. */
  readonly wallet: Hex;
  readonly holds: boolean | null;
  readonly chainId: number;
  readonly block: Block;
  readonly holders: readonly {
    /** With its EIP-55 checksum. */
    readonly owner: Hex;
    /** What the owner holds, at most what it delegated. 1 for an ERC-721 token; without `tokenId`, the number of its tokens. */
    readonly balance: Balance;
    /** The delegations by which the wallet may act for this owner. Empty if the wallet is the owner. */
    readonly delegations: readonly DetailedDelegation[];
  }[];
  readonly next: string | null;
  /** With `delegationChainId`: the chains whose delegations count, and the block at which each was read. */
  readonly delegationChains?: readonly { readonly chainId: number; readonly block: Block }[] | undefined;
}

export interface DelegationChange {
  readonly type: 'began' | 'changed' | 'ended';
  readonly chainId: number;
  readonly block: Block;
  readonly transactionHash: Hex;
  readonly logIndex: number;
  /** Whether the block was final when this was sent. */
  readonly final: boolean;
  readonly delegation: DetailedDelegation;
}

/** Everything after this block of the chain is void: discard it. What replaced it follows. */
export interface Undo {
  readonly type: 'undo';
  readonly chainId: number;
  readonly block: Block;
}

export interface HistoryEntry {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  readonly version: 1 | 2;
  /** With its EIP-55 checksum. */
  readonly from: Hex;
  /** With its EIP-55 checksum. */
  readonly to: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
  readonly standard: 'ERC721' | 'ERC20' | 'ERC1155' | null;
  readonly rights: Hex | null;
  readonly rightsText: string | null;
  readonly rightsName: string | null;
  readonly rightsId: Hex | null;
  readonly expires: number | 'never' | null;
  readonly amount: bigint | null;
  readonly chainId: number;
  readonly since: {
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly transactionHash: Hex;
    readonly logIndex: number;
  };
  /** What ended it: a revocation, or a grant with another amount. Null if it holds. */
  readonly until: {
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly transactionHash: Hex;
    readonly logIndex: number;
  } | null;
}

export interface RegistryProof {
  readonly registry: 1 | 2;
  readonly address: string;
  readonly accountProof: readonly string[];
  readonly storageProof: readonly {
    readonly key: Hex;
    readonly value: string;
    readonly proof: readonly string[];
    /** What the word is. */
    readonly means: string;
  }[];
}

export interface ProvenAnswer {
  readonly result: boolean;
  readonly block: {
    readonly number: number;
    readonly hash: Hex;
    /** Unix seconds. */
    readonly timestamp: number;
  };
  /** The header of the block in RLP: its Keccak hash is the hash of the block. */
  readonly header: string;
  readonly proofs: readonly RegistryProof[];
}

export interface ProvenBalance {
  readonly result: Balance;
  readonly block: {
    readonly number: number;
    readonly hash: Hex;
    /** Unix seconds. */
    readonly timestamp: number;
  };
  /** The header of the block in RLP: its Keccak hash is the hash of the block. */
  readonly header: string;
  readonly proofs: readonly RegistryProof[];
}

export interface DelegationV2 {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  /** With its EIP-55 checksum. */
  readonly from: Hex;
  /** With its EIP-55 checksum. */
  readonly to: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
}

export interface DetailedDelegationV2 {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  /** With its EIP-55 checksum. */
  readonly from: Hex;
  /** With its EIP-55 checksum. */
  readonly to: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
  readonly standard: 'ERC721' | 'ERC20' | 'ERC1155' | null;
  readonly rights: Hex | null;
  readonly rightsText: string | null;
  readonly rightsName: string | null;
  readonly rightsId: Hex | null;
  readonly expires: number | 'never' | null;
  readonly amount: bigint | null;
  readonly chainId: number;
  readonly since: {
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly transactionHash: Hex;
    readonly logIndex: number;
  };
}

export interface DelegationV1 {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  /** With its EIP-55 checksum. */
  readonly delegate: Hex;
  /** With its EIP-55 checksum. */
  readonly vault: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
}

export interface DetailedDelegationV1 {
  /** With `types=standard`, a list has the standard of a token instead of `TOKEN`. */
  readonly type: 'NONE' | 'ALL' | 'CONTRACT' | 'TOKEN' | 'ERC721' | 'ERC20' | 'ERC1155';
  /** With its EIP-55 checksum. */
  readonly delegate: Hex;
  /** With its EIP-55 checksum. */
  readonly vault: Hex;
  readonly contract: Hex | null;
  readonly tokenId: bigint | null;
  readonly standard: 'ERC721' | 'ERC20' | 'ERC1155' | null;
  readonly rights: Hex | null;
  readonly rightsText: string | null;
  readonly rightsName: string | null;
  readonly rightsId: Hex | null;
  readonly expires: number | 'never' | null;
  readonly amount: bigint | null;
  readonly chainId: number;
  readonly since: {
    readonly block: number;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly transactionHash: Hex;
    readonly logIndex: number;
  };
}

export interface ExclusiveWallet {
  /** With its EIP-55 checksum. */
  readonly wallet: Hex;
  /** With its EIP-55 checksum. */
  readonly vault: Hex;
  /** Whether a delegation decides. If not, the vault acts for itself. */
  readonly delegated: boolean;
  readonly delegation: DetailedDelegationV2 | null;
  readonly expires: number | 'never' | null;
  readonly nextChange: number | null;
}

export interface ExclusiveOwner {
  readonly wallet: Hex | null;
  readonly vault: Hex | null;
  /** Whether a delegation decides. If not, the vault acts for itself. */
  readonly delegated: boolean;
  readonly delegation: DetailedDelegationV2 | null;
  readonly expires: number | 'never' | null;
  readonly nextChange: number | null;
}

export interface ExclusiveVaults {
  /** With its EIP-55 checksum. */
  readonly wallet: Hex;
  /** Whether every chain has answered. If not, `chains` says which has not, and why. */
  readonly complete: boolean;
  readonly vaults: readonly {
    /** With its EIP-55 checksum. */
    readonly vault: Hex;
    readonly chainId: number;
    readonly delegation: DetailedDelegationV2;
    readonly expires: number | 'never' | null;
  }[];
  readonly chains: readonly ChainPart[];
  readonly next: string | null;
  readonly nextChange: number | null;
}

export interface Batch {
  /** Whether every question was answered. */
  readonly complete: boolean;
  /** The chains of the questions, in the order of their first one. */
  readonly chains: readonly ChainPart[];
  /** In the order of the questions. */
  readonly answers: readonly (
    | { readonly result: boolean | Balance }
    | ProvenAnswer
    | ProvenBalance
    | { readonly problem: Problem }
  )[];
}

export interface Votes {
  readonly score: readonly {
    /** As it was asked. */
    readonly address: string;
    /** Decimal digits, in the token's smallest unit. */
    readonly score: string;
  }[];
  /** The chain and the block at which balances were read. */
  readonly token: { readonly chainId: number; readonly block: Block };
  /** The chains and the blocks at which delegations were read. The first on which an owner has delegated decides. */
  readonly delegations: readonly { readonly chainId: number; readonly block: Block }[];
  /** With `explain=true`: every owner that counts for one of the addresses. Otherwise null. */
  readonly owners:
    | readonly {
        /** With its EIP-55 checksum. */
        readonly owner: Hex;
        /** Decimal digits, in the token's smallest unit. */
        readonly balance: string;
        /** With its EIP-55 checksum. */
        readonly voter: Hex;
        /** `exclusive`: the exclusive wallet of the owner. `last`: the last delegation in its list. `none`: nothing is delegated, so the owner votes. */
        readonly reason: 'exclusive' | 'last' | 'none';
        readonly delegation: DetailedDelegation | null;
      }[]
    | null;
}

export interface Network {
  readonly chainId: number;
  readonly name: string | null;
  readonly testnet: boolean | null;
  readonly registries: { readonly v1: Hex | null; readonly v2: Hex | null };
  /** Whether the chain is answered at its head. */
  readonly ready: boolean;
  readonly firstBlock: number | null;
  /** Whether the registry may be older than the first indexed block. Earlier grants are unknown. */
  readonly partial: boolean | null;
  readonly head: {
    readonly number: number;
    readonly hash: Hex;
    /** Unix seconds. */
    readonly timestamp: number;
  } | null;
  readonly finalizedBlock: number | null;
  /** History up to `to` came from an archive, of which this share is confirmed by providers of the chain. Null if all is. */
  readonly imported: { readonly to: number; readonly confirmed: number } | null;
  readonly confirmedBlock: number | null;
  /** Whether the logs of a block are proven against its hash, or only compared between providers. */
  readonly proofs: {
    readonly mode: 'proven' | 'compared' | null;
    /** The logs of all indexed blocks from this one on are proven. Null if none are, or the mode is compared. */
    readonly logsFrom: number | null;
    /** Of the new blocks since the start: for how many it is proven which logs they have, or that they have none. */
    readonly share: number | null;
  };
  /** Wallets about which answers are refused, because providers or the registry contradict the index. */
  readonly disputedWallets: number;
  readonly chainBlock: number | null;
  /** Null if the process that answers has no status of a follower. */
  readonly progress: {
    /** The share of the history that is indexed, from 0 to 1. */
    readonly share: number;
    readonly logsPerSecond: number;
    readonly secondsLeft: number | null;
    /** Finalized blocks that the audit compared with the chain. */
    readonly audited: number;
    /** Answers of the registry contract that the audit compared with ours. */
    readonly compared: number;
    /** Why no step of the follower has succeeded for a while. The message itself is in its log. */
    readonly failing: {
      readonly cause: 'database-full' | 'database-unavailable' | 'database-failed' | 'providers' | 'internal';
      /** Unix seconds. */
      readonly since: number;
      /** How many steps failed since then. */
      readonly ticks: number;
    } | null;
    readonly providers: readonly {
      /** The chain id and the position of its URL in the configuration. */
      readonly name: string;
      readonly healthy: boolean;
      readonly cause:
        | 'dns'
        | 'tls'
        | 'connection-refused'
        | 'connection-lost'
        | 'timeout'
        | 'http-3xx'
        | 'http-401'
        | 'http-402'
        | 'http-403'
        | 'http-404'
        | 'http-4xx'
        | 'http-5xx'
        | 'rate-limited'
        | 'rpc-error'
        | 'bad-response'
        | 'wrong-chain'
        | 'no-registry'
        | 'syncing'
        | 'behind'
        | 'inconsistent'
        | 'wrong-data'
        | null;
    }[];
  } | null;
  /** Why the chain is halted. */
  readonly halt: {
    readonly code: 'finality-violation' | 'registry-mismatch' | 'import-unfinished';
    /** Unix seconds. */
    readonly since: number;
    readonly cause: string;
    /** How the chain resumes. */
    readonly help: string;
  } | null;
  readonly lagSeconds: number | null;
  /** With a larger lag the chain answers 503. */
  readonly maxLagSeconds: number;
  /** The lag over the last day, up to the last whole step. Null before the first one. */
  readonly lagHistory: {
    /** When the first step began. */
    readonly since: number;
    readonly stepSeconds: number;
    /** The highest lag in each step, oldest first. Null where nothing followed the chain. */
    readonly seconds: readonly (number | null)[];
  } | null;
  /** How far the clock of the server is behind the chain. 0 if it is not. */
  readonly clockBehindSeconds: number;
}

/** The parameters and the body of each operation. */
export interface Operations {
  readonly vaults: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. With `resolver=exclusive`, an identifier: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`. */
      readonly rights?: string | undefined;
      /** `exclusive`: by exclusive resolution, the wallets for which this wallet alone acts. For one contract it needs `tokenId` too. */
      readonly resolver?: 'exclusive' | undefined;
      /** `true` adds wallets whose delegations cover only a part of what is asked: some contracts, or some tokens. */
      readonly narrower?: boolean | undefined;
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: Vaults;
  };
  readonly delegates: {
    readonly params: {
      /** The cold wallet that issued the delegations. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** `true` adds wallets whose delegations cover only a part of what is asked: some contracts, or some tokens. */
      readonly narrower?: boolean | undefined;
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: Delegates;
  };
  readonly holders: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** The standard of the contract. Without it: ERC-721 if `tokenId` is given, otherwise the balance of an ERC-721 or ERC-20 contract. `ERC20` also counts delegated amounts, `ERC1155` needs `tokenId`. */
      readonly standard?: 'ERC721' | 'ERC1155' | 'ERC20' | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. With `resolver=exclusive`, an identifier: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`. */
      readonly rights?: string | undefined;
      /** `exclusive`: by exclusive resolution, the wallets for which this wallet alone acts. For one contract it needs `tokenId` too. */
      readonly resolver?: 'exclusive' | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** The chains whose delegations count, separated by commas; by default, that of the token. Where one delegation decides, it is that of the first chain on which an owner has one. */
      readonly delegationChainId?: string | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** How many wallets to ask for their balance on one page, besides the wallet itself: 1 to 100. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: Holders;
  };
  readonly changes: {
    readonly params: {
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Report only delegations from or to this wallet. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet?: string | undefined;
      /** Report only delegations that this cold wallet issued. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from?: string | undefined;
      /** Report only delegations to this hot wallet. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to?: string | undefined;
      /** Report only delegations limited to this contract. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** `true` reports a change only when its block is final. */
      readonly final?: boolean | undefined;
      /** Where to start without a cursor: with the first change of all, or after the newest block. */
      readonly start?: 'first' | 'head' | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where to continue: `cursor` of the previous page, or the id of the last event of a stream. */
      readonly cursor?: string | undefined;
    };
    readonly body: {
      readonly changes: readonly (DelegationChange | Undo)[];
      /** Whether every chain has answered. If not, `chains` says which has not, and why. */
      readonly complete: boolean;
      readonly chains: readonly ChainPart[];
      /** Whether nothing more has happened yet. */
      readonly end: boolean;
      /** The `cursor` of the next request, now or later. */
      readonly cursor: string;
    };
  };
  readonly history: {
    readonly params: {
      /** The wallet whose delegations are listed. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** List only delegations to the wallet (incoming) or from it (outgoing). */
      readonly direction?: 'incoming' | 'outgoing' | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: {
      /** With its EIP-55 checksum. */
      readonly wallet: Hex;
      /** Whether every chain has answered. If not, `chains` says which has not, and why. */
      readonly complete: boolean;
      readonly grants: readonly HistoryEntry[];
      readonly chains: readonly ChainPart[];
      readonly next: string | null;
    };
  };
  readonly listAny: {
    readonly params: {
      /** The wallet whose delegations are listed. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** List only delegations to the wallet (incoming) or from it (outgoing). */
      readonly direction?: 'incoming' | 'outgoing' | undefined;
      /** List only delegations of this type. */
      readonly type?: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
      /** List only delegations limited to this contract. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** List only delegations with exactly this right, as bytes32 or as text: `text:vote`. All zero lists only unrestricted ones. */
      readonly rights?: string | undefined;
      /** `true` lists only delegations without a right. Use it if you do not look at rights. Every v1 delegation is unrestricted. */
      readonly unrestricted?: boolean | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: {
      /** With its EIP-55 checksum. */
      readonly wallet: Hex;
      /** Whether every chain has answered. If not, `chains` says which has not, and why. */
      readonly complete: boolean;
      readonly delegations: readonly DetailedDelegation[];
      readonly chains: readonly ChainPart[];
      readonly next: string | null;
    };
  };
  readonly checkAllAny: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegation[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkContractAny: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegation[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkErc721Any: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegation[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkErc1155Any: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | Balance
      | { readonly result: Balance; readonly delegations: readonly DetailedDelegation[]; readonly block: Block }
      | ProvenBalance;
  };
  readonly checkErc20Any: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | Balance
      | { readonly result: Balance; readonly delegations: readonly DetailedDelegation[]; readonly block: Block }
      | ProvenBalance;
  };
  readonly listV2: {
    readonly params: {
      /** The wallet whose delegations are listed. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** List only delegations to the wallet (incoming) or from it (outgoing). */
      readonly direction?: 'incoming' | 'outgoing' | undefined;
      /** List only delegations of this type. */
      readonly type?: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
      /** List only delegations limited to this contract. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** `true` lists only delegations without a right. Use it if you do not look at rights. Every v1 delegation is unrestricted. */
      readonly unrestricted?: boolean | undefined;
      /** List only delegations with exactly this right, as bytes32 or as text: `text:vote`. All zero lists only unrestricted ones. */
      readonly rights?: string | undefined;
      /** Page size, 1 to 10000. The Link header leads to the next page; a list ends where there is none. Filters can leave a page short or empty. Without a limit the whole list is sent. */
      readonly limit?: number | undefined;
      /** Where the page starts, from the Link header of the previous page. All pages are as of the same block. */
      readonly cursor?: string | undefined;
    };
    readonly body: readonly DelegationV2[] | readonly DetailedDelegationV2[];
  };
  readonly checkAllV2: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV2[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkContractV2: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV2[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkErc721V2: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV2[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkErc1155V2: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | Balance
      | { readonly result: Balance; readonly delegations: readonly DetailedDelegationV2[]; readonly block: Block }
      | ProvenBalance;
  };
  readonly checkErc20V2: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | Balance
      | { readonly result: Balance; readonly delegations: readonly DetailedDelegationV2[]; readonly block: Block }
      | ProvenBalance;
  };
  readonly listV1: {
    readonly params: {
      /** The wallet whose delegations are listed. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** List only delegations to the wallet (incoming) or from it (outgoing). */
      readonly direction?: 'incoming' | 'outgoing' | undefined;
      /** List only delegations of this type. */
      readonly type?: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
      /** List only delegations limited to this contract. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** `true` lists only delegations without a right. Use it if you do not look at rights. Every v1 delegation is unrestricted. */
      readonly unrestricted?: boolean | undefined;
      /** Page size, 1 to 10000. The Link header leads to the next page; a list ends where there is none. Filters can leave a page short or empty. Without a limit the whole list is sent. */
      readonly limit?: number | undefined;
      /** Where the page starts, from the Link header of the previous page. All pages are as of the same block. */
      readonly cursor?: string | undefined;
    };
    readonly body: readonly DelegationV1[] | readonly DetailedDelegationV1[];
  };
  readonly checkAllV1: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV1[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkContractV1: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV1[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly checkTokenV1: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly to: string;
      /** The cold wallet that issued the delegation. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly from: string;
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body:
      | boolean
      | { readonly result: boolean; readonly delegations: readonly DetailedDelegationV1[]; readonly block: Block }
      | ProvenAnswer;
  };
  readonly exclusiveWallet: {
    readonly params: {
      /** The vault for which somebody acts. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly vault: string;
      /** The identifier of a right: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`, the first 24 bytes of the Keccak hash of a name. Delegations with this identifier count, and global ones. If absent, only global ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: ExclusiveWallet;
  };
  readonly exclusiveOwner: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId: bigint;
      /** The owner of the token. Without it, the owner is read from the chain. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly owner?: string | undefined;
      /** The identifier of a right: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`, the first 24 bytes of the Keccak hash of a name. Delegations with this identifier count, and global ones. If absent, only global ones count. */
      readonly rights?: string | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: ExclusiveOwner;
  };
  readonly exclusiveVaults: {
    readonly params: {
      /** The hot wallet that wants to act. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly wallet: string;
      /** The identifier of a right: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`, the first 24 bytes of the Keccak hash of a name. Delegations with this identifier count, and global ones. If absent, only global ones count. */
      readonly rights?: string | undefined;
      /** The chain ids of the networks, separated by commas, or `served` for every served chain. */
      readonly chainId?: number | readonly number[] | 'served' | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
      /** Page size, 1 to 10000. `next` and the Link header lead to the next page. A page can be short or empty and still have a next one. */
      readonly limit?: number | undefined;
      /** Where the page starts: `next` of the previous page. All pages are as of the same blocks. */
      readonly cursor?: string | undefined;
    };
    readonly body: ExclusiveVaults;
  };
  readonly checkBatch: {
    readonly params: {
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: Batch;
  };
  readonly vaultsBatch: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. With `resolver=exclusive`, an identifier: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`. */
      readonly rights?: string | undefined;
      /** `exclusive`: by exclusive resolution, the wallets for which this wallet alone acts. For one contract it needs `tokenId` too. */
      readonly resolver?: 'exclusive' | undefined;
      /** `true` adds wallets whose delegations cover only a part of what is asked: some contracts, or some tokens. */
      readonly narrower?: boolean | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: {
      readonly chainId: number;
      readonly block: Block;
      readonly answers: readonly (Vaults | { readonly problem: Problem })[];
      /** Whether every wallet was answered. */
      readonly complete: boolean;
    };
  };
  readonly delegatesBatch: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract?: string | undefined;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. */
      readonly rights?: string | undefined;
      /** `true` adds wallets whose delegations cover only a part of what is asked: some contracts, or some tokens. */
      readonly narrower?: boolean | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: {
      readonly chainId: number;
      readonly block: Block;
      readonly answers: readonly (Delegates | { readonly problem: Problem })[];
      /** Whether every wallet was answered. */
      readonly complete: boolean;
    };
  };
  readonly holdersBatch: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The token id in decimal digits, from 0 to 2^256-1. */
      readonly tokenId?: bigint | undefined;
      /** The standard of the contract. Without it: ERC-721 if `tokenId` is given, otherwise the balance of an ERC-721 or ERC-20 contract. `ERC20` also counts delegated amounts, `ERC1155` needs `tokenId`. */
      readonly standard?: 'ERC721' | 'ERC1155' | 'ERC20' | undefined;
      /** A right, as bytes32 or as text: `text:vote`. Delegations limited to exactly this right count, and unrestricted ones. If absent, empty or all zero, only unrestricted ones count. With `resolver=exclusive`, an identifier: 24 bytes in hex, `text:vote`, or `hash:AGW_LINK`. */
      readonly rights?: string | undefined;
      /** `exclusive`: by exclusive resolution, the wallets for which this wallet alone acts. For one contract it needs `tokenId` too. */
      readonly resolver?: 'exclusive' | undefined;
      /** The chain id of the network, as listed at /networks. */
      readonly chainId?: number | undefined;
      /** Answer as of the end of this block: a number, `finalized`, or `latest` (the default). */
      readonly block?: number | bigint | 'latest' | 'finalized' | undefined;
      /** Answer as of this time: Unix seconds, or ISO 8601 with a time zone, such as 2026-01-01T00:00:00Z. A date alone is midnight UTC. */
      readonly timestamp?: Date | number | string | undefined;
    };
    readonly body: {
      readonly chainId: number;
      readonly block: Block;
      readonly answers: readonly (Holders | { readonly problem: Problem })[];
      /** Whether every wallet was answered. */
      readonly complete: boolean;
    };
  };
  readonly votesByOptions: { readonly params: Record<never, never>; readonly body: Votes };
  readonly votes: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The standard of the contract. Of both, what `balanceOf` returns counts. */
      readonly standard: 'ERC20' | 'ERC721';
      /** The right that a delegation may be limited to: `none`, `text:vote`, a bytes32, or an identifier: 24 bytes in hex or `hash:AGW_LINK`. Unrestricted delegations count too. Its first 24 bytes are the identifier by which the exclusive wallet is found. */
      readonly rights: string;
      /** The chain id of the token. */
      readonly network: string;
      /** The block of the token's chain to answer as of: a number, or `latest`. */
      readonly snapshot: number | 'latest';
      /** The addresses to score, separated by commas: at most 1,000. */
      readonly addresses: string;
      /** The chains whose delegations count, separated by commas; by default, that of the token. Where one delegation decides, it is that of the first chain on which an owner has one. */
      readonly delegationChainId?: string | undefined;
    };
    readonly body: Votes;
  };
  readonly votesByPost: {
    readonly params: {
      /** The contract address. All lower case, all upper case, or with a valid EIP-55 checksum. */
      readonly contract: string;
      /** The standard of the contract. Of both, what `balanceOf` returns counts. */
      readonly standard: 'ERC20' | 'ERC721';
      /** The right that a delegation may be limited to: `none`, `text:vote`, a bytes32, or an identifier: 24 bytes in hex or `hash:AGW_LINK`. Unrestricted delegations count too. Its first 24 bytes are the identifier by which the exclusive wallet is found. */
      readonly rights: string;
    };
    readonly body: Votes;
  };
  readonly networks: { readonly params: Record<never, never>; readonly body: readonly Network[] };
}

/** What each type of problem has beyond title, status and detail. */
export interface ProblemFields {
  /** `errors` names each rejected parameter and what is wrong with it. */
  readonly 'bad-request': {
    readonly errors?: readonly { readonly parameter: string; readonly detail: string }[] | undefined;
  };

  /** This service does not follow the chain, or the chain has no registry of this version. `chainIds` lists the chains that it can answer for. */
  readonly 'unknown-chain': {
    readonly errors: readonly { readonly parameter: string; readonly detail: string }[];
    readonly chainIds: readonly number[];
  };

  /** The `X-API-KEY` is unknown, malformed, expired or revoked, or was sent twice. An empty one counts as none. Without a key, requests are answered within the rate limit. */
  readonly 'bad-key': Record<never, never>;

  /** This page lists all paths. */
  readonly 'not-found': Record<never, never>;

  /** The index starts after the requested block or time. What was delegated then is unknown, not empty. */
  readonly 'not-indexed': Record<never, never>;

  /** Token ownership is read by block hash, and expiry is judged by the timestamp of the block, but the index has neither of the requested block or time. It keeps those of recent blocks and of blocks with delegations. Use `latest` or `finalized`. */
  readonly 'block-not-kept': { readonly chainId: number; readonly block: number };

  /** The operator of this service has not turned token gates on (`OWNERSHIP=on`). */
  readonly 'ownership-off': Record<never, never>;

  /** The operator of this service has not turned proofs on (`PROOFS=on`). */
  readonly 'proofs-off': Record<never, never>;

  /** The `Allow` header lists the methods. */
  readonly 'method-not-allowed': Record<never, never>;

  /** The body of the request did not arrive in time. */
  readonly 'request-timeout': Record<never, never>;

  /** A reorg or a repair of the index changed the list. Start again without a cursor. */
  readonly 'cursor-gone': Record<never, never>;

  /** The body is larger than the operation accepts. Only a batch may have more than 16 KiB. */
  readonly 'content-too-large': Record<never, never>;

  /** No valid request comes near the limit. */
  readonly 'uri-too-long': Record<never, never>;

  /** The `Content-Type` of the body is not one that the operation accepts. */
  readonly 'unsupported-media-type': Record<never, never>;

  /** The address has no contract, or the contract does not answer as the standard requires; `cause` says which. Check `chainId`, `contract` and `standard`. */
  readonly 'not-a-token': {
    readonly chainId: number;
    readonly contract: string;
    readonly cause: 'no-code' | 'reverted' | 'bad-return-data';
  };

  /** Each question of a batch counts as a request, and the rate limit allows fewer than the batch has, however long you wait. Send smaller batches, or use an API key. */
  readonly 'too-many-questions': Record<never, never>;

  /** Without a key the limit is 25 requests in any 10 seconds, unless the operator set another. Each question of a batch counts as a request. Long lists and large batches are also limited in how many are in flight at once. Retry after `Retry-After` seconds. */
  readonly 'too-many-requests': Record<never, never>;

  /** An error of the service. The operator's log has the cause. */
  readonly internal: Record<never, never>;

  /** No chain is up to date, or the database is unavailable. */
  readonly 'not-ready': Record<never, never>;

  /** None of the requested chains could answer. `chains` has the problem of each. */
  readonly 'no-chain-answered': {
    readonly chains: readonly { readonly chainId: number; readonly problem: { readonly [field: string]: unknown } }[];
  };

  /** The backfill of the chain's history is not finished. Retry after `Retry-After` seconds. */
  readonly 'chain-not-ready': {
    readonly chainId?: number | undefined;
    readonly indexedBlock?: number | undefined;
    /** Unix seconds. */
    readonly indexedTimestamp?: number | undefined;
    readonly ageSeconds?: number | undefined;
    readonly maxAgeSeconds?: number | undefined;
    readonly chainBlock?: number | undefined;
  };

  /** The newest indexed block is too old to answer for now. Finalized blocks are still answered: use `block`. */
  readonly 'chain-stale': {
    readonly chainId: number;
    readonly indexedBlock: number;
    /** Unix seconds. */
    readonly indexedTimestamp: number;
    readonly ageSeconds: number;
    readonly maxAgeSeconds: number;
  };

  /** The newest indexed block is more than a minute ahead of the server's clock, so its age is unknown. Finalized blocks are still answered: use `block`. */
  readonly 'clock-skew': {
    readonly chainId: number;
    readonly indexedBlock: number;
    /** Unix seconds. */
    readonly indexedTimestamp: number;
    readonly clockBehindSeconds: number;
  };

  /** A finalized block changed, or the index is not whole; `code` says which. The chain resumes when that is resolved. */
  readonly 'chain-halted': {
    readonly chainId: number;
    readonly code: 'finality-violation' | 'registry-mismatch' | 'import-unfinished';
    /** Unix seconds. */
    readonly since: number;
  };

  /** The requested block or time is after the newest indexed block. */
  readonly 'not-yet-indexed': Record<never, never>;

  /** Who owns the token at the indexed block is not known: too few providers answered for that block (`no-provider`), they disagree (`disputed`), or too many requests wait for them (`overloaded`). This is not a no. Retry after `Retry-After` seconds. */
  readonly 'ownership-unavailable': {
    readonly chainId: number;
    readonly cause: 'no-provider' | 'disputed' | 'overloaded';
  };

  /** No provider served a proof of the state at this block that leads to its hash (`no-provider`), the state of this chain cannot be proven (`not-provable`), or too many requests wait (`overloaded`). Most nodes keep the state of the newest blocks only: `newestBlock` is the newest one at which a provider just had a proof, or null. */
  readonly 'proof-unavailable': {
    readonly chainId: number;
    readonly cause: 'no-provider' | 'not-provable' | 'overloaded';
    readonly newestBlock: number | null;
  };

  /** The registry, or a provider, contradicts the index about a wallet in the question, and it is not settled yet who is right. Neither true nor false would be certain. Other wallets are answered. */
  readonly 'wallet-disputed': {
    readonly chainId: number;
    /** Unix seconds. */
    readonly since: number;
  };

  /** A v1 revocation does not name the delegate in its log. Whom it concerns is read from the registry right after the block, and no provider could read it yet. Neither true nor false would be certain. It usually takes less than a second. */
  readonly 'revocation-unread': Record<never, never>;
}

// The bodies that the API answers with.

import type { Version } from '../registry/versions.ts';
import { HALT_CODE, PROBLEM_FIELDS } from './problems.ts';
import { FOLLOWER_TROUBLES, PROVIDER_CAUSES } from './provider-causes.ts';
import type { REGISTRIES, Registry } from './registries.ts';
import * as s from './shape.ts';

const TYPE = s.described(
  s.oneOfStrings('NONE', 'ALL', 'CONTRACT', 'TOKEN', 'ERC721', 'ERC20', 'ERC1155'),
  'With `types=standard`, a list has the standard of a token instead of `TOKEN`.',
);
const TARGET = { contract: s.nullable(s.checksumAddress), tokenId: s.nullable(s.uint256) } as const;

/** A log, and when it happened. */
const LOG = s.object({ block: s.count, timestamp: s.unixSeconds, transactionHash: s.bytes32, logIndex: s.count });

const RIGHTS_ID = s.hex(24);
/** In Unix seconds. */
export const EXPIRES = s.nullable(
  s.described(
    s.anyOf(s.unixSeconds, s.literal('never')),
    'The last second in which it counts, in Unix seconds, or `never`. The registry does not enforce it: exclusive resolution does.',
  ),
);

export const NEXT_CHANGE = s.nullable(
  s.described(s.unixSeconds, 'From when on the answer can be another without a log: a grant expires. Null if never.'),
);

/** What `detail=full` adds. */
const DETAIL = {
  standard: s.nullable(s.oneOfStrings('ERC721', 'ERC20', 'ERC1155')),
  rights: s.nullable(s.bytes32),
  rightsText: s.nullable(s.described(s.string, 'The rights, if they are printable text.')),
  rightsName: s.nullable(s.described(s.string, 'The name, if the rights are 24 bytes of name and a 40-bit expiry.')),
  rightsId: s.nullable(s.described(RIGHTS_ID, 'The first 24 bytes of the rights. Null in v1.')),
  expires: EXPIRES,
  amount: s.nullable(s.uint256),
  chainId: s.integer,
  since: LOG,
} as const;

/** The wallets of a record, by the names and in the order of each version. A record of either registry names its version. */
const WALLETS = {
  1: { delegate: s.checksumAddress, vault: s.checksumAddress },
  2: { from: s.checksumAddress, to: s.checksumAddress },
  any: { version: s.oneOfIntegers(1, 2), from: s.checksumAddress, to: s.checksumAddress },
} as const satisfies { readonly [V in Registry]: Readonly<Record<WalletName<V>, s.Shape<string>>> & s.Fields };

type WalletName<V extends Registry> = (typeof REGISTRIES)[V]['wallets']['from' | 'to'];

const record = <const W extends s.Fields>(wallets: W) => s.object({ type: TYPE, ...wallets, ...TARGET });
const detailed = <const W extends s.Fields>(wallets: W) => s.object({ type: TYPE, ...wallets, ...TARGET, ...DETAIL });

export const DELEGATION = {
  1: s.named('DelegationV1', record(WALLETS[1])),
  2: s.named('DelegationV2', record(WALLETS[2])),
} as const satisfies { readonly [V in Version]: unknown };

export const DETAILED_DELEGATION = {
  1: s.named('DetailedDelegationV1', detailed(WALLETS[1])),
  2: s.named('DetailedDelegationV2', detailed(WALLETS[2])),
  any: s.named('DetailedDelegation', detailed(WALLETS.any)),
} as const satisfies { readonly [V in Registry]: unknown };

/** A grant, and the log that ended it. */
export const HISTORY_ENTRY = s.named(
  'HistoryEntry',
  s.object({
    ...DETAILED_DELEGATION.any.fields,
    until: s.described(
      s.nullable(LOG),
      'What ended it: a revocation, or a grant with another amount. Null if it holds.',
    ),
  }),
);

/** A delegation with `detail=full`, of any version. */
export type DelegationRecord = s.TypeOf<(typeof DETAILED_DELEGATION)[Registry]>;

export const coldWalletOf = (record: DelegationRecord): string => ('vault' in record ? record.vault : record.from);
export const hotWalletOf = (record: DelegationRecord): string => ('delegate' in record ? record.delegate : record.to);

export const BALANCE = s.named(
  'Balance',
  s.described(s.uint256, 'An integer with every digit, or its decimal text with `numbers=string`.'),
);

export const BLOCK = s.named(
  'Block',
  s.object({ number: s.count, hash: s.nullable(s.bytes32), timestamp: s.nullable(s.unixSeconds) }),
);

/** A problem inside an answer: the body that the problem has as a response of its own. */
export const PROBLEM = s.named(
  'Problem',
  s.described(
    { ...PROBLEM_FIELDS, schema: { ...PROBLEM_FIELDS.schema, additionalProperties: true } },
    'As in a refusal.',
  ),
);

const INDEXED_FROM = s.optional(
  s.described(s.count, 'The first indexed block, if the registry may be older. Earlier grants are unknown.'),
);

/** A chain, and the block at which it was read. */
export const CHAIN_AT = s.object({ chainId: s.integer, block: BLOCK });

/** What an answer about several chains says of each: the block that it is true for, or why there is none. */
export const CHAIN_ANSWER = s.named(
  'ChainPart',
  s.anyOf(
    s.object({ chainId: s.integer, block: BLOCK, indexedFrom: INDEXED_FROM }),
    s.object({ chainId: s.integer, problem: PROBLEM }),
  ),
);
export const ALL_ANSWERED = s.described(
  s.boolean,
  'Whether every chain has answered. If not, `chains` says which has not, and why.',
);
/** In a body, for a list of several pages. */
export const NEXT = s.nullable(s.described(s.string, 'The `cursor` of the next page. Null on the last page.'));

const HEX = s.string;
/** What `eth_getProof` returns (EIP-1186) of the words of one registry that an answer follows from. */
export const REGISTRY_PROOF = s.named(
  'RegistryProof',
  s.object({
    registry: s.oneOfIntegers(1, 2),
    address: HEX,
    accountProof: s.arrayOf(HEX),
    storageProof: s.arrayOf(
      s.object({
        key: s.bytes32,
        value: HEX,
        proof: s.arrayOf(HEX),
        means: s.described(s.string, 'What the word is.'),
      }),
    ),
  }),
);
export const PROVEN_BLOCK = s.object({ number: s.count, hash: s.bytes32, timestamp: s.unixSeconds });

/** The answer to a check with `proof=true`. */
export const provenAnswer = <Result extends s.Shape<boolean | number | string>>(result: Result) =>
  s.object({
    result,
    block: PROVEN_BLOCK,
    header: s.described(HEX, 'The header of the block in RLP: its Keccak hash is the hash of the block.'),
    proofs: s.arrayOf(REGISTRY_PROOF),
  });
export const PROVEN_ANSWER = s.named('ProvenAnswer', provenAnswer(s.boolean));
export const PROVEN_BALANCE = s.named('ProvenBalance', provenAnswer(BALANCE));

/** A part of a batch that cannot be answered. */
export const REFUSED = s.object({ problem: PROBLEM });
/** The answer to one question of a batch. */
const BATCH_RESULT = s.anyOf(s.object({ result: s.anyOf(s.boolean, BALANCE) }), PROVEN_ANSWER, PROVEN_BALANCE, REFUSED);
const COMPLETE = s.described(s.boolean, 'Whether every question was answered.');
const BATCH_CHAINS = s.described(
  s.arrayOf(CHAIN_ANSWER),
  'The chains of the questions, in the order of their first one.',
);

export const BATCH = s.named(
  'Batch',
  s.object({
    complete: COMPLETE,
    chains: BATCH_CHAINS,
    answers: s.described(s.arrayOf(BATCH_RESULT), 'In the order of the questions.'),
  }),
);

/** A line of a batch that is sent as NDJSON. */
export const BATCH_LINE = s.named(
  'BatchLine',
  s.anyOf(
    s.described(s.object({ chains: BATCH_CHAINS }), 'The first line.'),
    BATCH_RESULT,
    s.described(s.object({ complete: COMPLETE }), 'The last line, if all answers were sent.'),
    s.described(s.object({ error: PROBLEM }), 'The last line, if the rest could not be answered.'),
  ),
);

/** The answer to a check with `explain=true`. */
export const explanation = <V extends Registry, Result extends s.Shape<boolean | number | string>>(
  version: V,
  result: Result,
) => s.object({ result, delegations: s.arrayOf(DETAILED_DELEGATION[version]), block: BLOCK });

export type Explanation = {
  [V in Registry]: s.TypeOf<ReturnType<typeof explanation<V, s.Shape<boolean | number | string>>>>;
}[Registry];

/** Whether anything is granted: a balance of 0 is a no. */
export const isGranted = ({ result }: Pick<Explanation, 'result'>): boolean =>
  result !== false && String(result) !== '0';

const PROOFS = s.object({
  mode: s.nullable(s.oneOfStrings('proven', 'compared')),
  logsFrom: s.described(
    s.nullable(s.count),
    'The logs of all indexed blocks from this one on are proven. Null if none are, or the mode is compared.',
  ),
  share: s.described(
    s.nullable(s.number),
    'Of the new blocks since the start: for how many it is proven which logs they have, or that they have none.',
  ),
});

const FAILING = s.object({
  cause: s.oneOfStrings(...FOLLOWER_TROUBLES),
  since: s.unixSeconds,
  ticks: s.described(s.integer, 'How many steps failed since then.'),
});
const PROVIDER = s.object({
  name: s.described(s.string, 'The chain id and the position of its URL in the configuration.'),
  healthy: s.boolean,
  cause: s.nullable(s.described(s.oneOfStrings(...PROVIDER_CAUSES), 'Why it is unhealthy.')),
});
const PROGRESS = s.object({
  share: s.described(s.number, 'The share of the history that is indexed, from 0 to 1.'),
  logsPerSecond: s.number,
  secondsLeft: s.nullable(s.number),
  audited: s.described(s.integer, 'Finalized blocks that the audit compared with the chain.'),
  compared: s.described(s.integer, 'Answers of the registry contract that the audit compared with ours.'),
  failing: s.described(
    s.nullable(FAILING),
    'Why no step of the follower has succeeded for a while. The message itself is in its log.',
  ),
  providers: s.arrayOf(PROVIDER),
});

const HALT = s.object({
  code: HALT_CODE,
  since: s.unixSeconds,
  cause: s.string,
  help: s.described(s.string, 'How the chain resumes.'),
});

const LAG_HISTORY = s.object({
  since: s.described(s.unixSeconds, 'When the first step began.'),
  stepSeconds: s.integer,
  seconds: s.described(
    s.arrayOf(s.nullable(s.number)),
    'The highest lag in each step, oldest first. Null where nothing followed the chain.',
  ),
});

export const NETWORK = s.named(
  'Network',
  s.object({
    chainId: s.integer,
    name: s.nullable(s.string),
    testnet: s.nullable(s.boolean),
    registries: s.object({ v1: s.nullable(s.checksumAddress), v2: s.nullable(s.checksumAddress) } satisfies {
      [V in Version as `v${V}`]: unknown;
    }),
    ready: s.described(s.boolean, 'Whether the chain is answered at its head.'),
    firstBlock: s.nullable(s.count),
    partial: s.described(
      s.nullable(s.boolean),
      'Whether the registry may be older than the first indexed block. Earlier grants are unknown.',
    ),
    head: s.nullable(s.object({ number: s.count, hash: s.bytes32, timestamp: s.unixSeconds })),
    finalizedBlock: s.nullable(s.count),
    imported: s.described(
      s.nullable(s.object({ to: s.count, confirmed: s.number })),
      'History up to `to` came from an archive, of which this share is confirmed by providers of the chain. Null if all is.',
    ),
    confirmedBlock: s.nullable(s.described(s.count, 'A second provider confirmed the history up to this block.')),
    proofs: s.described(
      PROOFS,
      'Whether the logs of a block are proven against its hash, or only compared between providers.',
    ),
    disputedWallets: s.described(
      s.count,
      'Wallets about which answers are refused, because providers or the registry contradict the index.',
    ),
    chainBlock: s.nullable(s.described(s.count, 'The newest block that a provider reported.')),
    progress: s.described(s.nullable(PROGRESS), 'Null if the process that answers has no status of a follower.'),
    halt: s.described(s.nullable(HALT), 'Why the chain is halted.'),
    lagSeconds: s.nullable(s.described(s.number, 'How old the newest indexed block may be.')),
    maxLagSeconds: s.described(s.number, 'With a larger lag the chain answers 503.'),
    lagHistory: s.described(
      s.nullable(LAG_HISTORY),
      'The lag over the last day, up to the last whole step. Null before the first one.',
    ),
    clockBehindSeconds: s.described(s.number, 'How far the clock of the server is behind the chain. 0 if it is not.'),
  }),
);

export type NetworkRecord = s.TypeOf<typeof NETWORK>;

export const HEALTH = s.object({ status: s.literal('ok') });
export const READINESS = s.object({ status: s.literal('ready'), chainIds: s.arrayOf(s.integer) });

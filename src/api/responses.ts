// The bodies that the API answers with.

import type { Version } from '../registry/versions.ts';
import { HALT_CODE, PARAMETER_FAULTS } from './problems.ts';
import { FOLLOWER_TROUBLES, PROVIDER_CAUSES } from './provider-causes.ts';
import type { REGISTRIES, Registry } from './registries.ts';
import {
  anyOf,
  arrayOf,
  boolean,
  bytes32,
  checksumAddress,
  count,
  described,
  type Fields,
  integer,
  literal,
  named,
  nullable,
  number,
  object,
  oneOfIntegers,
  oneOfStrings,
  optional,
  type Shape,
  string,
  type TypeOf,
  uint256,
  unixSeconds,
} from './shape.ts';

const TYPE = described(
  oneOfStrings('NONE', 'ALL', 'CONTRACT', 'TOKEN', 'ERC721', 'ERC20', 'ERC1155'),
  'With `types=standard`, a list has the standard of a token instead of `TOKEN`.',
);
const TARGET = { contract: nullable(checksumAddress), tokenId: nullable(uint256) } as const;

/** A log, and when it happened. */
const LOG = object({ block: count, timestamp: unixSeconds, transactionHash: bytes32, logIndex: count });

/** What `detail=full` adds. */
const DETAIL = {
  standard: nullable(oneOfStrings('ERC721', 'ERC20', 'ERC1155')),
  rights: nullable(bytes32),
  rightsText: nullable(described(string, 'The rights, if they are printable text.')),
  rightsName: nullable(described(string, 'The name, if the rights are 24 bytes of name and a 40-bit expiry.')),
  expires: nullable(
    described(unixSeconds, 'The expiry in such rights, in Unix seconds. The registry does not enforce it.'),
  ),
  amount: nullable(uint256),
  chainId: integer,
  since: LOG,
} as const;

/** The wallets of a record, by the names and in the order of each version. A record of either registry names its version. */
const WALLETS = {
  1: { delegate: checksumAddress, vault: checksumAddress },
  2: { from: checksumAddress, to: checksumAddress },
  any: { version: oneOfIntegers(1, 2), from: checksumAddress, to: checksumAddress },
} as const satisfies { readonly [V in Registry]: Readonly<Record<WalletName<V>, Shape<string>>> & Fields };

type WalletName<V extends Registry> = (typeof REGISTRIES)[V]['wallets']['from' | 'to'];

const record = <const W extends Fields>(wallets: W) => object({ type: TYPE, ...wallets, ...TARGET });
const detailed = <const W extends Fields>(wallets: W) => object({ type: TYPE, ...wallets, ...TARGET, ...DETAIL });

export const DELEGATION = {
  1: named('DelegationV1', record(WALLETS[1])),
  2: named('DelegationV2', record(WALLETS[2])),
} as const satisfies { readonly [V in Version]: unknown };

export const DETAILED_DELEGATION = {
  1: named('DetailedDelegationV1', detailed(WALLETS[1])),
  2: named('DetailedDelegationV2', detailed(WALLETS[2])),
  any: named('DetailedDelegation', detailed(WALLETS.any)),
} as const satisfies { readonly [V in Registry]: unknown };

/** A grant, and the log that ended it. */
export const HISTORY_ENTRY = named(
  'HistoryEntry',
  object({
    ...DETAILED_DELEGATION.any.fields,
    until: described(nullable(LOG), 'What ended it: a revocation, or a grant with another amount. Null if it holds.'),
  }),
);

/** A delegation with `detail=full`, of any version. */
export type DelegationRecord = TypeOf<(typeof DETAILED_DELEGATION)[Registry]>;

export const coldWalletOf = (record: DelegationRecord): string => ('vault' in record ? record.vault : record.from);
export const hotWalletOf = (record: DelegationRecord): string => ('delegate' in record ? record.delegate : record.to);

export const BALANCE = named(
  'Balance',
  described(uint256, 'An integer with every digit, or its decimal text with `numbers=string`.'),
);

export const BLOCK = named(
  'Block',
  object({ number: count, hash: nullable(bytes32), timestamp: nullable(unixSeconds) }),
);

const PROBLEM_FIELDS = object({
  type: string,
  title: string,
  status: integer,
  detail: string,
  errors: optional(PARAMETER_FAULTS),
});

/** A problem inside an answer: the body that the problem has as a response of its own. */
export const PROBLEM = named(
  'Problem',
  described(
    { ...PROBLEM_FIELDS, schema: { ...PROBLEM_FIELDS.schema, additionalProperties: true } },
    'As in a refusal.',
  ),
);

export const INDEXED_FROM = optional(
  described(count, 'The first indexed block, if the registry may be older. Earlier grants are unknown.'),
);

/** What an answer about several chains says of each: the block that it is true for, or why there is none. */
export const CHAIN_ANSWER = anyOf(
  object({ chainId: integer, block: BLOCK, indexedFrom: INDEXED_FROM }),
  object({ chainId: integer, problem: PROBLEM }),
);

/** A part of a batch that cannot be answered. */
export const REFUSED = object({ problem: PROBLEM });
/** The answer to one question of a batch. */
const BATCH_RESULT = anyOf(object({ result: anyOf(boolean, BALANCE) }), REFUSED);
const COMPLETE = described(boolean, 'Whether every question was answered.');
const BATCH_CHAINS = described(arrayOf(CHAIN_ANSWER), 'The chains of the questions, in the order of their first one.');

export const BATCH = named(
  'Batch',
  object({
    complete: COMPLETE,
    chains: BATCH_CHAINS,
    answers: described(arrayOf(BATCH_RESULT), 'In the order of the questions.'),
  }),
);

/** A line of a batch that is sent as NDJSON. */
export const BATCH_LINE = named(
  'BatchLine',
  anyOf(
    described(object({ chains: BATCH_CHAINS }), 'The first line.'),
    BATCH_RESULT,
    described(object({ complete: COMPLETE }), 'The last line, if all answers were sent.'),
    described(object({ error: PROBLEM }), 'The last line, if the rest could not be answered.'),
  ),
);

/** The answer to a check with `explain=true`. */
export const explanation = <V extends Registry, Result extends Shape<boolean | number | string>>(
  version: V,
  result: Result,
) => object({ result, delegations: arrayOf(DETAILED_DELEGATION[version]), block: BLOCK });

export type Explanation = {
  [V in Registry]: TypeOf<ReturnType<typeof explanation<V, Shape<boolean | number | string>>>>;
}[Registry];

/** Whether anything is granted: a balance of 0 is a no. */
export const isGranted = ({ result }: Pick<Explanation, 'result'>): boolean =>
  result !== false && String(result) !== '0';

const PROVIDER_CAUSE = oneOfStrings(...PROVIDER_CAUSES);

export const NETWORK = named(
  'Network',
  object({
    chainId: integer,
    name: nullable(string),
    testnet: nullable(boolean),
    registries: object({ v1: nullable(checksumAddress), v2: nullable(checksumAddress) }),
    ready: described(boolean, 'Whether the chain is answered at its head.'),
    firstBlock: nullable(count),
    partial: nullable(
      described(boolean, 'Whether the registry may be older than the first indexed block. Earlier grants are unknown.'),
    ),
    head: nullable(object({ number: count, hash: bytes32, timestamp: unixSeconds })),
    finalizedBlock: nullable(count),
    confirmedBlock: nullable(described(count, 'A second provider confirmed the history up to this block.')),
    proofs: described(
      object({
        mode: nullable(oneOfStrings('proven', 'compared')),
        logsFrom: nullable(
          described(
            count,
            'The logs of all indexed blocks from this one on are proven. Null if none are, or the mode is compared.',
          ),
        ),
        share: nullable(
          described(
            number,
            'Of the new blocks since the start: for how many it is proven which logs they have, or that they have none.',
          ),
        ),
      }),
      'Whether the logs of a block are proven against its hash, or only compared between providers.',
    ),
    disputedWallets: described(
      count,
      'Wallets about which answers are refused, because providers or the registry contradict the index.',
    ),
    chainBlock: nullable(described(count, 'The newest block that a provider reported.')),
    progress: nullable(
      described(
        object({
          share: described(number, 'The share of the history that is indexed, from 0 to 1.'),
          logsPerSecond: number,
          secondsLeft: nullable(number),
          audited: described(integer, 'Finalized blocks that the audit compared with the chain.'),
          compared: described(integer, 'Answers of the registry contract that the audit compared with ours.'),
          failing: nullable(
            described(
              object({
                cause: oneOfStrings(...FOLLOWER_TROUBLES),
                since: unixSeconds,
                ticks: described(integer, 'How many steps failed since then.'),
              }),
              'Why no step of the follower has succeeded for a while. The message itself is in its log.',
            ),
          ),
          providers: arrayOf(
            object({
              name: described(string, 'The chain id and the position of its URL in the configuration.'),
              healthy: boolean,
              cause: nullable(described(PROVIDER_CAUSE, 'Why it is unhealthy.')),
            }),
          ),
        }),
        'Null if the process that answers has no status of a follower.',
      ),
    ),
    halt: nullable(
      described(
        object({
          code: HALT_CODE,
          since: unixSeconds,
          cause: string,
          help: described(string, 'How the chain resumes.'),
        }),
        'Why the chain is halted.',
      ),
    ),
    lagSeconds: nullable(described(number, 'How old the newest indexed block may be.')),
    maxLagSeconds: described(number, 'With a larger lag the chain answers 503.'),
    lagHistory: nullable(
      described(
        object({
          since: described(unixSeconds, 'When the first step began.'),
          stepSeconds: integer,
          seconds: described(
            arrayOf(nullable(number)),
            'The highest lag in each step, oldest first. Null where nothing followed the chain.',
          ),
        }),
        'The lag over the last day, up to the last whole step. Null before the first one.',
      ),
    ),
    clockBehindSeconds: described(number, 'How far the clock of the server is behind the chain. 0 if it is not.'),
  }),
);

export type NetworkRecord = TypeOf<typeof NETWORK>;

export const HEALTH = object({ status: literal('ok') });
export const READINESS = object({ status: literal('ready'), chainIds: arrayOf(integer) });

// Votes: what an off-chain vote asks, as Snapshot's strategies `api-post` and `api-v2` send it. Every owner counts once.

import { inPath, type OperationBase, optional, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import { BODY_PROBLEMS, ofRegistry } from './registry-operation.ts';
import { CHAIN_AT, DETAILED_DELEGATION } from './responses.ts';
import * as s from './shape.ts';

export const MAX_VOTES_BYTES = 64 * 1024;
/** Proxies accept 8 KiB by default. */
const MAX_VOTES_URL = 8000;

const SUM = s.described(s.string, "Decimal digits, in the token's smallest unit.");
/** What decides for an owner: see registry/chosen.ts. */
const REASON = s.oneOfStrings('exclusive', 'last', 'none');

export const VOTE_OWNER = s.object({
  owner: s.checksumAddress,
  balance: SUM,
  voter: s.checksumAddress,
  reason: s.described(
    REASON,
    '`exclusive`: the exclusive wallet of the owner. `last`: the last delegation in its list. `none`: nothing is delegated, so the owner votes.',
  ),
  delegation: s.nullable(DETAILED_DELEGATION.any),
});
export const VOTE_SCORE = s.object({
  address: s.described(s.string, 'As it was asked.'),
  score: SUM,
});
export const VOTES = s.named(
  'Votes',
  s.object({
    score: s.arrayOf(VOTE_SCORE),
    token: s.described(CHAIN_AT, 'The chain and the block at which balances were read.'),
    delegations: s.described(
      s.arrayOf(CHAIN_AT),
      'The chains and the blocks at which delegations were read. The first on which an owner has delegated decides.',
    ),
    owners: s.described(
      s.nullable(s.arrayOf(VOTE_OWNER)),
      'With `explain=true`: every owner that counts for one of the addresses. Otherwise null.',
    ),
  }),
);

const OF_TOKEN = { contract: p.contract, standard: p.votedStandard, rights: p.votedRights } as const;
const ASKED = { network: required(p.network), snapshot: required(p.snapshot), addresses: required(p.voters) } as const;
const OPTIONS = {
  delegationChainId: optional(p.delegationChainIds),
  explain: withDefault(p.explainVotes, 'false'),
} as const;
const IN_PATH = {
  contract: inPath(OF_TOKEN.contract),
  standard: inPath(OF_TOKEN.standard),
  rights: inPath(OF_TOKEN.rights),
} as const;

const RULE =
  'Everything that an owner has counts for exactly one address: its exclusive wallet for the right if it has one (see [exclusive resolution](#exclusiveWallet)), otherwise the wallet of the last delegation in its list that passes the check of the contract and the right, in v2, or if there is none, in v1; otherwise the owner itself. Delegations of single tokens or of amounts do not count. The score of an address is the sum of the balances of the owners that count for it, whatever other addresses are asked. What is not known is a problem, without `score`. Balances are read at the snapshot (`OWNERSHIP=on`). Each address counts as a request to callers without a key, and one that more than 1,000 owners have granted something is refused.';

const SHARED = {
  ...ofRegistry('any'),
  rules: [],
  answer: { description: 'The scores, in the order of the addresses.', body: VOTES, headers: [], hasETag: false },
} as const satisfies Partial<OperationBase>;
const PROBLEMS = [
  ...ofRegistry('any').problems,
  'too-many-questions',
  'block-not-kept',
  'ownership-off',
  'not-a-token',
  'ownership-unavailable',
] as const;
const POSTED = { ...SHARED, method: 'POST', problems: [...PROBLEMS, ...BODY_PROBLEMS] } as const;

const textOf = ({ schema, description }: p.Param<unknown>): s.Shape<unknown> =>
  s.described({ schema, definitions: {} }, description);
/** The strategies send the network as a text. */
const BODY = {
  network: s.described(s.anyOf(s.string, s.integer), p.network.description),
  snapshot: s.described(s.anyOf(s.integer, s.string), p.snapshot.description),
  addresses: s.described(s.arrayOf(s.checksumAddress, { maxItems: p.MAX_VOTERS }), 'The addresses to score.'),
} as const;
const open = (fields: s.Fields): s.Shape<unknown> => {
  const { schema, ...rest } = s.object(fields);
  return { ...rest, schema: { ...schema, additionalProperties: true } };
};
const OPTIONS_BODY = {
  delegationChainId: s.optional(textOf(p.delegationChainIds)),
  explain: s.optional(textOf(p.explainVotes)),
} as const;
const bodyOf = (options: s.Shape<unknown>) => ({ 'application/json': open({ ...BODY, options }) });

/** Reads the parameters of all three, wherever they were. */
export const VOTES_PARAMS = { params: { ...IN_PATH, ...ASKED, ...OPTIONS }, rules: [] } as const;

const VOTES_GET = {
  ...SHARED,
  ...VOTES_PARAMS,
  problems: PROBLEMS,
  kind: 'votes',
  path: '/registry/any/votes/{contract}/{standard}/{rights}',
  id: 'votes',
  summary: "Score addresses for a vote, as Snapshot's api-v2 asks",
  description: `For \`api-v2\` with \`type: api-get\`, whose URL has no query of its own. A URL has room for about 180 addresses: for more, use POST. ${RULE}`,
  maxUrlLength: MAX_VOTES_URL,
} as const satisfies OperationBase;

const VOTES_POST = {
  ...POSTED,
  kind: 'votes',
  path: '/registry/any/votes/{contract}/{standard}/{rights}',
  id: 'votesByPost',
  summary: "Score addresses for a vote, as Snapshot's api-v2 posts",
  description: `For \`api-v2\` with \`type: api-post\`. ${RULE}`,
  params: IN_PATH,
  requestBody: {
    description: 'What the strategy sends. Other fields are ignored.',
    content: bodyOf(s.optional(open(OPTIONS_BODY))),
  },
} as const satisfies OperationBase;

const VOTES_POST_OPTIONS = {
  ...POSTED,
  kind: 'votes',
  path: '/registry/any/votes',
  id: 'votesByOptions',
  summary: "Score addresses for a vote, as Snapshot's api-post asks",
  description: `For \`api-post\`. ${RULE}`,
  params: {},
  requestBody: {
    description: 'What the strategy sends: the parameters of the space are in `options`. Other fields are ignored.',
    content: bodyOf(
      open({
        contract: textOf(OF_TOKEN.contract),
        standard: textOf(OF_TOKEN.standard),
        rights: textOf(OF_TOKEN.rights),
        ...OPTIONS_BODY,
      }),
    ),
  },
} as const satisfies OperationBase;

export const VOTES_OPERATIONS = [VOTES_POST_OPTIONS, VOTES_GET, VOTES_POST] as const;
export type VotesOperation = (typeof VOTES_OPERATIONS)[number];

// The operation that reports what changed: every delegation that began, ended or changed its amount, and what a reorg undid.

import { type OperationBase, optional, withDefault } from './operation.ts';
import * as p from './params.ts';
import { CHAIN_PROBLEMS, NUMBERS, ofRegistry } from './registry-operation.ts';
import { ALL_ANSWERED, BLOCK, CHAIN_ANSWER, DETAILED_DELEGATION } from './responses.ts';
import * as s from './shape.ts';

/** Of every entry. */
const WHERE = { chainId: s.integer, block: BLOCK } as const;

export const DELEGATION_CHANGE = s.named(
  'DelegationChange',
  s.object({
    type: s.oneOfStrings('began', 'changed', 'ended'),
    ...WHERE,
    transactionHash: s.bytes32,
    logIndex: s.count,
    final: s.described(s.boolean, 'Whether the block was final when this was sent.'),
    delegation: DETAILED_DELEGATION.any,
  }),
);

export const UNDO = s.named(
  'Undo',
  s.described(
    s.object({ type: s.literal('undo'), ...WHERE }),
    'Everything after this block of the chain is void: discard it. What replaced it follows.',
  ),
);

const ENTRY = s.anyOf(DELEGATION_CHANGE, UNDO);

export const CHANGES_OPERATION = {
  ...ofRegistry('any'),
  problems: ['bad-request', 'unknown-chain', ...CHAIN_PROBLEMS, 'no-chain-answered'],
  kind: 'changes',
  path: '/registry/any/changes',
  id: 'changes',
  summary: 'Read what changed',
  description:
    'Every delegation that began, ended or changed its amount, chain by chain in the order of its logs, with the delegation in full. A page ends with a `cursor`: the next request with it returns exactly what came after. If history behind the cursor was rewritten by a reorg or a repair, the next entry is `undo`. Applied in order, the entries give what the lists give as of every block. A delegation that began and ended in one block is not reported. An expiry in a right has no entry, because it has no log: each record has `expires`. With `Accept: text/event-stream` the same is a stream of events, whose ids are cursors.',
  params: {
    chainId: withDefault(p.chainIds, [1]),
    wallet: optional(p.changedWallet),
    from: optional(p.changedFrom),
    to: optional(p.changedTo),
    contract: optional(p.changedContract),
    final: withDefault(p.onlyFinal, 'false'),
    start: withDefault(p.feedStart, 'first'),
    ...NUMBERS,
    limit: withDefault(p.rowsPerPage, p.DEFAULT_PAGE_SIZE),
    cursor: optional(p.feedCursor),
  },
  rules: [],
  answer: {
    description: 'The changes. As `text/event-stream`, the schema is that of the data of a `message`.',
    body: s.object({
      changes: s.arrayOf(ENTRY),
      complete: ALL_ANSWERED,
      chains: s.arrayOf(CHAIN_ANSWER),
      end: s.described(s.boolean, 'Whether nothing more has happened yet.'),
      cursor: s.described(s.string, 'The `cursor` of the next request, now or later.'),
    }),
    event: ENTRY,
    headers: ['ETag', 'Link'],
    hasETag: true,
  },
} as const satisfies OperationBase;

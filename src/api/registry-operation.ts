// What the operations of a registry share.

import { type OperationBase, optional, type Rule, withDefault } from './operation.ts';
import * as p from './params.ts';
import type { ProblemType } from './problems.ts';
import { REGISTRIES, type Registry } from './registries.ts';

export const AS_OF_PARAMS = { block: optional(p.block), timestamp: optional(p.timestamp) } as const;
export const NUMBERS = { numbers: withDefault(p.numbers, 'number') } as const;

export const ONE_POINT_IN_TIME: Rule = (isGiven) =>
  isGiven('block') && isGiven('timestamp') ? { parameter: 'timestamp', detail: 'cannot be combined with block' } : null;

const REGISTRY_PROBLEMS = [
  'bad-request',
  'unknown-chain',
  'not-indexed',
  'not-ready',
  'chain-not-ready',
  'chain-stale',
  'clock-skew',
  'chain-halted',
  'wallet-disputed',
  'not-yet-indexed',
] as const satisfies readonly ProblemType[];

export const ofRegistry = (registry: Registry) => {
  const { segment, takesKey, hasUnnamedRevocations } = REGISTRIES[registry];
  return {
    method: 'GET',
    tag: segment,
    budget: takesKey ? 'keyed' : 'anonymous',
    problems: [...REGISTRY_PROBLEMS, ...(hasUnnamedRevocations ? (['revocation-unread'] as const) : [])],
  } as const satisfies Partial<OperationBase>;
};

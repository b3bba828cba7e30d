// What the operations of a registry share.

import { NO_RIGHTS } from '../registry/delegation.ts';
import { type OperationBase, optional, type ParamUse, type Rule, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import type { ProblemType } from './problems.ts';
import { REGISTRIES, type Registry } from './registries.ts';

export const AS_OF_PARAMS = { block: optional(p.block), timestamp: optional(p.timestamp) } as const;
export const NUMBERS = { numbers: withDefault(p.numbers, 'number') } as const;

/** What every operation of a registry takes. */
export const COMMON_PARAMS = { chainId: withDefault(p.chainId, 1), ...AS_OF_PARAMS } as const;

// The parameters of checks

export type WalletName<V extends Registry = Registry> = (typeof REGISTRIES)[V]['wallets']['from' | 'to'];

const WALLET_PARAMS = {
  to: required(p.hotWallet, 'delegate'),
  from: required(p.coldWallet, 'vault'),
  delegate: required(p.hotWallet),
  vault: required(p.coldWallet),
} as const satisfies Readonly<Record<WalletName, ParamUse>>;
const TARGET_PARAMS = { contract: required(p.contract), tokenId: required(p.tokenId) } as const;
const RIGHTS_PARAM = { rights: withDefault(p.rights, NO_RIGHTS) } as const;
export const PROOF = { proof: withDefault(p.proof, 'false') } as const;
/** Why an answer can have no proof. */
export const PROOF_PROBLEMS = [
  'proofs-off',
  'block-not-kept',
  'proof-unavailable',
] as const satisfies readonly ProblemType[];
export const CHECK_OPTIONS = {
  ...COMMON_PARAMS,
  ...NUMBERS,
  explain: withDefault(p.explain, 'false'),
  ...PROOF,
} as const;
export const CHECK_PARAMS = { ...WALLET_PARAMS, ...TARGET_PARAMS, ...RIGHTS_PARAM, ...CHECK_OPTIONS } as const;

export const ONE_POINT_IN_TIME: Rule = (isGiven) =>
  isGiven('block') && isGiven('timestamp') ? { parameter: 'timestamp', detail: 'cannot be combined with block' } : null;

/** With what a chain can refuse every question. */
export const CHAIN_PROBLEMS = ['not-ready', 'chain-not-ready', 'chain-stale', 'clock-skew', 'chain-halted'] as const;
const REGISTRY_PROBLEMS = [
  'bad-request',
  'unknown-chain',
  'not-indexed',
  ...CHAIN_PROBLEMS,
  'wallet-disputed',
  'not-yet-indexed',
] as const satisfies readonly ProblemType[];
/** Of operations that read a body. */
export const BODY_PROBLEMS = [
  'request-timeout',
  'content-too-large',
  'too-many-questions',
  'unsupported-media-type',
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

// The names of the API's parameters on the command line.

import type { AnyOperation } from '../api/any-operations.ts';
import type { ParamName } from '../api/operation.ts';
import type { RegistryOperation } from '../api/operations.ts';

/** The option for each parameter of the API; null for those that the commands set themselves or do not offer. */
export const OPTION_OF = {
  to: 'to',
  delegate: 'to',
  from: 'from',
  vault: 'from',
  contract: 'contract',
  tokenId: 'token-id',
  rights: 'rights',
  chainId: 'chain',
  block: 'block',
  timestamp: 'time',
  standard: 'standard',
  direction: 'direction',
  unrestricted: 'unrestricted',
  narrower: 'narrower',
  final: 'final',
  start: 'start',
  cursor: 'cursor',
  // An operand, or the option of the same name.
  wallet: null,
  // The commands ask for every detail, for exact numbers, and page by page.
  explain: null,
  detail: null,
  types: null,
  numbers: null,
  limit: null,
  // Of a list. The option --type names a check.
  type: null,
} as const satisfies Readonly<Record<ParamName<RegistryOperation | AnyOperation>, string | null>>;

/** As errors name it: --token-id for tokenId. */
export function optionName(parameter: string): string {
  const option = (OPTION_OF as Readonly<Record<string, string | null>>)[parameter];
  return option ? `--${option}` : parameter;
}

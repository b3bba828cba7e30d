// Options that the querying commands share.

import type { AnyOperation } from '../api/any-operations.ts';
import type { OperationBase, ParamName } from '../api/operation.ts';
import type { RegistryOperation } from '../api/operations.ts';
import * as p from '../api/params.ts';
import { type Registry, scopesOfRegistry } from '../api/registries.ts';
import type { CheckOptions } from '../api/url.ts';
import { isRightsParam, rightsOf, TEXT_PREFIX } from '../registry/rights.ts';
import { ALL_SCOPES, impliedScopes, SCOPES, type Scope } from '../registry/scopes.ts';
import type { Version } from '../registry/versions.ts';
import { UsageError } from '../service/terminal.ts';
import type { Invocation } from './command.ts';

/** The option for each parameter of the API; null for those that the commands set themselves or do not offer. */
const OPTION_OF = {
  to: 'to',
  delegate: 'to',
  from: 'from',
  vault: 'from',
  contract: 'contract',
  tokenId: 'token-id',
  rights: 'rights',
  chainId: 'chain',
  delegationChainId: 'delegation-chain',
  block: 'block',
  timestamp: 'time',
  standard: 'standard',
  direction: 'direction',
  unrestricted: 'unrestricted',
  narrower: 'narrower',
  resolver: 'resolver',
  final: 'final',
  start: 'start',
  cursor: 'cursor',
  // An operand, or the option of the same name.
  wallet: null,
  // The commands ask for every detail, for exact numbers, and page by page.
  explain: null,
  proof: null,
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

type OfferedParam = {
  [P in keyof typeof OPTION_OF]: (typeof OPTION_OF)[P] extends string ? P : never;
}[keyof typeof OPTION_OF];

/** Parameters that can be wrong before anything is opened. */
const CHECKED: Partial<Record<OfferedParam, p.Param<unknown>>> = {
  from: p.coldWallet,
  to: p.hotWallet,
  contract: p.contract,
  tokenId: p.tokenId,
};

/** What the command line gives for a parameter. */
export function given(call: Invocation, param: OfferedParam): string | undefined {
  const text = call.text(OPTION_OF[param]);
  const checked = CHECKED[param];
  if (text !== undefined && checked !== undefined) requireValid(`--${OPTION_OF[param]}`, checked, text);
  return text;
}

/** What the options of a command give for the parameters of an operation. */
export function paramsOf(call: Invocation, { params }: Pick<OperationBase, 'params'>) {
  const offered = Object.entries(OPTION_OF).filter(([name, option]) => option !== null && name in params);
  const textOf = (name: string, option: string) => (call.isSet(option) ? 'true' : given(call, name as OfferedParam));
  const values = offered.map(([name, option]) => [name, textOf(name, String(option))]);
  const known: Record<string, string | undefined> = Object.fromEntries(values);
  return { ...known, ...timesOf(call), ...('rights' in params && { rights: rightsOption(call) }) };
}

/** The wallet that a command is about. */
export function walletOf({ operands: [wallet = ''] }: Invocation): string {
  requireValid('wallet', p.coldWallet, wallet);
  return wallet;
}

function requireValid(name: string, param: p.Param<unknown>, text: string): void {
  const value = param.read(text);
  if (value instanceof p.Fault) throw new UsageError(`${name} ${value.detail}`);
}

const CHAIN_OPTION = { chain: { value: '<id>', about: 'chain id [1]' } };
export const CHAINS_OPTION = {
  chain: { value: '<ids>', about: 'chain ids, separated by commas, or served for all [1]' },
};
/** For commands about a token on --chain. */
export const DELEGATION_CHAINS_OPTION = {
  'delegation-chain': { value: '<ids>', about: 'chains whose delegations count, such as 1,33139 [that of --chain]' },
};
const POINT_OPTIONS = {
  block: { value: '<block>', about: 'at this block, or finalized [newest block]' },
  time: { value: '<time>', about: 'at this time, such as 2026-01-01T00:00:00Z or 2026-01-01 (midnight UTC)' },
};
export const TIME_OPTIONS = { ...CHAIN_OPTION, v1: { about: 'query the v1 registry [v2]' }, ...POINT_OPTIONS };
/** For commands that ask both registries. */
export const WHEN_OPTIONS = { ...CHAIN_OPTION, ...POINT_OPTIONS };
/** For those that can ask who acts alone. */
export const RESOLVER_OPTION = {
  resolver: {
    value: 'exclusive',
    about: 'by exclusive resolution: the one wallet that acts',
    choices: p.resolver.choices,
  },
};
/** For those that also ask several chains at once. */
export const ANY_OPTIONS = { ...CHAINS_OPTION, ...POINT_OPTIONS };

export const versionOf = (call: Invocation): Version => (call.isSet('v1') ? 1 : 2);

/** For commands that have --any. */
export function registryOf(call: Invocation): Registry {
  if (!call.isSet('any')) return versionOf(call);
  if (call.isSet('v1')) throw new UsageError('--any and --v1 cannot be combined.');
  return 'any';
}

export const chainIdOf = (call: Invocation): number => call.number(OPTION_OF.chainId) ?? 1;

/** The parameters for the chain and the point in time. */
export const whenOf = (call: Invocation): Pick<CheckOptions, 'chainId' | 'block' | 'timestamp'> => ({
  chainId: chainIdOf(call),
  ...timesOf(call),
});

function timesOf(call: Invocation): Pick<CheckOptions, 'block' | 'timestamp'> {
  const [block, time] = [given(call, 'block'), given(call, 'timestamp')];
  if (block !== undefined && time !== undefined) throw new UsageError('--block and --time cannot be combined.');
  return { block, timestamp: time };
}

/** A right as the API takes it, from a text such as vote or text:vote, or bytes32. */
export function readRights(text: string): string {
  const rights = isRightsParam(text) ? text : rightsOf(text);
  if (rights === null) throw new UsageError(`--rights must not be longer than 32 bytes, got ${text}`);
  return rights;
}

/** The identifier of --rights as exclusive resolution takes it. */
export function idOption(call: Invocation): string | undefined {
  const text = given(call, 'rights');
  if (text === undefined) return undefined;
  const id = isRightsParam(text) ? text : `${TEXT_PREFIX}${text}`;
  requireValid('--rights', p.rightsId, id);
  return id;
}

/** The right of --rights as the API takes it. */
export function rightsOption(call: Invocation): string | undefined {
  const text = given(call, 'rights');
  if (text === undefined) return undefined;
  const rights = readRights(text);
  requireValid('--rights', call.text('resolver') === undefined ? p.rights : p.rightsOrId, rights);
  return rights;
}

/** As messages name it. */
const registryName = (registry: Registry) => (registry === 'any' ? 'both registries' : `v${registry}`);

/** The names of all checks. */
export const SCOPE_NAMES: readonly string[] = ALL_SCOPES;

/** The check to ask. Without --type it follows from what is given, if only one check needs exactly that. */
export function scopeOf(
  type: string | undefined,
  registry: Registry,
  contract: string | undefined,
  tokenId: string | undefined,
): Scope {
  const scopes: readonly Scope[] = scopesOfRegistry(registry);
  if (type !== undefined) {
    const named = scopes.find((scope) => scope === type);
    if (named === undefined)
      throw new UsageError(
        `--type ${type} does not exist in ${registryName(registry)}. Use one of ${scopes.join(', ')}.`,
      );
    // The API would ignore them and answer about the wider scope, which nobody who names a contract wants to know.
    const { needsContract, needsTokenId } = SCOPES[named];
    if (contract !== undefined && !needsContract)
      throw new UsageError(`--contract is not allowed in a check of type ${named}`);
    if (tokenId !== undefined && !needsTokenId)
      throw new UsageError(`--token-id is not allowed in a check of type ${named}`);
    return named;
  }
  const [scope, ...others] = impliedScopes(scopes, { contract, tokenId });
  if (scope === undefined || others.length > 0)
    throw new UsageError(`--type is required with --token-id: ${[scope, ...others].join(' or ')}?`);
  return scope;
}

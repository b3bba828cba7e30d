// Options and formatting that the querying commands share.

import { OPERATIONS, type Scope } from '../api/operations.ts';
import type * as p from '../api/params.ts';
import { Fault } from '../api/params.ts';
import { rightsOf } from '../registry/rights.ts';
import type { Version } from '../registry/versions.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Invocation, Option } from './command.ts';
import type { Source } from './query-target.ts';

const scopesOf = (version: Version): readonly Scope[] =>
  OPERATIONS.flatMap((one) => (one.kind === 'check' && one.version === version ? [one.scope] : []));
/** What each registry can be asked about. */
const SCOPES = { 1: scopesOf(1), 2: scopesOf(2) };

export const TIME_OPTIONS: Readonly<Record<string, Option>> = {
  chain: { value: '<id>', about: 'chain id [1]' },
  v1: { about: 'query the v1 registry [v2]' },
  block: { value: '<block>', about: 'at this block, or finalized [newest block]' },
  time: { value: '<time>', about: 'at this time, such as 2026-01-01T00:00:00Z' },
};

export const versionOf = (call: Invocation): Version => (call.isSet('v1') ? 1 : 2);

/** The parameters of the chain and the moment. */
export function whenOf(call: Invocation): URLSearchParams {
  const query = new URLSearchParams({ chainId: String(call.number('chain') ?? 1) });
  const [block, time] = [call.text('block'), call.text('time')];
  if (block !== undefined && time !== undefined) throw new UsageError('--block and --time cannot be combined.');
  if (block !== undefined) query.set('block', block);
  // A date is its first moment.
  if (time !== undefined) query.set('timestamp', /^\d{4}-\d{2}-\d{2}$/.test(time) ? `${time}T00:00:00Z` : time);
  return query;
}

/** A right as people write it, such as vote, or in the form that the registry has. */
export function readRights(text: string): string {
  const rights = text.startsWith('0x') ? text : rightsOf(text);
  if (rights === null) throw new UsageError(`--rights must not be longer than 32 bytes, got ${text}`);
  return rights;
}

/** The check that is meant, where it is not named: of the token, of the contract, or of everything. */
export function scopeOf(
  type: string | undefined,
  version: 1 | 2,
  contract: string | undefined,
  tokenId: string | undefined,
) {
  const scopes: readonly string[] = SCOPES[version];
  const guessed =
    tokenId !== undefined ? (version === 1 ? 'token' : undefined) : contract !== undefined ? 'contract' : 'all';
  const scope = type ?? guessed;
  if (scope === undefined) throw new UsageError('--type is missing. A token id needs --type erc721 or erc1155.');
  if (!scopes.includes(scope))
    throw new UsageError(`--type ${scope} does not exist in v${version}. Use one of ${scopes.join(', ')}.`);
  return scope as Scope;
}

/** Where the API answers a question. */
export function checkPath(question: Asking, query: URLSearchParams): string {
  const { version, scope, from, to, contract, tokenId, rights } = question;
  query.set(version === 1 ? 'vault' : 'from', from);
  query.set(version === 1 ? 'delegate' : 'to', to);
  if (contract !== undefined) query.set('contract', contract);
  if (tokenId !== undefined) query.set('tokenId', String(tokenId));
  if (rights !== undefined) query.set('rights', rights);
  return `/registry/v${version}/check/${scope}?${query}`;
}

const TRIES = 6;
const LONGEST_WAIT = 60;

/** Asks again where the service's limit is used up, as soon as it says that one more request fits. */
export async function askWithinLimit(ask: Source['ask'], path: string): Promise<Response> {
  for (let left = TRIES; ; left--) {
    const response = await ask(path);
    const wait = Number(response.headers.get('retry-after') ?? 0);
    if (response.status !== 429 || left === 0 || wait > LONGEST_WAIT) return response;
    await response.text();
    await Bun.sleep(1000 * Math.max(1, wait));
  }
}

interface Asking {
  readonly version: 1 | 2;
  readonly scope: string;
  readonly from: string;
  readonly to: string;
  readonly contract?: string | undefined;
  readonly tokenId?: bigint | string | undefined;
  readonly rights?: string | undefined;
}

/** Reads a value as the API would, or says what is wrong with it. */
export function readOr<T>(param: p.Param<T>, text: string): T | string {
  const value = param.read(text);
  return value instanceof Fault ? `${param.name} ${value.detail}` : value;
}

export const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** Columns under their names, each as wide as it must be. */
export function tableOf(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = names.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  return [names, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

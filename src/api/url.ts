// Builds the URLs of the API.

import type { Scope } from '../registry/scopes.ts';
import type { Version } from '../registry/versions.ts';
import type { InputOf, OperationBase, OptionsOf } from './operation.ts';
import { type CheckOperation, checkOf, LISTS, type ListOperation, type Operation } from './operations.ts';
import type { QuestionParam } from './question.ts';
import { REGISTRIES, type Registry } from './registries.ts';

type Values = Readonly<Record<string, string | number | bigint | undefined>>;

/** The path and query of a request. */
export const urlFor = <O extends Operation>(operation: O, values: InputOf<O>): string => anyUrl(operation, values);

/**
 * The same for values whose names are not known when this is compiled. Parameters that the operation does not have are sent too, so
 * that the API refuses them by name.
 */
export function anyUrl({ path }: Pick<OperationBase, 'path'>, values: Values): string {
  const query = new URLSearchParams();
  let target: string = path;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const place = `{${name}}`;
    if (target.includes(place)) target = target.replace(place, encodeURIComponent(String(value)));
    else query.set(name, String(value));
  }
  return query.size === 0 ? target : `${target}?${query}`;
}

/** A question whose values are not checked yet. */
export interface UncheckedQuestion {
  readonly version: Registry;
  readonly scope: Scope;
  readonly from: string;
  readonly to: string;
  readonly contract?: string | undefined;
  readonly tokenId?: bigint | string | undefined;
  readonly rights?: string | undefined;
}

/** The parameters of a check that are not part of its question. */
export type CheckOptions = OptionsOf<CheckOperation, QuestionParam>;
export type ListOptions = OptionsOf<ListOperation, 'wallet'>;

/** The URL of a question, under the names that its version has for the wallets. */
export function checkUrl(question: UncheckedQuestion, options: CheckOptions = {}): string {
  const { version, scope, from, to, contract, tokenId, rights } = question;
  const { wallets } = REGISTRIES[version];
  const values = { [wallets.to]: to, [wallets.from]: from, contract, tokenId, rights, ...options };
  return anyUrl(checkOf(version, scope), values);
}

export const listUrl = (version: Version, wallet: string, options: ListOptions = {}): string =>
  anyUrl(LISTS[version], { wallet, ...options });

// Reads what a webhook is asked to deliver and where to replay from, for the developer page and the command line.

import { LABEL_RULE, readLabel } from '../accounts/label.ts';
import * as p from '../api/params.ts';
import { Fault } from '../api/params.ts';
import { chainsOf, type ReplayFrom } from './source.ts';
import { readTarget, type TargetRules } from './target.ts';
import type { WebhookFilter, WebhookRecord } from './webhooks.ts';

export type Subscription = Pick<WebhookRecord, 'url' | 'label' | 'filter' | 'at'>;

const SUBSCRIPTION_FIELDS = ['url', 'label', 'chainId', 'wallet', 'from', 'to', 'contract', 'at'] as const;
const REPLAY_FIELDS = ['block', 'chainId'] as const;

/** What is wrong with one field, as the end of the sentence "<field> …". */
export class FieldFault extends Fault {
  readonly field: string;
  constructor(field: string, detail: string) {
    super(detail);
    this.field = field;
  }
}

type Given = Readonly<Record<string, unknown>>;

/** A misspelled filter must not make a webhook that delivers everything. */
function findUnknown(given: Given, known: readonly string[]): FieldFault | undefined {
  const field = Object.keys(given).find((one) => !known.includes(one));
  return field === undefined ? undefined : new FieldFault(field, `is not a field. Use ${known.join(', ')}`);
}

/** The value of a field; undefined if it is absent. */
function readField<T>(given: Given, field: string, read: (text: string) => T | Fault): T | undefined | FieldFault {
  const value = given[field];
  if (value === undefined) return undefined;
  const found = typeof value === 'string' ? read(value) : new Fault('must be a string');
  return found instanceof Fault ? new FieldFault(field, found.detail) : found;
}

/** Without `chainId`, a webhook delivers the changes of all served chains. */
export function readSubscription(
  given: Given,
  { rules, served }: { readonly rules: TargetRules; readonly served: ReadonlySet<number> },
): Subscription | FieldFault {
  const unknown = findUnknown(given, SUBSCRIPTION_FIELDS);
  const url = readField({ url: '', ...given }, 'url', (text) => readTarget(text, rules));
  const label = readField(given, 'label', (text) => readLabel(text) ?? new Fault(`must be ${LABEL_RULE}`));
  const at = readField(given, 'at', (text) =>
    text === 'final' || text === 'head' ? text : new Fault('must be final or head'),
  );
  const chainIds = readField(given, 'chainId', (text) => {
    const found = p.chainIds.read(text);
    const missing = found instanceof Fault || found === 'served' ? undefined : found.find((one) => !served.has(one));
    return missing === undefined ? found : new Fault(`names chain ${missing}, which is not served`);
  });
  const addresses = (['wallet', 'from', 'to', 'contract'] as const).map(
    (field) => [field, readField(given, field, p.readAddress)] as const,
  );
  const fault = [unknown, url, label, at, chainIds, ...addresses.map(([, one]) => one)].find(
    (one) => one instanceof FieldFault,
  );
  if (fault !== undefined) return fault;
  const set = Object.fromEntries(addresses.filter(([, address]) => address !== undefined));
  return {
    url: (url as URL).href,
    label: (label as string | undefined) ?? null,
    at: (at as Subscription['at'] | undefined) ?? 'final',
    filter: { chainIds: (chainIds as WebhookFilter['chainIds'] | undefined) ?? 'served', ...set },
  };
}

/** `block` is `start` for all history, or the first block of `chainId` to deliver again. */
export function readReplay(given: Given, webhook: WebhookRecord, served: ReadonlySet<number>): ReplayFrom | FieldFault {
  const unknown = findUnknown(given, REPLAY_FIELDS);
  if (unknown !== undefined) return unknown;
  const { block, chainId } = given;
  if (block === 'start')
    return chainId === undefined ? block : new FieldFault('chainId', 'must be absent: start replays every chain');
  if (typeof block !== 'string' || !/^\d{1,15}$/.test(block))
    return new FieldFault('block', 'must be start or a block number');
  const chain = chainsOf(webhook, served).find((one) => String(one) === chainId);
  if (chain === undefined)
    return new FieldFault('chainId', 'must be the chain of that block, one that the webhook reads');
  return { chainId: chain, block: Number(block) };
}

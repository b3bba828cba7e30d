// What an audit asks the registry: questions, and lists of wallets.

import { type Question, questionFor } from '../../registry/check.ts';
import type { Address } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { LogRecord } from '../../store/store.ts';

/** A wallet's list. The v1 lists by delegate are not read, because v1 checks cover the same rows. */
export type WalletList =
  | { readonly version: 1; readonly wallet: Address; readonly direction: 'outgoing' }
  | { readonly version: 2; readonly wallet: Address; readonly direction: 'outgoing' | 'incoming' };

/** For the log and the terminal. */
export const describeQuestion = ({ version, scope, from, to }: Question): string =>
  `v${version} ${scope} ${from} to ${to}`;

/** For each log, a question about its delegation, and the same question about an unrelated delegate. */
export function questionsAbout(logs: readonly LogRecord[]): Question[] {
  return logs.flatMap(({ event }) => {
    if (!('delegation' in event)) return [];
    const { delegation } = event;
    const stranger: Address = `0x${delegation.from.slice(2).split('').reverse().join('')}`;
    return [questionFor(delegation), questionFor({ ...delegation, to: stranger })];
  });
}

/** The registry's lists that a delegation between two wallets is in. */
export function listsAbout({ version, from, to }: { version: Version; from: Address; to: Address }): WalletList[] {
  const outgoing = { version, wallet: from, direction: 'outgoing' } as WalletList;
  return version === 1 ? [outgoing] : [outgoing, { version, wallet: to, direction: 'incoming' }];
}

// The questions and lists that an audit asks the registry about.

import { type Question, questionFor } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../registry/versions.ts';
import type { Subject, WalletList } from '../store/halt.ts';
import type { LogRecord } from '../store/store.ts';

export const isQuestion = (subject: Subject): subject is Question => 'scope' in subject;

/** For the log and the terminal. */
export const describeSubject = (subject: Subject): string =>
  isQuestion(subject)
    ? `v${subject.version} ${subject.scope} ${subject.from} to ${subject.to}`
    : `v${subject.version} ${subject.direction} list of ${subject.wallet}`;

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

/** The wallets whose v1 delegations the subjects are about. */
export const v1VaultsOf = (subjects: readonly Subject[]): ReadonlySet<Address> =>
  new Set(
    subjects
      .filter(({ version }) => hasUnnamedRevocations(version))
      .map((subject) => (isQuestion(subject) ? subject.from : subject.wallet)),
  );

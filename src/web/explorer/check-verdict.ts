// Says in a sentence what a check has found.

import type { Explanation } from '../../api/responses.ts';
import { isGranted } from '../../api/responses.ts';
import type { UncheckedQuestion } from '../../api/url.ts';
import { MAX_UINT256 } from '../../registry/delegation.ts';
import { TEXT_PREFIX } from '../../registry/rights.ts';
import { SCOPES } from '../../registry/scopes.ts';
import { shortAddress } from '../delegation.ts';

export function verdictText(question: UncheckedQuestion, explained: Explanation, isPast: boolean): string {
  const mayAct = isGranted(explained);
  const verb = isPast ? (mayAct ? 'could act' : 'could not act') : mayAct ? 'may act' : 'may not act';
  const { to, from, rights } = question;
  const right = rights === undefined ? '' : `, with the right “${rights.replace(TEXT_PREFIX, '')}”`;
  return `${shortAddress(to)} ${verb} for ${shortAddress(from)} ${objectText(question, explained)}${right}.`;
}

/** What it may use, with the amount that is granted. */
function objectText({ scope, contract = '', tokenId }: UncheckedQuestion, explained: Explanation): string {
  const { needsContract, needsTokenId, answersBalance } = SCOPES[scope];
  if (!needsContract) return 'with the whole wallet';
  const token = needsTokenId ? `token ${tokenId} of ` : '';
  const amount = answersBalance && isGranted(explained) ? `${amountText(String(explained.result))} of ` : '';
  return `with ${amount}${token}contract ${shortAddress(contract)}`;
}

const amountText = (amount: string): string => (BigInt(amount) === MAX_UINT256 ? 'any amount' : `up to ${amount}`);

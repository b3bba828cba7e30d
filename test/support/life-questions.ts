// Questions about random chains, and their true answers by the model.

import { type AnyQuestion, asksBalance, partsOf, type Question } from '../../src/registry/check.ts';
import { MAX_UINT256 } from '../../src/registry/delegation.ts';
import { CONTRACTS, IDS, RIGHTS, WALLETS } from './lives.ts';
import type { Model } from './model.ts';

/** A few questions, different ones at each turn. */
export function questionsFor(turn: number): (Question | AnyQuestion)[] {
  const pick = <T>(from: readonly T[], offset: number) => from[(turn + offset) % from.length] as T;
  const pair = { from: pick(WALLETS, 0), to: pick(WALLETS, Math.floor(turn / 3)) };
  const target = { contract: pick(CONTRACTS, Math.floor(turn / 2)), tokenId: BigInt(pick(IDS, Math.floor(turn / 5))) };
  const v2 = { version: 2, ...pair, rights: pick(RIGHTS, Math.floor(turn / 7)) } as const;
  return [
    { version: 1, ...pair, scope: 'token', ...target },
    { ...v2, scope: 'erc721', ...target },
    { ...v2, scope: 'erc1155', ...target },
    { ...v2, scope: 'erc20', contract: target.contract },
    { ...v2, version: 'any', scope: 'all' },
    { ...v2, version: 'any', scope: 'contract', contract: target.contract },
    { ...v2, version: 'any', scope: 'erc721', ...target },
    { ...v2, version: 'any', scope: 'erc1155', ...target },
    { ...v2, version: 'any', scope: 'erc20', contract: target.contract },
  ];
}

/** A v1 grant is unlimited. */
export function truthOf(model: Model, question: Question | AnyQuestion): boolean | bigint {
  const [first = false, second = false] = partsOf(question).map((part) => {
    const rest: string[] = part.scope === 'all' ? [] : [part.contract];
    if ('tokenId' in part) rest.push(String(part.tokenId));
    return part.version === 1
      ? model.v1(part.scope, part.to, part.from, ...(rest as [string?, string?]))
      : model.v2(part.scope, part.to, part.from, ...rest, part.rights);
  });
  return second === true ? (asksBalance(question) ? MAX_UINT256 : true) : first;
}

// What a scenario may say, what each step becomes, and which line and field an error names.

import { describe, expect, test } from 'bun:test';
import { NO_RIGHTS } from '../registry/delegation.ts';
import { rightsOf } from '../registry/rights.ts';
import { readScenario } from './scenario.ts';

const [FROM, TO, CONTRACT] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const NOW = 1_800_000_000;
const read = (...steps: object[]) => readScenario(JSON.stringify(steps), 'steps.json', NOW);
const callsOf = (...steps: object[]) => read(...steps).calls.map(({ call }) => call);
const wallets = { from: FROM, to: TO };

test('every kind of grant and revocation is the call of the contract that makes it', () => {
  const token = {
    ...wallets,
    contract: CONTRACT,
    tokenId: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  };
  const vote = rightsOf('vote') as string;
  expect(
    callsOf(
      { grant: 'ALL', ...wallets },
      { grant: 'ALL', ...wallets, rights: 'text:vote' },
      { grant: 'CONTRACT', ...wallets, contract: CONTRACT, version: 2 },
      { grant: 'ERC721', ...token },
      { grant: 'ERC20', ...wallets, contract: CONTRACT, amount: 250 },
      { grant: 'ERC1155', ...token, tokenId: 7, amount: '3' },
      { revoke: 'ERC20', ...wallets, contract: CONTRACT },
      { revoke: 'ALL', ...wallets, rights: vote },
    ),
  ).toEqual([
    ['v2', FROM, 'delegateAll', [TO, NO_RIGHTS, true]],
    ['v2', FROM, 'delegateAll', [TO, vote, true]],
    ['v2', FROM, 'delegateContract', [TO, CONTRACT, NO_RIGHTS, true]],
    ['v2', FROM, 'delegateERC721', [TO, CONTRACT, token.tokenId, NO_RIGHTS, true]],
    ['v2', FROM, 'delegateERC20', [TO, CONTRACT, NO_RIGHTS, '250']],
    ['v2', FROM, 'delegateERC1155', [TO, CONTRACT, '7', NO_RIGHTS, '3']],
    ['v2', FROM, 'delegateERC20', [TO, CONTRACT, NO_RIGHTS, '0']],
    ['v2', FROM, 'delegateAll', [TO, vote, false]],
  ]);
  expect(
    callsOf(
      ...[
        { grant: 'ALL', ...wallets },
        { grant: 'CONTRACT', ...wallets, contract: CONTRACT },
        { grant: 'TOKEN', ...token, tokenId: 0 },
        { revoke: 'CONTRACT', ...wallets, contract: CONTRACT },
        { revoke: 'DELEGATE', ...wallets },
        { revoke: 'SELF', ...wallets },
        { revoke: 'ALL_DELEGATES', from: FROM },
      ].map((step) => ({ version: 1, ...step })),
    ),
  ).toEqual([
    ['v1', FROM, 'delegateForAll', [TO, true]],
    ['v1', FROM, 'delegateForContract', [TO, CONTRACT, true]],
    ['v1', FROM, 'delegateForToken', [TO, CONTRACT, '0', true]],
    ['v1', FROM, 'delegateForContract', [TO, CONTRACT, false]],
    ['v1', FROM, 'revokeDelegate', [TO]],
    ['v1', TO, 'revokeSelf', [FROM]],
    ['v1', FROM, 'revokeAllDelegates', []],
  ]);
});

test('a step has its own time, or follows a second after the one before', () => {
  const step = { grant: 'ALL', ...wallets };
  const times = (...steps: object[]) => {
    const { startedAt, calls } = read(...steps);
    return [startedAt, ...calls.map(({ at }) => at)];
  };
  expect(times(step, step)).toEqual([NOW - 3, NOW - 2, NOW - 1]);
  expect(times(step, { ...step, at: '2026-01-01' }, step)).toEqual([
    1_767_225_598, 1_767_225_599, 1_767_225_600, 1_767_225_601,
  ]);
});

describe('an error names the file, the line, the step and the field', () => {
  const good = `{"grant": "ALL", "from": "${FROM}", "to": "${TO}"}`;
  const errorOf = (text: string): string => {
    try {
      readScenario(text, 'steps.json', NOW);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const step = (fields: object) => `[\n${good},\n  ${JSON.stringify({ ...wallets, ...fields })}\n]`;

  for (const [what, text, message] of [
    ['a wrong address', step({ grant: 'ALL', to: '0x12' }), 'to must be an address (0x and 40 hex digits), not "0x12"'],
    ['a missing field', step({ grant: 'CONTRACT' }), 'contract is required'],
    [
      'a misspelled field',
      step({ grant: 'ALL', right: 'text:vote' }),
      'right is not a known field; did you mean rights?',
    ],
    ['a field of another kind', step({ grant: 'ALL', contract: CONTRACT }), 'contract has no meaning here'],
    ['a right in version 1', step({ grant: 'ALL', version: 1, rights: 'text:a' }), 'rights has no meaning here'],
    [
      'a kind of the other version',
      step({ grant: 'TOKEN' }),
      'grant must be one of ALL, CONTRACT, ERC721, ERC20, ERC1155 in version 2',
    ],
    [
      'a revocation that only version 1 has',
      step({ revoke: 'DELEGATES', version: 1 }),
      'revoke must be one of ALL, CONTRACT, TOKEN, DELEGATE, ALL_DELEGATES, SELF in version 1',
    ],
    ['neither', step({}), 'must have either grant or revoke'],
    ['both', step({ grant: 'ALL', revoke: 'ALL' }), 'must have either grant or revoke'],
    [
      'an amount of nothing',
      step({ grant: 'ERC20', contract: CONTRACT, amount: 0 }),
      'amount must be an amount in decimal digits, from 1 to 2^256-1',
    ],
    ['a version', step({ grant: 'ALL', version: 3 }), 'version must be 1 or 2'],
    ['a boolean', step({ grant: 'ALL', at: true }), 'at must be a string or a number'],
    ['the future', step({ grant: 'ALL', at: NOW + 1 }), 'at is in the future'],
    ['no object', `[\n${good},\n7]`, 'must be an object such as {"grant": "ALL", "from": "0x…", "to": "0x…"}'],
    ['a repeated field', `[\n${good},\n{"grant": "ALL", "grant": "ALL"}]`, 'grant is given more than once'],
  ] as const) {
    test(what, () =>
      expect(errorOf(text)).toBe(`steps.json, line 3: step 2: ${message}. See docs/integrating.md, "In your tests".`),
    );
  }

  test('times out of order', () => {
    const timed = `{"grant": "ALL", "from": "${FROM}", "to": "${TO}", "at": "2026-01-01"}`;
    expect(errorOf(`[${timed},\n\n${timed}]`)).toContain('line 3: step 2: at must be later than in the steps before');
  });

  test('what is not JSON', () => {
    expect(errorOf(`[${good},\n${good}\n${good}]`)).toContain('steps.json, line 3: not valid JSON: expected "]"');
    expect(errorOf('{}')).toContain('steps.json, line 1: not valid JSON: expected "["');
    expect(errorOf(`[${good}`)).toContain('found the end');
  });
});

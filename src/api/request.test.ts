import { describe, expect, test } from 'bun:test';
import { CHECKS, type CheckOperation, LISTS } from './operations.ts';
import { Problem } from './problems.ts';
import { splitQuestion } from './question.ts';
import { readRequest } from './request.ts';

const readCheck = (operation: CheckOperation, query: string) =>
  splitQuestion(operation, readRequest(operation, {}, query));
const readList = (version: 1 | 2, wallet: string, query: string) => readRequest(LISTS[version], { wallet }, query);
const [A, B, C] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];

/** Each parameter that was refused, with the reason. */
function refused(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.type).toBe('bad-request');
    return Object.fromEntries((error.fields.errors ?? []).map(({ parameter, detail }) => [parameter, detail]));
  }
  return {};
}

describe('the pair of a v2 check', () => {
  const erc20 = CHECKS[2].erc20;
  const pairOf = (query: string) => {
    const { question } = readCheck(erc20, `${query}&contract=${C}`);
    return [question.to, question.from];
  };

  test('goes by to and from, or by delegate and vault, or by both where they agree', () => {
    expect(pairOf(`to=${A}&from=${B}`)).toEqual([A, B] as never);
    expect(pairOf(`delegate=${A}&vault=${B}`)).toEqual([A, B] as never);
    expect(pairOf(`delegate=${A}&vault=${B}&to=${A}&from=${B}`)).toEqual([A, B] as never);
  });

  test('with names that disagree is refused', () => {
    const read = () => readCheck(erc20, `delegate=${A}&vault=${B}&to=${C}&from=${B}&contract=${C}`);
    expect(refused(read)).toEqual({ to: 'differs from delegate, which means the same' });
  });

  test('mixed from both is refused', () => {
    const read = () => readCheck(erc20, `to=${A}&vault=${B}&contract=${C}`);
    expect(Object.keys(refused(read))).toEqual(['delegate', 'from']);
  });
});

describe('a request', () => {
  test('names all of its faults at once', () => {
    const read = () => readCheck(CHECKS[2].erc721, `to=0x1&tokenId=-1&chainid=1&block=x&timestamp=y`);
    expect(Object.keys(refused(read)).sort()).toEqual([
      'block',
      'chainid',
      'contract',
      'from',
      'timestamp',
      'to',
      'tokenId',
    ]);
  });

  test('defaults to Ethereum, the head, and numbers', () => {
    const { options, question } = readCheck(CHECKS[1].all, `delegate=${A}&vault=${B}`);
    expect(options as object).toEqual({
      delegate: A,
      vault: B,
      chainId: 1,
      block: undefined,
      timestamp: undefined,
      numbers: 'number',
      explain: 'false',
      proof: 'false',
    });
    expect(question).toEqual({ version: 1, scope: 'all', to: A, from: B } as never);
  });

  test('of v1 knows neither rights nor to and from', () => {
    const read = () => readCheck(CHECKS[1].all, `delegate=${A}&vault=${B}&rights=&to=${A}`);
    expect(Object.keys(refused(read))).toEqual(['rights', 'to']);
  });

  test('for a block and a time at once is refused', () => {
    const read = () => readList(2, A, 'block=5&timestamp=5');
    expect(refused(read)).toEqual({ timestamp: 'cannot be combined with block' });
  });

  test('for a list reads its filters', () => {
    const query = `direction=incoming&type=TOKEN&contract=${C}&rights=0x${'0'.repeat(64)}&detail=full&numbers=string&limit=5`;
    expect(readList(2, A, query)).toMatchObject({
      direction: 'incoming',
      type: 'TOKEN',
      contract: C,
      detail: 'full',
      numbers: 'string',
      limit: 5,
    });
  });

  test('with a cursor needs a limit', () => {
    expect(refused(() => readList(2, A, 'cursor=abcdefgh'))).toEqual({ limit: 'is required with cursor' });
  });

  test('for the list of what is no wallet says so first', () => {
    expect(refused(() => readList(1, 'check', 'x=1'))).toMatchObject({
      wallet: expect.stringContaining('must be an address'),
    });
  });
});

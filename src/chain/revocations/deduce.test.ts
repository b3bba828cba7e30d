import { describe, expect, test } from 'bun:test';
import { deduce } from './deduce.ts';

describe('what a state shows about revocations of a pair', () => {
  const at = (block: number, logIndex = 0) => ({ block, logIndex });
  const held = (block: number, logIndex = 0) => ({ granted: at(block, logIndex), isHeld: true });
  const lost = (block: number, logIndex = 0) => ({ granted: at(block, logIndex), isHeld: false });
  const found = (...args: Parameters<typeof deduce>) =>
    deduce(...args)?.map(({ hasEnded, knownFrom }) => `${hasEnded ? 'ended' : 'no'} ${knownFrom}`) ?? null;

  test('a delegation that is there, and not granted again, held all along', () => {
    expect(found([at(5), at(7)], [held(3)], 9)).toEqual(['no 5', 'no 7']);
  });
  test('a delegation that is gone ended at the only revocation after its grant', () => {
    expect(found([at(5)], [lost(3)], 9)).toEqual(['ended 5']);
    expect(found([at(5), at(7)], [lost(6)], 9)).toEqual(['no 7', 'ended 7']);
  });
  test('among several revocations nothing is known before the last', () => {
    expect(found([at(5), at(7)], [lost(3)], 9)).toEqual(['no 7', 'ended 7']);
  });
  test('what was granted between them, and again since, is not known before the state', () => {
    const grants = [at(6), at(8)];
    expect(found([at(5), at(7)], [lost(3)], 9, { grants })).toEqual(['no 9', 'ended 9']);
    expect(found([at(5, 1), at(5, 3)], [lost(3)], 9, { grants: [at(5, 2), at(8)] })).toEqual(['no 9', 'ended 9']);
    // Another one from between shows it.
    expect(found([at(5), at(7)], [lost(3), lost(6, 1)], 9, { grants })).toEqual(['no 7', 'ended 7']);
  });
  test('one that a later grant outlived is excluded', () => {
    expect(found([at(5), at(7)], [lost(3), held(6)], 9)).toEqual(['ended 5', 'no 7']);
  });
  test('what was granted again says nothing about before', () => {
    expect(found([at(5)], [held(6)], 9)).toEqual(['no 9']);
    expect(found([at(5)], [], 5)).toEqual(['no 5']);
  });
  test('a count of revocations says that one of them was this pair', () => {
    expect(found([at(5, 1)], [held(5, 2)], 5, { isRevoked: true })).toEqual(['ended 5']);
    expect(found([at(5, 1)], [held(3)], 5, { isRevoked: true })).toBeNull();
  });
  test('a delegation that is gone although nothing can have ended it is a contradiction', () => {
    expect(found([at(5)], [lost(6)], 9)).toBeNull();
    expect(found([at(5)], [held(3), lost(4)], 9)).toBeNull();
  });
});

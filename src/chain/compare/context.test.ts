import { expect, test } from 'bun:test';
import { address } from '../../../test/support/fixtures.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { type Dispute, MAX_DISPUTED } from '../../store/halt.ts';
import type { ChainState, Report, Store } from '../../store/store.ts';
import { createContext, type FollowerEvent } from './context.ts';

const CLAIMED = { epoch: 3, commits: 1, disputes: [], halt: null } as unknown as ChainState;

async function claimed(store: Partial<Store>) {
  const events: FollowerEvent['type'][] = [];
  const context = createContext({
    network: MAINNET,
    store: { claim: async () => CLAIMED, ...store } as Store,
    finality: 'tag',
    ticks: () => 0,
    providerCount: 1,
    now: () => 0,
    onEvent: ({ type }) => events.push(type),
    blame() {},
    isBlamed: () => false,
  });
  await context.claim(0, false);
  return { context, events };
}

test('the result of an older commit that arrives later replaces nothing', async () => {
  const { context } = await claimed({});
  const { promise, resolve } = Promise.withResolvers<void>();
  const older = context.commit(async (state) => {
    await promise;
    return { ...state, commits: 2 };
  });
  await context.commit(async (state) => ({ ...state, commits: 3 }));
  resolve();
  await older;
  expect(context.state?.commits).toBe(3);
});

test('a chain that another writer has claimed is not followed on', async () => {
  const { context } = await claimed({ chain: async () => ({ ...CLAIMED, epoch: 4 }) });
  await expect(context.refresh()).rejects.toThrow('another writer has claimed the chain');
  expect(context.state?.epoch).toBe(3);
});

test('so many disputed wallets that others may be wrong too halt the chain, and it resumes when none is left', async () => {
  let state = CLAIMED;
  const report = async (_: number, __: number, changes: Report) => {
    state = { ...state, ...changes, commits: state.commits + 1 };
    return state;
  };
  const { context, events } = await claimed({ report });
  const disputes = Array.from(
    { length: MAX_DISPUTED + 1 },
    (_, at): Dispute => ({ vault: address(at), delegate: null, since: 5, block: 9, statement: null }),
  );
  await context.dispute(disputes.slice(1));
  expect(state.halt).toBeNull();
  await context.dispute(disputes.slice(0, 1));
  expect(state.halt).toMatchObject({ code: 'registry-mismatch', block: 9 });
  await context.endDisputes(disputes.slice(1));
  expect(state.halt).not.toBeNull();
  await context.endDisputes(disputes.slice(0, 1));
  expect(state.halt).toBeNull();
  expect(MAX_DISPUTED).toBe(100);
  expect(events).toEqual(['disputed', 'disputed', 'halted', 'undisputed', 'undisputed', 'resumed']);
});

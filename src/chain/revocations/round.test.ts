import { expect, test } from 'bun:test';
import type { Settlement } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { createRound } from './round.ts';

test('settlements are written on the commit at which the wallets were read, or on the own one after it', async () => {
  const bases: (number | undefined)[] = [];
  const context = {
    network: { chainId: 1, registries: {} },
    store: {
      async settle(_chainId: number, _epoch: number, _settlements: readonly Settlement[], base?: number) {
        bases.push(base);
        return { commits: (base ?? 0) + 1 };
      },
    },
    commit: (run: (state: { epoch: number }) => Promise<unknown>) => run({ epoch: 1 }),
  };
  const round = createRound(context as unknown as Context, [] as unknown as TickProviders, 1, { commits: 7 });
  const settlement = {} as Settlement;
  await round.write([settlement]);
  await round.write([settlement]);
  expect(bases).toEqual([7, 8]);
});

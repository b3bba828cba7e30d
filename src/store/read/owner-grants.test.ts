// The last grants of owners that pass a check: against whole lists, as of every block, and without reading whole lists.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain, VOTE } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  ended,
  granted,
  HOT,
  revocation,
  settlement,
} from '../../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../../test/support/random.ts';
import { targetOf } from '../../registry/chosen.ts';
import { type Address, type Bytes32, type Delegation, NO_RIGHTS } from '../../registry/delegation.ts';
import { openStore } from '../open.ts';
import type { Store } from '../store.ts';

type Chain = Awaited<ReturnType<typeof newChain>>;
const V1 = { version: 1 } as const;

for (const engine of ENGINES) {
  describe(`the grants of owners on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());

    const read = async ({ chainId, state }: Chain, owners: readonly Address[], rights: Bytes32 = VOTE, at?: number) => {
      const found = await store.ownerGrants({
        classes: [],
        chainId,
        owners,
        target: targetOf({ contract: CONTRACT, rights }),
        at: { block: at ?? state.head?.number ?? 0, revision: state.revision },
      });
      return { ...found, grants: found.passing };
    };

    test('are the last of each version in the whole lists, at the head and as of every block', async () => {
      const random = createRandom(5);
      const chain = await newChain(store);
      const owners = [COLD, address(0), address(1), address(21), address(22), address(23)];
      const known: Delegation[] = [];
      const events = () => {
        if (known.length > 3 && random() < 0.4) {
          const { amount: _, ...key } = pickFrom(random, known);
          return ended(key.kind, key);
        }
        const kind = pickFrom(random, ['ALL', 'CONTRACT', 'ERC721', 'TOKEN'] as const);
        const version = kind === 'TOKEN' ? 1 : kind === 'ERC721' ? 2 : pickFrom(random, [1, 2] as const);
        const event = granted(kind, {
          version,
          from: pickFrom(random, owners),
          to: address(40 + below(random, 6)),
          rights: version === 2 ? pickFrom(random, [NO_RIGHTS, VOTE, `0x${'5'.repeat(64)}` as Bytes32]) : null,
          ...(kind !== 'ALL' && { contract: pickFrom(random, [CONTRACT, HOT]) }),
        });
        if (event.type === 'granted') known.push(event.delegation);
        return event;
      };
      for (let number = 101; number < 150; number++)
        await chain.add([block(number, Array.from({ length: 1 + below(random, 4) }, events))]);
      let found = 0;
      for (let number = 101; number < 150; number++) {
        for (const rights of [NO_RIGHTS, VOTE]) {
          const { grants, unsettled } = await read(chain, owners, rights, number);
          expect(unsettled.size).toBe(0);
          for (const [position, owner] of owners.entries()) {
            for (const version of [1, 2] as const) {
              const list = await chain.list(number, owner, version, 'outgoing');
              const passing = list.filter(
                (one) =>
                  (one.kind === 'ALL' || (one.kind === 'CONTRACT' && one.contract === CONTRACT)) &&
                  (version === 1 || one.rights === NO_RIGHTS || one.rights === rights),
              );
              const expected = version === 2 && owner < address(2) ? undefined : passing.at(-1);
              const last = grants[position]?.findLast((one) => one.version === version);
              expect(last && [last.to, last.kind, last.contract, last.rights, last.since.logIndex]).toEqual(
                expected && [expected.to, expected.kind, expected.contract, expected.rights, expected.since.logIndex],
              );
              if (last !== undefined) found++;
            }
          }
        }
      }
      expect(found).toBeGreaterThan(300);
    }, 60_000);

    test('of an owner with very many grants cost no more than of others', async () => {
      const chain = await newChain(store);
      const many = Array.from({ length: 3000 }, (_, to) => address(1000 + to));
      const [first, ...rest] = many;
      await chain.add([block(101, [granted('ALL', { to: first as Address, ...V1 })])]);
      await chain.add([
        block(
          102,
          many.map((to) => granted('ALL', { to })),
        ),
        block(
          103,
          many.map((to) => granted('ERC721', { to })),
        ),
      ]);
      const { grants, read: rows } = await read(chain, [COLD]);
      expect(grants[0]?.map(({ version, to }) => [version, to])).toEqual([
        [1, first as Address],
        [2, many.at(-1) as Address],
      ]);
      expect(rows).toBeLessThan(20);
      // Of those that have ended, the last that held at the block is found all the same.
      await chain.add([
        block(
          104,
          rest.map((to) => ended('ALL', { to })),
        ),
        block(105),
      ]);
      const tos = async (at: number) => (await read(chain, [COLD], VOTE, at)).grants[0]?.map(({ to }) => to);
      expect(await tos(105)).toEqual([first as Address, first as Address]);
      expect(await tos(104)).toEqual([first as Address, first as Address]);
      expect(await tos(103)).toEqual([first as Address, many.at(-1) as Address]);
    }, 60_000);

    test('are uncertain only of an owner whose revocation is not settled', async () => {
      const chain = await newChain(store);
      await chain.add([
        block(101, [granted('ALL', V1), granted('ALL', { ...V1, from: address(31) })]),
        revocation(102),
        block(103),
      ]);
      const unsettled = async () => [...(await read(chain, [COLD, address(31)])).unsettled];
      expect(await unsettled()).toEqual([COLD]);
      await chain.settle(settlement(102, { [HOT]: true }));
      expect(await unsettled()).toEqual([]);
      expect((await read(chain, [COLD, address(31)])).grants.map((own) => own.length)).toEqual([0, 1]);
    });
  });
}

// Tests that a third version of the registry, added as a row to the tables of versions and kinds, is checked and listed like the others.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { asksAll, failure, newChain } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { block, COLD, ended, granted, HOT } from '../../../test/support/fixtures.ts';
import type { Question, Target } from '../../registry/check.ts';
import { KINDS_OF, NO_RIGHTS } from '../../registry/delegation.ts';
import { VERSIONS, type Version } from '../../registry/versions.ts';
import { openStore } from '../open.ts';

const THIRD = 3 as Version;
const versions = VERSIONS as Record<number, unknown>;
const kinds = KINDS_OF as Record<number, unknown>;

beforeAll(() => {
  versions[THIRD] = VERSIONS[2];
  kinds[THIRD] = KINDS_OF[2];
});
afterAll(() => {
  delete versions[THIRD];
  delete kinds[THIRD];
});

for (const { name, fresh } of ENGINES) {
  test(`a delegation of a third version is found by every read on ${name}`, async () => {
    const store = await openStore(await fresh());
    const chain = await newChain(store);
    const third = granted('ALL', { version: THIRD, rights: NO_RIGHTS });
    await chain.add([block(101, [third]), block(102, [granted('ALL', { to: COLD, from: HOT })])]);
    const question = { ...asksAll, version: THIRD } as Question;
    const { from: _, to: __, ...target } = question;
    const pinned = () => ({ block: 102, revision: chain.state.revision });
    const find = async (at: number) => {
      const wanted = { ...pinned(), block: at };
      const query = { chainId: chain.chainId, target: target as Target, at: wanted, limit: 10 };
      const gathered = await Promise.all([1, 2, 3].map(() => store.check(chain.chainId, question)));
      return {
        check: await chain.ask(question, at),
        gathered: gathered.map(({ granting }) => granting.length),
        many: await store.checkMany(chain.chainId, [question, asksAll], wanted),
        list: (await chain.list(at, COLD, THIRD)).length,
        vaults: (await store.vaults({ ...query, wallet: HOT })).counterparts.map(({ wallet }) => wallet),
        delegates: (await store.delegates({ ...query, wallet: COLD })).counterparts.map(({ wallet }) => wallet),
      };
    };
    const found = { check: true, many: [true, false], list: 1, vaults: [COLD], delegates: [HOT] };
    expect(await find(102)).toEqual({ ...found, gathered: [1, 1, 1] });
    await chain.add([block(103, [ended('ALL', { version: THIRD, rights: NO_RIGHTS })])]);
    expect(await find(102)).toEqual({ ...found, gathered: [0, 0, 0] });
    expect(await chain.ask(question)).toBe(false);
    expect((await failure(store.check(chain.chainId, { ...question, from: 'nobody' } as never))).code).toBe(
      'bad-question',
    );
    await store.close();
  });
}

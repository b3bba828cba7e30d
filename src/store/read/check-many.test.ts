// Many questions at once, with commits exactly between their statements, on both engines.

import { describe, expect, test } from 'bun:test';
import { asksAll, newChain } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { block, ended, granted } from '../../../test/support/fixtures.ts';
import type { Awaitable, Engine, Row } from '../engine.ts';
import { createIndexHash, readIdentity } from '../index-hash.ts';
import { openEngine, openStore } from '../open.ts';
import { checkManyStatement, createCheckMany } from './check-many.ts';

for (const { name, fresh } of ENGINES) {
  describe(`on ${name}`, () => {
    test('a block that came and went while the answers were read changes none of them', async () => {
      const url = await fresh();
      const store = await openStore(url);
      const chain = await newChain(store);
      await chain.add([block(100), block(101, [granted('ALL')])]);
      const engine = await openEngine(url, {});
      let commits = 0;
      /** Its end is in the store while the answers are read, and is taken back before they are proven. */
      const interrupt = async (read: () => Awaitable<Row[]>): Promise<Row[]> => {
        if (commits++ > 0) return read();
        await chain.add([block(102, [ended('ALL')])]);
        const rows = await read();
        await chain.add([], { rollbackTo: 101, head: block(101) });
        return rows;
      };
      const isLookup = (sql: string) => sql === checkManyStatement(engine.dialect.name, true);
      const interrupted: Engine = Object.create(engine, {
        rows: {
          value: (...args: Parameters<Engine['rows']>) =>
            isLookup(args[0]) ? interrupt(() => engine.rows(...args)) : engine.rows(...args),
        },
        readMany: {
          value:
            engine.readMany && ((...args: [string, [], []]) => interrupt(async () => engine.readMany?.(...args) ?? [])),
        },
      });
      const checkMany = createCheckMany(interrupted, createIndexHash((await readIdentity(engine)).secret));
      const at = { block: 101, revision: chain.state.revision };
      expect(await checkMany(chain.chainId, [asksAll], at)).toEqual([true]);
      expect(commits).toBe(2);
      await engine.close();
      await store.close();
    });
  });
}

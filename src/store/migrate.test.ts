// Stores of the first schema, opened by this program: what they said stays true.

import { describe, expect, test } from 'bun:test';
import { FIRST, newChain } from '../../test/support/chain.ts';
import { ENGINES } from '../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT, settlement } from '../../test/support/fixtures.ts';
import { runSql } from '../../test/support/run-sql.ts';
import { answer, type Question } from '../registry/check.ts';
import type { Engine, Param } from './engine.ts';
import { StoreError } from './errors.ts';
import { openEngine, openStore } from './open.ts';
import { pack } from './rows/packed.ts';
import { migrate } from './schema.ts';
import type { Store } from './store.ts';

async function ofFirstSchema(url: string): Promise<Engine> {
  const engine = await openEngine(url, {});
  await migrate(engine, undefined, 1);
  return engine;
}

/** Copies what the first schema has of a table. */
async function copy(from: Engine, to: Engine, table: string, columns: string): Promise<void> {
  const rows = await from.rows(`SELECT ${columns} FROM ${table}`, []);
  const places = columns.split(',').map((_, position) => `$${position + 1}`);
  await to.transaction(async (tx) => {
    await tx.run(`DELETE FROM ${table}`, []);
    for (const row of rows) {
      const cells = row.map((cell): Param => (typeof cell === 'bigint' ? Number(cell) : (cell ?? null)));
      await tx.run(`INSERT INTO ${table} (${columns}) VALUES (${places})`, cells);
    }
  });
}

const FIRST_COLUMNS = {
  chain:
    'chain, epoch, first_block, head_number, head_hash, head_timestamp, verified, confirmed_at, tip, partial, revision, commits',
  block: 'chain, number, hash, timestamp',
  log: 'chain, block, log_index, version, kind, from_addr, to_addr, contract, token_id, rights, amount, transaction_hash, revoked',
  span: 'chain, since_block, since_log, cold, hot, key, version, kind, from_addr, to_addr, contract, token_id, rights, amount, until_block',
  v1_read: 'chain, vault, block, cold, read_block',
  identity: 'id, secret',
};

/** Everything that ended in the block of a settled revocation, key by key. */
const FILL_ENDED = `INSERT INTO v1_ended (chain, block, kind, from_addr, to_addr, contract, token_id, read_block)
  SELECT s.chain, s.until_block, s.kind, s.from_addr, s.to_addr, s.contract, s.token_id, r.read_block
  FROM span s JOIN v1_read r ON r.chain = s.chain AND r.vault = s.from_addr AND r.block = s.until_block WHERE s.version = 1`;

for (const engine of ENGINES) {
  describe(`a store of the first schema on ${engine.name}`, () => {
    test('the places of delegations, and the logs that ended them, are derived from their logs', async () => {
      const [newUrl, url] = [await engine.fresh(), await engine.fresh()];
      const made = await openStore(newUrl);
      const chain = await newChain(made);
      const token = (tokenId: bigint) => granted('ERC721', { tokenId });
      await chain.add([
        block(101, [token(1n), ended('ERC721', { tokenId: 1n }), token(2n), token(3n)]),
        block(103, [ended('ERC721', { tokenId: 2n })]),
        block(105, [token(2n), token(1n), granted('ALL', { from: HOT, to: COLD })]),
      ]);
      const { chainId } = chain;
      const at = { block: 105, revision: chain.state.revision };
      const grantsIn = (one: Store) => one.history({ chainId, wallet: COLD, at, limit: 10 });
      const filters = [{}, { from: COLD }, { to: COLD }, { wallet: COLD }, { contract: CONTRACT }];
      const changesIn = async (one: Store) => {
        const read = (filter: object) => one.changes({ chainId, after: null, isFinal: false, filter, limit: 10 });
        return (await Promise.all(filters.map(read))).map((page) => page.changes);
      };
      const [grants, changes] = [await grantsIn(made), await changesIn(made)];
      expect([grants.entries.length, ...changes.map(({ length }) => length)]).toEqual([5, 6, 5, 1, 6, 5]);
      const [source, old] = [await openEngine(newUrl, {}), await ofFirstSchema(url)];
      for (const [table, columns] of Object.entries(FIRST_COLUMNS)) await copy(source, old, table, columns);
      for (const one of [source, old, made]) await one.close();
      const store = await openStore(url);
      // A cached list in the old order is outdated.
      expect((await store.chain(chainId))?.revision).toBe(at.revision + 1);
      const { delegations } = await store.list({ chainId, version: 2, wallet: COLD, at, limit: 10 });
      expect(delegations.map(({ tokenId }) => tokenId)).toEqual([null, 1n, 2n, 3n]);
      expect([await grantsIn(store), await changesIn(store)]).toEqual([grants, changes]);
      const packed = await store.listPacked({ chainId, version: 2, wallet: COLD, at, limit: 10 });
      expect(packed.delegations).toEqual(
        delegations.map((one) => {
          const side = one.to === COLD ? 'incoming' : 'outgoing';
          return { side, bytes: pack(one, side) };
        }),
      );
      await store.close();
    });

    test('what the state had shown to be revoked, key by key, gives the same answers by pair, also when it is derived again', async () => {
      const [newUrl, url] = [await engine.fresh(), await engine.fresh()];
      const other = address(0x07e4);
      const made = await openStore(newUrl);
      const chain = await newChain(made);
      const v1 = { version: 1 } as const;
      const revoked = { type: 'unknownRevoked', from: COLD } as const;
      await chain.add([
        block(101, [granted('ALL', v1), granted('TOKEN'), granted('ALL', { ...v1, to: other })]),
        block(103, [revoked]),
        block(105, [granted('ALL', v1)]),
        // The first revokes HOT, which is granted something else then; the second revokes nobody.
        block(107, [revoked, granted('CONTRACT', v1), revoked]),
        block(109, [revoked]),
        block(112),
      ]);
      await chain.settle(
        settlement(103, { [HOT]: true }),
        settlement(107, { [HOT]: true }),
        settlement(109, { [other]: true }, { readAt: 112 }),
      );
      const { chainId } = chain;
      const pair = { version: 1, from: COLD, to: HOT } as const;
      const questions: Question[] = [
        { ...pair, scope: 'all' },
        { ...pair, scope: 'contract', contract: CONTRACT },
        { ...pair, scope: 'token', contract: CONTRACT, tokenId: 7n },
        { ...pair, scope: 'all', to: other },
      ];
      const answers = async (store: Store) => {
        const found: unknown[] = [];
        for (const question of questions) {
          for (let at = FIRST; at <= 112; at++) {
            const result = await store.check(chainId, question, at).catch((error: StoreError) => error);
            found.push(result instanceof StoreError ? result.code : answer(question, result.granting));
          }
        }
        return found;
      };
      const told = await answers(made);
      expect(new Set(told)).toEqual(new Set([true, false, 'revocation-unread']));

      const [source, old] = [await openEngine(newUrl, {}), await ofFirstSchema(url)];
      for (const [table, columns] of Object.entries(FIRST_COLUMNS)) await copy(source, old, table, columns);
      await old.transaction(async (tx) => tx.run(FILL_ENDED, []));
      expect(await old.rows('SELECT block FROM v1_ended', [])).toHaveLength(4);
      for (const one of [source, old, made]) await one.close();

      const store = await openStore(url);
      expect(await answers(store)).toEqual(told);
      await store.rebuild(chainId);
      expect(await answers(store)).toEqual(told);
      await store.close();
      expect(await runSql(url, 'SELECT block FROM v1_pair WHERE ended_by IS NULL')).toEqual([]);
    });
  });
}

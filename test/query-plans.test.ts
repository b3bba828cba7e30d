// Tests that PostgreSQL reads spans by the same indexes that SQLite is given by name, whatever its statistics: none, as in a new
// store, or those of a table with a single wallet.

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { grantingKeys } from '../src/registry/check.ts';
import type { Dialect } from '../src/store/engine.ts';
import { openStore } from '../src/store/open.ts';
import { SETTINGS } from '../src/store/postgres.ts';
import { changesStatement } from '../src/store/read/changes.ts';
import { checkStatement } from '../src/store/read/check.ts';
import { GATHERED } from '../src/store/read/check-gathered.ts';
import { checkManyStatement } from '../src/store/read/check-many.ts';
import { counterpartStatement } from '../src/store/read/counterparts.ts';
import { exclusiveOwnersStatement } from '../src/store/read/exclusive-owners.ts';
import { grantPlacesStatement } from '../src/store/read/grant-counts.ts';
import { DETAILED, JOINED, PLAIN } from '../src/store/read/held-columns.ts';
import { historyStatement } from '../src/store/read/history.ts';
import { decodedRows, listStatement } from '../src/store/read/list.ts';
import { listNowStatement } from '../src/store/read/list-now.ts';
import {
  exclusiveGrantsStatement,
  ownerGrantsStatement,
  ownerUnsettledStatement,
} from '../src/store/read/owner-grants.ts';
import { heldStatement } from '../src/store/read/revocations.ts';
import type { HeldDelegation } from '../src/store/store.ts';
import { END_OPEN_PAIR, END_OPEN_WALLET, FIND_OPEN_PAIR, FIND_OPEN_WALLET } from '../src/store/write/bulk-spans.ts';
import { endPairStatements } from '../src/store/write/end-pair.ts';
import { rollBackStatements } from '../src/store/write/rollback.ts';
import { LOAD_OPEN, LOAD_PLACE } from '../src/store/write/span-rows.ts';
import { asksErc20, asksV1, newChain, VOTE } from './support/chain.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, CONTRACT, ended, granted, HOT } from './support/fixtures.ts';
import { postgresDatabase } from './support/postgres-database.ts';

const FILTERS = [
  [],
  ['from'],
  ['to'],
  ['wallet'],
  ['contract'],
  ['from', 'to', 'wallet', 'contract'],
  ['to', 'contract'],
  ['wallet', 'contract'],
] as const;
/** A scan of all rows of a chain, or one that is sorted before its limit. */
const WHOLE_CHAIN =
  /(Sort Key: .*\n\s*(?:Presorted Key: .*\n\s*)?-> {2}Index|on (?:span|log|block) .*\n\s*Index Cond: \(*(?:chain >= 0\) AND \()?chain = \$1\)*$).*/gm;
const KEYS = {
  v1: grantingKeys(asksV1),
  v2: grantingKeys(asksErc20),
  any: grantingKeys({
    version: 'any',
    scope: 'erc721',
    from: COLD,
    to: HOT,
    contract: CONTRACT,
    tokenId: 7n,
    rights: VOTE,
  }),
};

/** Every statement that reads spans, as one engine is sent it. */
function statementsOf(dialect: Dialect['name']): Record<string, string> {
  const check = (held: typeof PLAIN | typeof DETAILED, keys: keyof typeof KEYS, isNow: boolean) =>
    checkStatement<HeldDelegation>(dialect, held, KEYS[keys], isNow).sql;
  const plain = listStatement(dialect, decodedRows(PLAIN));
  const detailed = listStatement(dialect, decodedRows(JOINED));
  const { endBefore, deleteEmpty, deleteAfter } = endPairStatements(dialect);
  const bulk = { LOAD_OPEN, LOAD_PLACE, FIND_OPEN_PAIR, FIND_OPEN_WALLET, END_OPEN_PAIR, END_OPEN_WALLET };
  return {
    ...Object.fromEntries(Object.entries(bulk).map(([name, statement]) => [name, statement[dialect]])),
    ...Object.fromEntries(
      (['vaults', 'delegates'] as const).flatMap((side) =>
        [true, false].map((isHead) => [
          `${side} ${isHead ? 'at the head' : 'as of a block'}`,
          counterpartStatement(dialect, side, KEYS.any, isHead).sql,
        ]),
      ),
    ),
    ...Object.fromEntries(
      (
        [
          [1, undefined, undefined],
          [2, undefined, 'incoming'],
          [2, undefined, 'outgoing'],
          [2, 'incoming', 'incoming'],
        ] as const
      ).map(([version, direction, after]) => [
        `a packed list of v${version}, ${direction}, after ${after}`,
        listNowStatement(dialect, version, direction, after).sql,
      ]),
    ),
    'many checks': checkManyStatement(dialect, true),
    'many checks as of a block': checkManyStatement(dialect, false),
    'a check of v1': check(PLAIN, 'v1', true),
    'a check of v2': check(DETAILED, 'v2', true),
    'a check as of a block': check(PLAIN, 'v2', false),
    'a check of both versions': check(PLAIN, 'any', true),
    'a check of both versions as of a block': check(PLAIN, 'any', false),
    'the grants of a v1 pair': heldStatement(dialect),
    ...Object.fromEntries(
      [...endBefore, deleteEmpty, ...deleteAfter].map((sql, nth) => [`the end of a pair ${nth}`, sql]),
    ),
    ...Object.fromEntries(
      (['outgoing', 'incoming'] as const).map((side) => [
        `the list of places of what is ${side}`,
        grantPlacesStatement(dialect, side),
      ]),
    ),
    'a rollback': rollBackStatements(dialect)[1] as string,
    'a list': plain(1, false).sql,
    'a list of v2': plain(2, false).sql,
    'a page of a list': plain(2, false, undefined, 'incoming').sql,
    'a page of a list after the incoming ones': plain(2, false, undefined, 'outgoing').sql,
    'an incoming list': detailed(2, false, 'incoming').sql,
    'an outgoing list': plain(2, false, 'outgoing').sql,
    'a list at the head': plain(1, true).sql,
    'a page of a list at the head': plain(2, true, undefined, 'incoming').sql,
    'an outgoing list at the head': detailed(2, true, 'outgoing').sql,
    ...Object.fromEntries(
      FILTERS.flatMap((filters) => [
        [`the list of changes by ${filters}`, changesStatement(dialect, false, ...filters).sqlWithState],
        [`the list of final changes by ${filters}`, changesStatement(dialect, true, ...filters).sqlWithState],
      ]),
    ),
    'the list of exclusive grants at the head': exclusiveGrantsStatement(dialect, true),
    'the list of exclusive grants as of a block': exclusiveGrantsStatement(dialect, false),
    'the list of the last grants at the head': ownerGrantsStatement(dialect, true),
    'the list of the last grants as of a block': ownerGrantsStatement(dialect, false),
    'the revocations of an owner': ownerUnsettledStatement(dialect),
    'exclusive owners of a wallet': exclusiveOwnersStatement(dialect, 2),
    'exclusive owners of a token': exclusiveOwnersStatement(dialect, 6),
    'the list of a history': historyStatement(dialect, undefined),
    'the list of an incoming history': historyStatement(dialect, 'incoming'),
    'the list of an outgoing history': historyStatement(dialect, 'outgoing'),
  };
}
const STATEMENTS = statementsOf('sqlite');
const isOfChanges = (name: string) => / (final )?changes by /.test(name);

const namesIn = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort();

test('no statement of a read is left out', async () => {
  const here = await Bun.file(import.meta.path).text();
  const reads = await Array.fromAsync(new Glob('*.ts').scan(join(import.meta.dir, '../src/store/read')), (name) =>
    Bun.file(join(import.meta.dir, '../src/store/read', name)).text(),
  );
  const names = reads.flatMap((text) => [...text.matchAll(/^export (?:const|function) (\w+Statement)\b/gm)]);
  const missing = names.flatMap(([, name = '']) => (new RegExp(`\\b${name}[(<]`).test(here) ? [] : [name]));
  // It makes a statement of what a read adds to it: GATHERED.
  expect(missing).toEqual(['stateStatement']);
});

test('SQLite reads lists in the order of their indexes, and sorts nothing', async () => {
  const path = temporaryPath('plans.db');
  await (await openStore(`sqlite:${path}`)).close();
  const database = new Database(path, { readonly: true });
  for (const [name, sqlite] of Object.entries(STATEMENTS).filter(([name]) => name.includes('list'))) {
    const plan = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sqlite.replaceAll('$', '?')}`).all();
    const sorts = plan.filter(({ detail }) => detail.includes('TEMP B-TREE'));
    expect([name, sorts]).toEqual([name, []]);
    if (!isOfChanges(name) || name.endsWith('by ')) continue;
    // Each begins at the position, among the spans of one wallet or contract.
    const scans = plan.flatMap(({ detail }) => (/^(SCAN|SEARCH) s /.test(detail) ? [detail] : []));
    expect(scans.length).toBe(name.includes('by wallet') ? 4 : 2);
    for (const detail of scans)
      expect(detail).toMatch(/\((cold|hot|contract)=\?( AND chain=\?)? AND \((since|until)_block,.*\)>\(/);
  }
  database.close();
});

test('every statement uses its intended indexes', async () => {
  const url = await postgresDatabase();
  const store = await openStore(url);
  const connection = new Bun.SQL(url, { max: 1, connection: SETTINGS });
  let prepared = 0;
  const planOf = async (sql: string) => {
    const name = `plan_${++prepared}`;
    const params = Math.max(...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    await connection.unsafe(`PREPARE ${name} AS ${sql}`);
    const lines = await connection.unsafe(`EXPLAIN EXECUTE ${name} (${Array(params).fill('NULL').join()})`);
    const plan = lines.map((line: Record<string, string>) => line['QUERY PLAN']).join('\n');
    return plan;
  };
  const compare = async (when: string) => {
    for (const [name, postgres] of Object.entries(statementsOf('postgres'))) {
      const plan = await planOf(postgres);
      const sqlite = STATEMENTS[name] as string;
      const named = namesIn(sqlite, /INDEXED BY (span_\w+)/g);
      // SQLite's primary key has no name.
      const expected = isOfChanges(name) ? ['span_pkey', ...named].sort() : named;
      expect([when, name, namesIn(plan, /using (span_\w+)/g)]).toEqual([when, name, expected]);
      if (!isOfChanges(name) && !name.endsWith('history')) continue;
      expect([when, name, ...plan.matchAll(WHOLE_CHAIN)].map(String)).toEqual([when, name]);
    }
  };
  // A plan may be kept while the table grows, so each of the gathered questions must be looked up from the start.
  await connection.unsafe(`PREPARE gathered AS ${GATHERED.sql}`);
  const plan = await connection.unsafe('EXPLAIN EXECUTE gathered (NULL, NULL, NULL, NULL, NULL, NULL)');
  expect(JSON.stringify(plan)).toContain('((hot = q.hot) AND (key = q.key) AND (from_addr = q.from_addr))');
  await compare('of an empty table');
  const chain = await newChain(store);
  const grants = (from: number) =>
    Array.from({ length: 1000 }, (_, id) => granted('TOKEN', { tokenId: BigInt(from + id) }));
  await chain.add([block(101, grants(0)), block(102, grants(1000))]);
  await compare('of a table that was not analyzed');
  await connection.unsafe('ANALYZE span');
  await compare('of a table with one pair');
  const ends = Array.from({ length: 1500 }, (_, id) => ended('TOKEN', { tokenId: BigInt(id) }));
  await chain.add([block(103, ends)]);
  await connection.unsafe('ANALYZE span');
  await compare('of a table where most of one pair has ended');
  await connection.close();
  await store.close();
});

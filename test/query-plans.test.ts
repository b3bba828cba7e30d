// Tests that PostgreSQL reads spans by the same indexes that SQLite is given by name, whatever its statistics: none, as in a new
// store, or those of a table with a single wallet.

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { openStore } from '../src/store/open.ts';
import { postgresSql, SETTINGS } from '../src/store/postgres.ts';
import { changesStatement } from '../src/store/read/changes.ts';
import { checkAtStatement } from '../src/store/read/check-at.ts';
import { checkBatchStatement } from '../src/store/read/check-batch.ts';
import { checkManyStatement } from '../src/store/read/check-many-statement.ts';
import { checkNowStatement } from '../src/store/read/check-now.ts';
import { counterpartStatement } from '../src/store/read/counterparts.ts';
import { HELD } from '../src/store/read/held.ts';
import { DETAILED, PLAIN } from '../src/store/read/held-columns.ts';
import { historyStatement } from '../src/store/read/history.ts';
import { listStatement } from '../src/store/read/list.ts';
import { listNowStatement } from '../src/store/read/list-now.ts';
import { decodedRows } from '../src/store/read/list-rows.ts';
import { END_OPEN_PAIR, END_OPEN_WALLET, FIND_OPEN_PAIR, FIND_OPEN_WALLET } from '../src/store/write/end-open-spans.ts';
import { DELETE_AFTER, DELETE_EMPTY, END_BEFORE } from '../src/store/write/end-pair.ts';
import { ROLL_BACK } from '../src/store/write/rollback.ts';
import { LOAD_OPEN, LOAD_PLACE } from '../src/store/write/span-rows.ts';
import { newChain } from './support/chain.ts';
import { temporaryPath } from './support/engines.ts';
import { block, ended, granted } from './support/fixtures.ts';
import { postgresDatabase } from './support/postgres-database.ts';

const bulk = { LOAD_OPEN, LOAD_PLACE, FIND_OPEN_PAIR, FIND_OPEN_WALLET, END_OPEN_PAIR, END_OPEN_WALLET };
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
const CHANGES = Object.fromEntries(
  FILTERS.flatMap((filters) => [
    [`the list of changes by ${filters}`, changesStatement(false, ...filters)],
    [`the list of final changes by ${filters}`, changesStatement(true, ...filters)],
  ]),
);
const HISTORIES = {
  'the list of a history': historyStatement(undefined),
  'the list of an incoming history': historyStatement('incoming'),
  'the list of an outgoing history': historyStatement('outgoing'),
};
/** A scan of all rows of a chain, or one that is sorted before its limit. */
const WHOLE_CHAIN =
  /(Sort Key: .*\n\s*(?:Presorted Key: .*\n\s*)?-> {2}Index|on (?:span|log|block) .*\n\s*Index Cond: \(*(?:chain >= 0\) AND \()?chain = \$1\)*$).*/gm;
const common = {
  'a check of v1': checkNowStatement(PLAIN)(0, 2).sql,
  'a check of v2': checkNowStatement(DETAILED)(2, 0).sql,
  'a check as of a block': checkAtStatement(PLAIN)(2, 0).sql,
  'a check of both versions': checkNowStatement(PLAIN)(4, 2).sql,
  'a check of both versions as of a block': checkAtStatement(PLAIN)(4, 2).sql,
  'a batch of checks': checkBatchStatement(PLAIN).sql,
  'the grants of a v1 pair': HELD,
  ...Object.fromEntries(
    [...END_BEFORE, DELETE_EMPTY, ...DELETE_AFTER].map((sql, at) => [`the end of a pair ${at}`, sql]),
  ),
  'a rollback': ROLL_BACK[1] as string,
  'a list': listStatement(decodedRows(PLAIN))(1, false).sql,
  'a list of v2': listStatement(decodedRows(PLAIN))(2, false).sql,
  'a page of a list': listStatement(decodedRows(PLAIN))(2, false, undefined, 'incoming').sql,
  'a page of a list after the incoming ones': listStatement(decodedRows(PLAIN))(2, false, undefined, 'outgoing').sql,
  'an incoming list': listStatement(decodedRows(DETAILED))(2, false, 'incoming').sql,
  'an outgoing list': listStatement(decodedRows(PLAIN))(2, false, 'outgoing').sql,
  'a list at the head': listStatement(decodedRows(PLAIN))(1, true).sql,
  'a page of a list at the head': listStatement(decodedRows(PLAIN))(2, true, undefined, 'incoming').sql,
  'an outgoing list at the head': listStatement(decodedRows(DETAILED))(2, true, 'outgoing').sql,
  ...CHANGES,
  ...HISTORIES,
};
const counterparts = Object.fromEntries(
  (['vaults', 'delegates'] as const).flatMap((side) =>
    [true, false].map((isHead) => {
      const sqlOf = (dialect: 'sqlite' | 'postgres') => counterpartStatement(dialect, side, 6, 3, isHead).sql;
      const statement = { sqlite: sqlOf('sqlite'), postgres: postgresSql(sqlOf('postgres')) };
      return [`${side} ${isHead ? 'at the head' : 'as of a block'}`, statement];
    }),
  ),
);
const listsNow = Object.fromEntries(
  (
    [
      [1, undefined, undefined],
      [2, undefined, 'incoming'],
      [2, undefined, 'outgoing'],
      [2, 'incoming', 'incoming'],
    ] as const
  ).map(([version, direction, after]) => {
    const sqlOf = (dialect: 'sqlite' | 'postgres') => listNowStatement(dialect, version, direction, after).sql;
    const statement = { sqlite: sqlOf('sqlite'), postgres: postgresSql(sqlOf('postgres')) };
    return [`a packed list of v${version}, ${direction}, after ${after}`, statement];
  }),
);
const STATEMENTS: Record<string, { sqlite: string; postgres: string }> = {
  ...bulk,
  ...counterparts,
  ...listsNow,
  'many checks': checkManyStatement(2, false),
  ...Object.fromEntries(
    Object.entries(common).map(([name, sql]) => [name, { sqlite: sql, postgres: postgresSql(sql) }]),
  ),
};

const namesIn = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort();

test('SQLite reads lists in the order of their indexes, and sorts nothing', async () => {
  const path = temporaryPath('plans.db');
  await (await openStore(`sqlite:${path}`)).close();
  const database = new Database(path, { readonly: true });
  for (const [name, { sqlite }] of Object.entries(STATEMENTS).filter(([name]) => name.includes('list'))) {
    const plan = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sqlite.replaceAll('$', '?')}`).all();
    // A log begins one span, whose own position is the last part of the order.
    const sorts = plan.filter(({ detail }) => /TEMP B-TREE(?! FOR LAST 2 TERMS)/.test(detail));
    expect([name, sorts]).toEqual([name, []]);
    if (!(name in CHANGES) || name.endsWith('by ')) continue;
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
    for (const [name, { sqlite, postgres }] of Object.entries(STATEMENTS)) {
      const plan = await planOf(postgres);
      const named = namesIn(sqlite, /INDEXED BY (span_\w+)/g);
      // SQLite's primary key has no name.
      const expected = name in CHANGES ? ['span_pkey', ...named].sort() : named;
      expect([when, name, namesIn(plan, /using (span_\w+)/g)]).toEqual([when, name, expected]);
      if (!(name in CHANGES) && !(name in HISTORIES)) continue;
      expect([when, name, ...plan.matchAll(WHOLE_CHAIN)].map(String)).toEqual([when, name]);
    }
  };
  // A plan may be kept while the table grows, so a batch must look up each of its questions from the start.
  await connection.unsafe(`PREPARE batch AS ${postgresSql(checkBatchStatement(PLAIN).sql)}`);
  const plan = await connection.unsafe('EXPLAIN EXECUTE batch (NULL, NULL, NULL, NULL, NULL, NULL)');
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

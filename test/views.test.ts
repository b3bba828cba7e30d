// Data for other tools: the views on PostgreSQL have what the lists have, the exported rows are the same on both engines, and analysts can
// read nothing else.

import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { openAccounts } from '../src/accounts/accounts.ts';
import { exportRows } from '../src/cli/export-rows.ts';
import { dateOf } from '../src/cli/output.ts';
import { openStore } from '../src/store/open.ts';
import type { HistoryEntry, Store } from '../src/store/store.ts';
import { codeBlock } from './support/code-blocks.ts';
import { ENGINES, temporaryPath } from './support/engines.ts';
import { runSql } from './support/run-sql.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld } from './support/world.ts';

const SEEDS = [3, 4, 5];

/** Fills a store with the random history of a seed. */
async function filled(url: string, seed: number): Promise<Store> {
  const sharedStore = await openStore(url);
  const world = await createWorld({ seed, blocks: 220, sharedStore });
  await world.rest();
  await world.close();
  return sharedStore;
}

type Cells = Readonly<Record<string, unknown>>;

/** As the exported rows have it. */
function fromView(row: Cells): Cells {
  const date = (value: unknown) => (value === null ? null : dateOf(Number(value as Date) / 1000));
  const text = (value: unknown) => (value === null ? null : String(value));
  const number = (value: unknown) => (value === null ? null : Number(value));
  const { since_time, until_time, token_id, amount } = row;
  return {
    ...row,
    chain_id: number(row['chain_id']),
    token_id: text(token_id),
    amount: text(amount),
    since_block: number(row['since_block']),
    since_log: number(row['since_log']),
    until_block: number(row['until_block']),
    until_log: number(row['until_log']),
    since_time: date(since_time),
    until_time: date(until_time),
  };
}

const fromEntry = ({ since, until, ...grant }: HistoryEntry): Cells => ({
  registry: grant.version,
  type: grant.kind,
  from_address: grant.from,
  to_address: grant.to,
  contract: grant.contract,
  token_id: grant.tokenId === null ? null : String(grant.tokenId),
  amount: grant.amount === null ? null : String(grant.amount),
  rights: grant.rights,
  since_block: since.block,
  since_log: since.logIndex,
  since_time: dateOf(since.timestamp),
  since_transaction: since.transactionHash,
  until_block: until?.block ?? null,
  until_transaction: until?.transactionHash ?? null,
});

const ORDER = 'ORDER BY since_block, since_log';

async function listed(store: Store, only: 'current' | 'all'): Promise<Cells[]> {
  const { head, revision = 0 } = (await store.chain(1)) ?? {};
  const at = { block: head?.number ?? 0, revision };
  const found: Cells[] = [];
  for (const wallet of WALLETS) {
    const { entries, next } = await store.history({ chainId: 1, wallet, direction: 'outgoing', at, limit: 100_000 });
    expect(next).toBeNull();
    for (const entry of entries) if (only === 'all' || entry.until === null) found.push(fromEntry(entry));
  }
  return found.sort(
    (a, b) => Number(a['since_block']) - Number(b['since_block']) || Number(a['since_log']) - Number(b['since_log']),
  );
}

async function exported(store: Store, format: 'ndjson' | 'csv'): Promise<string> {
  const state = await store.chain(1);
  if (state === null) throw new Error('no chain');
  return (await Array.fromAsync(exportRows(store, state, format, () => {}))).join('');
}

for (const seed of SEEDS) {
  test(`the views have what the lists have, and the exported rows too: seed ${seed}`, async () => {
    const texts: string[] = [];
    for (const { name, fresh } of ENGINES) {
      const url = await fresh();
      const store = await filled(url, seed);
      const text = await exported(store, 'ndjson');
      texts.push(text);
      if (name === 'PostgreSQL') {
        const all = (await runSql(url, `SELECT * FROM delegations_history ${ORDER}`)).map(fromView);
        const columns = Object.keys((await listed(store, 'all'))[0] ?? {});
        const pick = (row: Cells) => Object.fromEntries(columns.map((column) => [column, row[column]]));
        expect(all.map(pick)).toEqual((await listed(store, 'all')).map(pick));
        const current = (await runSql(url, `SELECT * FROM delegations_current ${ORDER}`)).map(fromView);
        expect(current.map(pick)).toEqual((await listed(store, 'current')).map(pick));
        const query = codeBlock('docs/operating.md', 'FROM delegations_current').text;
        const grants = current.filter(({ type }: Cells) => type === 'ALL');
        const counted = await runSql(url, query);
        expect(counted.reduce((sum, { count }) => sum + Number(count), 0)).toBe(grants.length);
        expect(all.length).toBeGreaterThan(50);
        expect(all.length).toBeGreaterThan(current.length);
        // Final history: what was granted later is left out, and what ended later has not ended.
        const verified = (await store.chain(1))?.verified ?? -1;
        const asOf = all
          .filter((row) => Number((row as Cells)['since_block']) <= verified)
          .map((row: Cells) =>
            Number(row['until_block'] ?? 0) > verified
              ? { ...row, until_block: null, until_log: null, until_time: null, until_transaction: null }
              : row,
          );
        const rows = text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Cells);
        const settled = (row: Cells) => ({ ...row, is_settled: true });
        expect(rows.map(settled)).toEqual(asOf.map(settled));
      }
      await store.close();
    }
    // The same history, whatever keeps it.
    expect(new Set(texts).size).toBe(1);
  });
}

test('the analysts’ role reads the views, and no table, key or session, and writes nothing', async () => {
  const [, postgres] = ENGINES;
  if (postgres === undefined) return;
  const url = await postgres.fresh();
  const store = await filled(url, 3);
  await using accounts = await openAccounts(url);
  expect(accounts).toBeDefined();
  const role = `analyst_${crypto.randomUUID().slice(0, 8)}`;
  const script = readFileSync(new URL('../deploy/analysts.sql', import.meta.url), 'utf8')
    .replaceAll('delegations_analyst', role)
    .replace(':password', `'secret'`);
  await runSql(url, script);
  try {
    const as = new URL(url);
    [as.username, as.password] = [role, 'secret'];
    const ask = (statement: string) => runSql(as.href, statement);
    expect(await ask('SELECT count(*) FROM delegations_current')).not.toEqual([]);
    expect(await ask('SELECT count(*) FROM delegations_history')).not.toEqual([]);
    const tables = await runSql(url, `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`);
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) await expect(ask(`SELECT * FROM "${name}"`)).rejects.toThrow('permission denied');
    for (const statement of [
      'DELETE FROM delegations_current',
      'CREATE TABLE mine (id int)',
      `INSERT INTO identity VALUES ('', '')`,
      'UPDATE chain SET head_number = 0',
    ])
      await expect(ask(`SET default_transaction_read_only = off; ${statement}`)).rejects.toThrow(
        /denied|cannot|not automatically/,
      );
  } finally {
    await store.close();
    await runSql(url, `DROP OWNED BY ${role}`);
    await runSql(url, `DROP ROLE ${role}`);
  }
});

test('exported rows go through DuckDB to Parquet and back', async () => {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const store = await filled(await (ENGINES[0] as (typeof ENGINES)[0]).fresh(), 3);
  const text = await exported(store, 'ndjson');
  const csv = await exported(store, 'csv');
  await store.close();
  const [ndjson, parquet, table] = ['rows.ndjson', 'rows.parquet', 'rows.csv'].map(temporaryPath) as [
    string,
    string,
    string,
  ];
  writeFileSync(ndjson, text);
  writeFileSync(table, csv);
  const database = await (await DuckDBInstance.create()).connect();
  const run = async (statement: string) => (await database.runAndReadAll(statement)).getRowObjectsJson();
  const recipe = codeBlock('docs/operating.md', 'FORMAT parquet').text;
  await run(recipe.replace('delegations.ndjson', ndjson).replace('delegations.parquet', parquet));
  const back = await run(`SELECT * REPLACE (strftime(since_time, '%Y-%m-%dT%H:%M:%SZ') AS since_time,
    strftime(until_time, '%Y-%m-%dT%H:%M:%SZ') AS until_time) FROM '${parquet}' ${ORDER}`);
  const plain = (row: Cells) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Cells);
  expect(back.map(plain)).toEqual(rows.map(plain));
  const [{ count } = {}] = await run(`SELECT count(*) AS count FROM read_csv('${table}', all_varchar = true)`);
  expect(Number(count)).toBe(rows.length);
});

// Fills a store straight into its tables: rows in the order of the chain without secondary indexes, then the indexes. The rows are
// those that `store.apply` would write, encoded by the store's own code.

import { Database, type Statement } from 'bun:sqlite';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { keepsPlace } from '../src/registry/versions.ts';
import type { Engine, Param, Row, WriteTransaction } from '../src/store/engine.ts';
import { createIndexHash, readIdentity } from '../src/store/index-hash.ts';
import { openEngine, openStore } from '../src/store/open.ts';
import { sqlitePath } from '../src/store/sqlite.ts';
import type { BlockRef, LogPosition } from '../src/store/store.ts';
import { insertBlocks, insertLogs } from '../src/store/write/insert.ts';
import { writeSpans } from '../src/store/write/span-rows.ts';
import { createSpanSet, type KnownSpans, type Span } from '../src/store/write/span-set.ts';
import { createMass, type Mass } from './delegations.ts';
import { count, progress } from './figures.ts';
import { CHAIN, FIRST_BLOCK, freshenChain } from './fill.ts';

const COMMIT_LOGS = 50_000;
/** For sorting the entries of an index. */
const SORT_MEMORY_MB = 1024;

interface DirectFill {
  readonly url: string;
  readonly mass: Mass;
  /** Checks and lists never read the logs. */
  readonly withLogs?: boolean;
  readonly commitLogs?: number;
}

export interface DirectlyFilled {
  /** Seconds for the rows, and for the indexes. */
  readonly rowSeconds: number;
  readonly indexSeconds: number;
}

/** Fills a new store whose head is new. */
export async function fillDirectly(url: string, delegations: number): Promise<{ mass: Mass; head: number }> {
  const mass = createMass(1);
  await createDirectFiller({ url, mass }).growTo(delegations);
  return { mass, head: await freshenChain(url) };
}

/** Only this filler may write to the chain. */
export function createDirectFiller({ url, mass, withLogs = true, commitLogs = COMMIT_LOGS }: DirectFill) {
  let known: KnownSpans = { open: [], places: new Map() };
  let head: BlockRef | null = null;

  async function writeRows(connection: BulkConnection, delegations: number): Promise<void> {
    const { hash } = connection;
    // PostgreSQL writes blocks while the next ones are generated.
    let written = Promise.resolve();
    while (mass.grants < delegations) {
      const blocks = mass.next(commitLogs);
      const spans = createSpanSet(known);
      for (const { number, logs } of blocks) for (const log of logs) spans.apply(number, log);
      const changes = spans.changes();
      known = keepNamed(known, changes.opened, mass);
      await written;
      written = connection.transaction(async (tx) => {
        await insertBlocks(tx, CHAIN, blocks);
        if (withLogs) await insertLogs(tx, CHAIN, blocks);
        await writeSpans({ tx, chainId: CHAIN, hash }, changes);
      });
      head = blocks.at(-1) ?? head;
      progress(`${count(mass.grants)} of ${count(delegations)} delegations`);
    }
    await written;
    progress('');
  }

  return {
    /** Grows the store to this many grants. Nothing else may have the store open. */
    async growTo(delegations: number): Promise<DirectlyFilled> {
      // Creates the tables first, and removes what was written above the last block of the rows.
      await commitHead(url, head);
      const connection = await connect(url);
      let [rowSeconds, indexSeconds] = [0, 0];
      try {
        const indexes = await connection.indexes();
        for (const { name } of indexes) await connection.run(`DROP INDEX ${name}`);
        const began = performance.now();
        await writeRows(connection, delegations);
        const between = performance.now();
        for (const { name, sql } of indexes) {
          progress(`index ${name}`);
          await connection.run(sql);
        }
        progress('');
        [rowSeconds, indexSeconds] = [(between - began) / 1000, (performance.now() - between) / 1000];
      } finally {
        await connection.close();
      }
      await commitHead(url, head);
      return { rowSeconds, indexSeconds };
    },
  };
}

/** Makes `head` the chain's head. Its rows are already written. */
async function commitHead(url: string, head: BlockRef | null): Promise<void> {
  const store = await openStore(url);
  try {
    const state = await store.claim(CHAIN, FIRST_BLOCK);
    if (head === null) return;
    const rollback = state.head !== null && state.head.number > head.number ? { rollbackTo: head.number } : {};
    const { number, hash, timestamp } = head;
    const batch = { blocks: [], head: { number, hash, timestamp }, ...rollback };
    await store.apply({ chainId: CHAIN, epoch: state.epoch, after: state.head, ...batch });
  } finally {
    await store.close();
  }
}

/** Keeps what later events can name: delegations that will be revoked, and everything of the wallet that is granting now. */
function keepNamed(before: KnownSpans, opened: readonly Span[], { owner, pending }: Mass): KnownSpans {
  const named = new Set(pending.map((delegation: Delegation) => delegationId(delegation)));
  const spans = [...before.open, ...opened];
  const isNamed = ({ delegation }: Span) => delegation.from === owner || named.has(delegationId(delegation));
  const open = spans.filter((span) => span.until === null && isNamed(span)).map((span) => ({ ...span, stored: true }));
  const places = new Map<string, LogPosition>();
  for (const { delegation, first } of spans)
    if (delegation.from === owner && keepsPlace(delegation.version)) places.set(delegationId(delegation), first);
  return { open, places: new Map([...before.places].filter(([id]) => id.includes(owner)).concat([...places])) };
}

interface BulkConnection {
  readonly hash: ReturnType<typeof createIndexHash>;
  /** The secondary indexes of the tables that are filled. */
  indexes(): Promise<{ readonly name: string; readonly sql: string }[]>;
  transaction(work: (tx: WriteTransaction) => Promise<void>): Promise<void>;
  run(sql: string): Promise<void>;
  close(): Promise<void>;
}

async function connect(url: string): Promise<BulkConnection> {
  const engine = await openEngine(url, {});
  const { secret } = await readIdentity(engine);
  const hash = createIndexHash(secret);
  const path = sqlitePath(url);
  if (path === null) return { hash, ...onPostgres(engine) };
  await engine.close();
  return { hash, ...onSqlite(path) };
}

/** Without a journal: a crash loses the file, which is then filled again. */
function onSqlite(path: string): Omit<BulkConnection, 'hash'> {
  const database = new Database(path);
  for (const pragma of [
    'journal_mode = OFF',
    'synchronous = OFF',
    'locking_mode = EXCLUSIVE',
    'temp_store = FILE',
    `cache_size = ${-1024 * SORT_MEMORY_MB}`,
  ])
    database.run(`PRAGMA ${pragma}`);
  const statements = new Map<string, Statement<unknown, Param[]>>();
  const prepared = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare<unknown, Param[]>(sql.replaceAll('$', '?'));
    statements.set(sql, statement);
    return statement;
  };
  const tx: WriteTransaction = {
    dialect: 'sqlite',
    rows: (sql, params) => prepared(sql).values(...params) as Row[],
    run: (sql, params) => void prepared(sql).run(...params),
    each({ sqlite }, rows) {
      const statement = prepared(sqlite);
      for (const row of rows) statement.run(...row);
      return [];
    },
  };
  return {
    indexes: async () =>
      (
        database
          .query(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('span', 'block')",
          )
          .values() as [string, string][]
      ).map(([name, sql]) => ({ name, sql })),
    async transaction(work) {
      database.run('BEGIN');
      await work(tx);
      database.run('COMMIT');
    },
    run: async (sql) => void database.run(sql),
    async close() {
      for (const statement of statements.values()) statement.finalize();
      database.run('PRAGMA locking_mode = NORMAL');
      database.run('PRAGMA journal_mode = WAL');
      database.close();
    },
  };
}

/** New rows come from a file, which the server reads much faster than parameters. It must run on this machine. */
function onPostgres(engine: Engine): Omit<BulkConnection, 'hash'> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-copy-'));
  // The server may run as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'rows');
  const copying = (tx: WriteTransaction): WriteTransaction => ({
    ...tx,
    async each(statement, rows) {
      const [, into] = /^INSERT INTO (\w+ \([^)]*\))/.exec(statement.postgres) ?? [];
      if (into === undefined) return tx.each(statement, rows);
      writeFileSync(file, rows.map((row) => row.map(copyText).join('\t')).join('\n'));
      await tx.run(`COPY ${into} FROM '${file}'`, []);
      return [];
    },
  });
  const inTransaction = (work: (tx: WriteTransaction) => Promise<void>) => engine.transaction(work, 'none');
  return {
    async indexes() {
      const rows = await engine.rows(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('span', 'block') AND indexname NOT LIKE '%_pkey'",
        [],
      );
      return rows.map(([name, sql]) => ({ name: String(name), sql: String(sql) }));
    },
    transaction: (work) => inTransaction((tx) => work(copying(tx))),
    run: (sql) =>
      inTransaction(async (tx) => {
        await tx.run(`SET LOCAL maintenance_work_mem = '${SORT_MEMORY_MB}MB'`, []);
        await tx.run(sql, []);
      }),
    async close() {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A cell in the text format of COPY. */
function copyText(cell: Param): string {
  if (cell === null) return '\\N';
  return cell instanceof Uint8Array ? `\\\\x${cell.toHex()}` : String(cell);
}

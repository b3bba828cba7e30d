import { afterAll, expect, test } from 'bun:test';
import { openEngine, openStore } from '../src/store/open.ts';
import { ENGINES, removeTemporaryFiles } from '../test/support/engines.ts';
import { createMass } from './delegations.ts';
import { CHAIN, FIRST_BLOCK, fill } from './fill.ts';
import { createDirectFiller } from './fill-directly.ts';

const COMMIT_LOGS = 4000;
/** Several commits each. */
const SIZES = [6000, 12_000];
const SECRET = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);

const ROWS = {
  block: 'SELECT chain, number, hash, timestamp, log_time FROM block ORDER BY chain, number',
  log: 'SELECT * FROM log ORDER BY chain, block, log_index',
  span: 'SELECT * FROM span ORDER BY chain, since_block, since_log',
  v1_read: 'SELECT * FROM v1_read ORDER BY chain, vault, block',
  v1_pair: 'SELECT * FROM v1_pair ORDER BY chain, vault, block, delegate',
  head: 'SELECT head_number, head_hash, head_timestamp FROM chain',
};

afterAll(removeTemporaryFiles);

/** An empty store whose index hashes are those of every other store made here. */
async function freshStore(fresh: () => Promise<string>): Promise<string> {
  const url = await fresh();
  await (await openStore(url)).close();
  await inEngine(url, (engine) =>
    engine.transaction(async (tx) => tx.run('UPDATE identity SET secret = $1', [SECRET])),
  );
  return url;
}

async function inEngine<T>(url: string, work: (engine: Awaited<ReturnType<typeof openEngine>>) => Promise<T>) {
  const engine = await openEngine(url, {});
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** A digest of each table's rows, with their number, and the indexes. */
const contents = (url: string) =>
  inEngine(url, async (engine) => {
    const found: Record<string, unknown> = {};
    for (const [name, sql] of Object.entries(ROWS)) {
      const rows = await engine.rows(sql, []);
      const text = rows.map((row) =>
        row.map((cell) => (cell instanceof Uint8Array ? cell.toHex() : String(cell))).join(),
      );
      found[name] = { rows: rows.length, digest: Bun.hash(text.join('\n')).toString(16) };
    }
    const indexes =
      engine.dialect.name === 'sqlite'
        ? "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
        : "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname";
    return { ...found, indexes: await engine.rows(indexes, []) };
  });

for (const { name, fresh } of ENGINES) {
  test(`${name}: a store that is filled directly equals one that applied the same events`, async () => {
    const [applied, direct] = [await freshStore(fresh), await freshStore(fresh)];
    const filler = createDirectFiller({
      url: direct,
      mass: createMass(1),
      commitLogs: COMMIT_LOGS,
    });
    const mass = createMass(1);
    for (const size of SIZES) {
      const store = await openStore(applied);
      await fill(store, await store.claim(CHAIN, FIRST_BLOCK), mass, size, { commitLogs: COMMIT_LOGS });
      await store.close();
      await filler.growTo(size);
      expect(await contents(direct)).toEqual(await contents(applied));
    }
  });
}

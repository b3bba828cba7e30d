// Writes rows of the account tables directly, where creating them one by one would take too long.

import { openEngine } from '../../src/store/open.ts';

/** Inserts keys that nobody holds. Returns the first and the last id. */
export async function insertKeys(
  url: string,
  owner: string,
  count: number,
  { createdAt, revokedAt }: { createdAt: number; revokedAt: number | null },
): Promise<[first: number, last: number]> {
  const engine = await openEngine(url, {});
  try {
    const hash = engine.dialect.name === 'sqlite' ? 'randomblob(32)' : "sha256(convert_to(n || $1, 'UTF8'))";
    return await engine.transaction(async (tx) => {
      await tx.run(
        `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
          INSERT INTO api_key (hash, shown, label, owner, created_at, revoked_at)
          SELECT ${hash}, 'dk_12345', 'a site', $1, $3, $4 FROM numbers`,
        [owner, count, createdAt, revokedAt],
      );
      const [[first, last] = []] = await tx.rows('SELECT min(id), max(id) FROM api_key WHERE owner = $1', [owner]);
      return [Number(first), Number(last)];
    }, 'long');
  } finally {
    await engine.close();
  }
}

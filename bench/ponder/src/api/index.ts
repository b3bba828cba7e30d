import { db } from 'ponder:api';
import { delegation } from 'ponder:schema';
import { Hono } from 'hono';
import { and, eq, or, sql } from 'ponder';
import { type Hex, zeroHash } from 'viem';

const app = new Hono();

/** The registry's rule for a contract check without rights. */
const grants = (from: unknown, to: unknown, contract: unknown) =>
  and(
    eq(delegation.from, from as Hex),
    eq(delegation.to, to as Hex),
    eq(delegation.rights, zeroHash),
    or(eq(delegation.type, 'ALL'), and(eq(delegation.type, 'CONTRACT'), eq(delegation.contract, contract as Hex))),
  );

const asked = (query: (name: string) => string | undefined) => ({
  from: query('from')?.toLowerCase() as Hex,
  to: query('to')?.toLowerCase() as Hex,
  contract: query('contract')?.toLowerCase() as Hex,
});

app.get('/plain', async (c) => {
  const { from, to, contract } = asked((name) => c.req.query(name));
  const rows = await db
    .select({ type: delegation.type })
    .from(delegation)
    .where(grants(from, to, contract))
    .limit(1);
  return c.json(rows.length > 0);
});

const prepared = db
  .select({ type: delegation.type })
  .from(delegation)
  .where(grants(sql.placeholder('from'), sql.placeholder('to'), sql.placeholder('contract')))
  .limit(1)
  .prepare('check_contract');

app.get('/prepared', async (c) => {
  const rows = await prepared.execute(asked((name) => c.req.query(name)));
  return c.json(rows.length > 0);
});

app.get('/list/:wallet', async (c) => {
  const wallet = c.req.param('wallet').toLowerCase() as Hex;
  const rows = await db
    .select({
      type: delegation.type,
      from: delegation.from,
      to: delegation.to,
      contract: delegation.contract,
      tokenId: delegation.tokenId,
    })
    .from(delegation)
    .where(eq(delegation.from, wallet));
  return c.json(rows.map((row) => ({ ...row, tokenId: String(row.tokenId) })));
});

export default app;

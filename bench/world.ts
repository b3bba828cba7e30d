// Indexes the same events into every database: ours into SQLite and PostgreSQL, Ponder's into the same PostgreSQL server.

import { join } from 'node:path';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { eventAt, logsIn } from './history.ts';
import { createPonder, type Ponder } from './ponder.ts';
import { type Reading, readByOurs, readByPonder } from './reading.ts';
import { startNode } from './start-node.ts';
import { tidy } from './tidy.ts';

export interface PeerWorld {
  readonly postgres: PostgresServer;
  readonly ours: { readonly sqlite: string; readonly postgres: string };
  readonly ponder: Ponder;
  /** The database of the Ponder app, and its indexed schema. */
  readonly ponderUrl: string;
  readonly schema: string;
  readonly events: number;
  /** The measured backfills. */
  readonly readings: readonly Reading[];
  /** Delegations that are active after all events, by their id. */
  readonly held: ReadonlyMap<string, Delegation>;
  stop(): Promise<void>;
}

/** Production settings, except that commits do not wait for the disk. The same for both. */
const POSTGRES = { fsync: 'on', synchronous_commit: 'off', shared_buffers: '1GB', max_wal_size: '4GB' };
const SCHEMA = 'cold';

export async function createPeerWorld(blocks: number, folder: string): Promise<PeerWorld> {
  const held = replay(blocks);
  const events = Array.from({ length: blocks }, (_, turn) => logsIn(turn + 1)).reduce((sum, many) => sum + many, 0);
  const node = await startNode(blocks);
  const postgres = await startPostgres(POSTGRES);
  const stop = async () => {
    await node.stop();
    await postgres.stop();
  };
  try {
    const ours = { sqlite: `sqlite:${join(folder, 'peers.db')}`, postgres: await postgres.createDatabase() };
    const databaseUrl = await postgres.createDatabase();
    const databasePid = postgres.pid;
    const rpcUrl = node.url(1);
    const ponder = createPonder({ folder, databaseUrl, databasePid, rpcUrl });
    const asked = { rpcUrl, blocks, events };
    const readings = [
      await readByOurs({ ...asked, name: 'ours, SQLite', databaseUrl: ours.sqlite }),
      await readByOurs({ ...asked, name: 'ours, PostgreSQL', databaseUrl: ours.postgres, databasePid }),
      await readByPonder({ name: 'Ponder, cold', ponder, schema: SCHEMA, databaseUrl, databasePid, events }),
    ];
    await tidy(ours.postgres, databaseUrl);
    return { postgres, ours, ponder, ponderUrl: databaseUrl, schema: SCHEMA, events, readings, held, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Computes the active delegations from the events, independently of the servers under test. */
function replay(blocks: number): Map<string, Delegation> {
  const held = new Map<string, Delegation>();
  for (let number = 1; number <= blocks; number++) {
    for (let position = 0; position < logsIn(number); position++) {
      const { delegation, enabled } = eventAt(number, position);
      const id = delegationId(delegation);
      if (enabled) held.set(id, delegation);
      else held.delete(id);
    }
  }
  return held;
}

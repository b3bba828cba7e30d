// Indexes the same events into every database: ours into SQLite and PostgreSQL, Ponder's into the same PostgreSQL server.

import { join } from 'node:path';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type EngineName, POSTGRES, tidy } from './engines.ts';
import { eventAt, eventsUpTo, logsIn } from './history.ts';
import { createPonder, type Ponder } from './ponder.ts';
import { type Reading, readByOurs, readByPonder } from './reading.ts';
import { startNode } from './start-node.ts';

interface OurDatabase {
  readonly engine: EngineName;
  readonly databaseUrl: string;
  /** The process of the database, as a field of our servers; empty for SQLite. */
  readonly database: { readonly databasePid?: number };
}

export interface PeerWorld extends AsyncDisposable {
  readonly ours: readonly OurDatabase[];
  readonly ponder: Ponder;
  /** The schema that Ponder has indexed. */
  readonly schema: string;
  readonly events: number;
  /** The measured backfills. */
  readonly readings: readonly Reading[];
  /** Delegations that are active after all events, by their id. */
  readonly held: ReadonlyMap<string, Delegation>;
}

const SCHEMA = 'cold';

export async function createPeerWorld(blocks: number, folder: string): Promise<PeerWorld> {
  const events = eventsUpTo(blocks);
  await using started = new AsyncDisposableStack();
  const rpcUrl = started.use(await startNode(blocks)).url(1);
  // Ours and Ponder's have the same settings.
  const postgres = started.adopt(await startPostgres(POSTGRES), (server) => server.stop());
  const database = { databasePid: postgres.pid };
  const ours: OurDatabase[] = [
    { engine: 'SQLite', databaseUrl: `sqlite:${join(folder, 'peers.db')}`, database: {} },
    { engine: 'PostgreSQL', databaseUrl: await postgres.createDatabase(), database },
  ];
  const ponder = createPonder({ folder, databaseUrl: await postgres.createDatabase(), ...database, rpcUrl });
  const readings: Reading[] = [];
  for (const { engine, databaseUrl, database } of ours)
    readings.push(await readByOurs({ name: `ours, ${engine}`, rpcUrl, blocks, events, databaseUrl, ...database }));
  readings.push(await readByPonder(ponder, 'Ponder, cold', SCHEMA, events));
  await tidy(...ours.slice(1).map(({ databaseUrl }) => databaseUrl), ponder.databaseUrl);
  const held = replay(blocks);
  const kept = started.move();
  const stop = () => kept.disposeAsync();
  return { ours, ponder, schema: SCHEMA, events, readings, held, [Symbol.asyncDispose]: stop };
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

// Every read of the store. A check or a page of a list is one statement, so it sees one snapshot.

import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import type { Store } from '../store.ts';
import type { Writes } from '../write/writes.ts';
import { createChainReads } from './chains.ts';
import { createChanges } from './changes.ts';
import { createCheck, requireQuestion } from './check.ts';
import { createCheckGathered, gather, type HeadQuestion, type HeadResult } from './check-gathered.ts';
import { createCheckMany } from './check-many.ts';
import { createCounterparts } from './counterparts.ts';
import { createExclusiveOwners } from './exclusive-owners.ts';
import { createGrantCounts } from './grant-counts.ts';
import { DETAILED, JOINED, PLAIN } from './held-columns.ts';
import { createGrants, createHistory } from './history.ts';
import { createList, decodedRows, packedRows } from './list.ts';
import { createListNow } from './list-now.ts';
import { createOwnerGrants } from './owner-grants.ts';
import { createRevocationReads } from './revocations.ts';
import { createStateReader } from './state-reader.ts';

export type Reads = Omit<Store, keyof Writes | 'id' | 'notices' | 'pool' | 'close'>;

export function createReads(engine: Engine, hash: IndexHash): Reads {
  const { readMany } = engine;
  const dialect = engine.dialect.name;
  const states = createStateReader(engine);
  const check = createCheck(dialect, states, hash, PLAIN);
  // SQLite has no round trips to save.
  const checkGathered =
    readMany &&
    gather<HeadQuestion, HeadResult>(
      ({ chainId, question }) => check(chainId, question),
      createCheckGathered(readMany, states, hash),
    );
  return {
    ...createChainReads(engine, states),
    async check(chainId, question, block) {
      if (block !== undefined || checkGathered === null) return check(chainId, question, block);
      requireQuestion(question);
      return checkGathered({ chainId, question });
    },
    explain: createCheck(dialect, states, hash, DETAILED),
    checkMany: createCheckMany(engine, hash),
    list: createList(engine, hash, decodedRows(PLAIN)),
    listDetailed: createList(engine, hash, decodedRows(JOINED)),
    listPacked: createList(engine, hash, packedRows(dialect)),
    listNow: createListNow(dialect, states, hash),
    vaults: createCounterparts(engine, hash, 'vaults'),
    delegates: createCounterparts(engine, hash, 'delegates'),
    ownerGrants: createOwnerGrants(engine, hash),
    exclusiveOwners: createExclusiveOwners(engine, hash),
    changes: createChanges(dialect, states, hash),
    history: createHistory(engine, hash),
    grants: createGrants(engine),
    ...createGrantCounts(engine, hash),
    ...createRevocationReads(engine, hash),
  };
}

// Every read of the store. A check or a page of a list is one statement, so it sees one snapshot.

import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeNumber } from '../rows/cells.ts';
import type { Store } from '../store.ts';
import type { Writes } from '../write/writes.ts';
import { createBlockAt } from './block-at.ts';
import { createBlockReads } from './blocks.ts';
import { createChainReads } from './chains.ts';
import { createChanges } from './changes.ts';
import { createCheck } from './check.ts';
import { batchChecks, createCheckBatch } from './check-batch.ts';
import { createCheckMany } from './check-many.ts';
import { createCheckNow } from './check-now.ts';
import { createCounterparts } from './counterparts.ts';
import { createHeld, createIsOpen } from './held.ts';
import { DETAILED, PLAIN } from './held-columns.ts';
import { createHistory } from './history.ts';
import { createLags } from './lags.ts';
import { createList } from './list.ts';
import { createListNow } from './list-now.ts';
import { decodedRows, packedRows } from './list-rows.ts';
import { createLogs } from './logs.ts';
import { createPin } from './pin.ts';
import { createRegrants } from './regrants.ts';
import { createRevocationReads } from './revocations.ts';
import { createStateReader } from './state-reader.ts';
import { createV1Delegates } from './v1-delegates.ts';

export type Reads = Omit<Store, keyof Writes | 'id' | 'notices' | 'pool' | 'close'>;

export function createReads(engine: Engine, hash: IndexHash): Reads {
  const readWithState = createStateReader(engine);
  const checkNow = createCheckNow(readWithState, hash, PLAIN);
  const explainNow = createCheckNow(readWithState, hash, DETAILED);
  const checkInBatches = engine.readColumns && batchChecks(checkNow, createCheckBatch(engine.readColumns, hash, PLAIN));
  return {
    ...createChainReads(engine),
    lags: createLags(engine),
    pin: createPin(engine),
    check: createCheck(readWithState, hash, PLAIN, checkInBatches ?? checkNow),
    explain: createCheck(readWithState, hash, DETAILED, explainNow),
    checkMany: createCheckMany(engine, hash),
    list: createList(engine, hash, decodedRows(PLAIN)),
    listDetailed: createList(engine, hash, decodedRows(DETAILED)),
    listPacked: createList(engine, hash, packedRows(engine.dialect.name)),
    listNow: createListNow(readWithState, engine.dialect.name, hash),
    vaults: createCounterparts(engine, hash, 'vaults'),
    delegates: createCounterparts(engine, hash, 'delegates'),
    changes: createChanges(engine, hash),
    history: createHistory(engine, hash),
    blockAt: createBlockAt(readWithState),
    ...createBlockReads(engine),
    logs: createLogs(engine),
    ...createRevocationReads(engine),
    v1Delegates: createV1Delegates(engine, hash),
    held: createHeld(engine, hash),
    isOpen: createIsOpen(engine, hash),
    regrants: createRegrants(engine),
    async size() {
      const [[bytes] = []] = await engine.rows(engine.dialect.size, []);
      return decodeNumber(bytes);
    },
  };
}

// Every write of the store. Each is one transaction, and only the newest writer of a chain can commit.

import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import type { Store } from '../store.ts';
import { apply } from './apply.ts';
import { claim, type LockedWriter, lockChain } from './chain-writer.ts';
import { rebuild } from './derive.ts';
import { confirm } from './insert.ts';
import { repair } from './repair.ts';
import { createLeases, recordLag, report } from './report.ts';
import { settle, unsettle } from './settle.ts';
import { requireBlocks, requireClaim, requireCommit } from './validate-commit.ts';

type Write = 'claim' | 'apply' | 'report' | 'recordLag' | 'repair' | 'confirm' | 'settle' | 'unsettle' | 'rebuild';
export type Writes = Pick<Store, Write | 'lease' | 'release'>;

export function createWrites(engine: Engine, hash: IndexHash): Writes {
  const write = <T>(chainId: number, epoch: number, work: (writer: LockedWriter) => Promise<T>) =>
    engine.transaction(async (tx) => work(await lockChain({ tx, chainId, hash }, epoch)));
  return {
    claim: async (chainId, firstBlock, partial = false, network) => {
      requireClaim(chainId, firstBlock);
      return engine.transaction((tx) => claim(tx, { chainId, firstBlock, partial, network }));
    },
    apply: async (commit) => {
      requireCommit(commit);
      return write(commit.chainId, commit.epoch, (writer) => apply(writer, commit));
    },
    report: (chainId, epoch, changes) => write(chainId, epoch, (writer) => report(writer, changes)),
    recordLag: (epoch, sample) => write(sample.chainId, epoch, (writer) => recordLag(writer, sample)),
    repair: async ({ chainId, epoch, blocks }) => {
      requireBlocks(chainId, blocks);
      return write(chainId, epoch, (writer) => repair(writer, blocks));
    },
    confirm: (chainId, epoch, blocks) => write(chainId, epoch, (writer) => confirm(writer, blocks)),
    settle: (chainId, epoch, settlements, commits) =>
      write(chainId, epoch, (writer) => settle(writer, settlements, commits)),
    unsettle: (chainId, epoch, vault, from) => write(chainId, epoch, (writer) => unsettle(writer, vault, from)),
    rebuild: (chainId) => engine.transaction(async (tx) => rebuild(await lockChain({ tx, chainId, hash })), 'none'),
    ...createLeases(engine),
  };
}

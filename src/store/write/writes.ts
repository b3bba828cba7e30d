// Every write of the store. Each is one transaction, and only the newest writer of a chain can commit.

import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import type { Store } from '../store.ts';
import { apply } from './apply.ts';
import { type ChainWriter, claim } from './chain-writer.ts';
import { rebuild } from './derive.ts';
import { confirm } from './insert.ts';
import { repair } from './repair.ts';
import { createLeases, recordLag, report } from './report.ts';
import { settle, unsettle } from './settle.ts';
import { requireClaim, requireCommit, requireRepair } from './validate-commit.ts';

type Write = 'claim' | 'apply' | 'report' | 'recordLag' | 'repair' | 'confirm' | 'settle' | 'unsettle' | 'rebuild';
export type Writes = Pick<Store, Write | 'lease' | 'release'>;

export function createWrites(engine: Engine, hash: IndexHash): Writes {
  const write = <T>(chainId: number, work: (writer: ChainWriter) => Promise<T>, timeout?: 'none') =>
    engine.transaction((tx) => work({ tx, chainId, hash }), timeout);
  return {
    claim: async (chainId, firstBlock, partial = false) => {
      requireClaim(chainId, firstBlock);
      return write(chainId, (writer) => claim(writer, firstBlock, partial));
    },
    apply: async (commit) => {
      requireCommit(commit);
      return write(commit.chainId, (writer) => apply(writer, commit));
    },
    report: (chainId, epoch, changes) => write(chainId, (writer) => report(writer, epoch, changes)),
    recordLag: (epoch, sample) => write(sample.chainId, (writer) => recordLag(writer, epoch, sample)),
    repair: async (commit) => {
      requireRepair(commit);
      return write(commit.chainId, (writer) => repair(writer, commit));
    },
    confirm: (chainId, epoch, blocks) => write(chainId, (writer) => confirm(writer, epoch, blocks)),
    settle: (chainId, epoch, settlements, commits) =>
      write(chainId, (writer) => settle(writer, epoch, settlements, commits)),
    unsettle: (chainId, epoch, vault, from) => write(chainId, (writer) => unsettle(writer, epoch, vault, from)),
    rebuild: (chainId) => write(chainId, rebuild, 'none'),
    ...createLeases(engine),
  };
}

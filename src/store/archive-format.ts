// The format of an archive: lines of JSON with a head, a block per line, and an end with a checksum.

import type { RegistryEvent } from '../registry/event.ts';
import { NETWORKS } from '../registry/network.ts';
import type { BlockInput, BlockRef } from './store.ts';

/** The file is not an archive, or is incomplete. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export interface ArchiveHead {
  readonly format: 'delegations-index';
  readonly version: 2;
  readonly chainId: number;
  readonly firstBlock: number;
  readonly partial: boolean;
  readonly last: BlockRef;
}

export interface ArchiveEnd {
  readonly end: true;
  readonly blocks: number;
  readonly logs: number;
  /** Of every line before this one. */
  readonly sha256: string;
}

const replaceBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Bigints become decimal strings. */
export const encodeLine = (value: unknown): string => `${JSON.stringify(value, replaceBigint)}\n`;

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ArchiveError('The file is not an archive: a line is not JSON.');
  }
}

export function parseHead(value: unknown): ArchiveHead {
  const head = (value ?? {}) as ArchiveHead;
  if (head.format !== 'delegations-index')
    throw new ArchiveError('The file is not an archive: its first line has no format "delegations-index".');
  if (head.version !== 2)
    throw new ArchiveError(`The archive has version ${head.version}; this program reads version 2.`);
  if (!NETWORKS.has(head.chainId))
    throw new ArchiveError(`The archive is of chain ${head.chainId}, which is not a known network.`);
  if (!Number.isSafeInteger(head.firstBlock) || typeof head.last?.hash !== 'string')
    throw new ArchiveError('The first line of the archive lacks the first or last block.');
  return head;
}

const parseBigint = (text: unknown) => (text === null || text === undefined ? null : BigInt(text as string));

/** Restores the bigints of a parsed block. */
export function decodeArchivedBlock(block: BlockInput): BlockInput {
  const decodeKey = <K extends { tokenId: unknown }>(key: K) => ({ ...key, tokenId: parseBigint(key.tokenId) });
  const decodeEvent = (event: RegistryEvent): RegistryEvent => {
    if (event.type === 'granted') {
      const { delegation } = event;
      return { ...event, delegation: { ...decodeKey(delegation), amount: parseBigint(delegation.amount) } };
    }
    return event.type === 'ended' ? { ...event, delegation: decodeKey(event.delegation) } : event;
  };
  return { ...block, logs: block.logs.map((log) => ({ ...log, event: decodeEvent(log.event) })) };
}

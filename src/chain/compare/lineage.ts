// Which blocks the hashes of parents lead to from an anchor. What was read is kept: many blocks are looked for below one anchor, and the
// next anchor is a little above it.

import type { Bytes32 } from '../../registry/delegation.ts';
import { rootsOf } from '../prove/block.ts';
import type { BlockId, Node } from '../rpc/node.ts';

/** How far below its anchor a block is looked for. */
export const MAX_BETWEEN = 1000;
const CHUNK = 100;
/** Anchors that are kept: the audit and the proofs of old blocks each have one, and its predecessor. */
const MAX_ANCHORS = 4;

export const numbersFrom = (low: number, high: number): number[] =>
  Array.from({ length: high - low + 1 }, (_, position) => low + position);

interface Line {
  readonly anchor: BlockId;
  /** By number, without a gap from the anchor down to the lowest. */
  readonly hashes: Map<number, Bytes32>;
  lowest: number;
  /** Who reads the next headers, for all that wait. False if its headers do not hash to what is expected. */
  reading: { readonly node: Node; readonly done: Promise<boolean> } | null;
}

export function createLineage() {
  const lines = new Map<Bytes32, Line>();

  function lineOf(anchor: BlockId): Line {
    const { number, hash } = anchor;
    const line = lines.get(hash) ?? { anchor, hashes: new Map([[number, hash]]), lowest: number, reading: null };
    lines.delete(hash);
    lines.set(hash, line);
    for (const oldest of lines.keys().take(Math.max(0, lines.size - MAX_ANCHORS))) lines.delete(oldest);
    return line;
  }

  async function readChunk(node: Node, line: Line, number: number): Promise<boolean> {
    const headers = await node.headers(numbersFrom(Math.max(number + 1, line.lowest - CHUNK + 1), line.lowest));
    for (const header of headers.toReversed()) {
      if (header.hash !== line.hashes.get(line.lowest) || rootsOf(header) === null) return false;
      line.lowest--;
      line.hashes.set(line.lowest, header.parentHash);
    }
    for (const other of lines.values()) join(line, other);
    return true;
  }

  /** From a block that both have, the other one leads on. */
  function join(line: Line, other: Line): void {
    if (other.hashes.get(line.lowest) !== line.hashes.get(line.lowest)) return;
    const end = Math.max(other.lowest, line.anchor.number - MAX_BETWEEN);
    while (line.lowest > end) {
      line.lowest--;
      line.hashes.set(line.lowest, other.hashes.get(line.lowest) as Bytes32);
    }
  }

  return {
    /** The hash of the anchor's ancestor at a height, by headers of the node. Null if they do not lead there. */
    async ancestorAt(node: Node, anchor: BlockId, number: number): Promise<Bytes32 | null> {
      const line = lineOf(anchor);
      while (line.lowest > number) {
        const { reading } = line;
        if (reading !== null && reading.node !== node) {
          await reading.done.catch(() => {});
          continue;
        }
        line.reading ??= { node, done: readChunk(node, line, number).finally(() => (line.reading = null)) };
        if (!(await line.reading.done)) return null;
      }
      return line.hashes.get(number) ?? null;
    },
  };
}

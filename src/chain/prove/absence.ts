// Decides which blocks without registry logs are proven to have none. A bloom that excludes the registries proves it for free. Otherwise
// the receipts of the block do: always where the bloom is so empty that a match means something, and for a share of the rest.

import { keccakBytes } from '../../registry/keccak.ts';
import type { Network } from '../../registry/network.ts';
import { registryFilter } from '../rpc/registry-logs.ts';

/** A bloom that matches by chance more rarely than this is worth a call each time. */
const CLEAR_CHANCE = 0.05;
/** Of the blocks whose blooms say nothing. Each costs a call that returns all receipts of the block. */
const SAMPLED_SHARE = 0.1;
const BLOOM_BITS = 2048;
/** Bits that an address or a topic sets. */
const BITS_OF_VALUE = 3;

/** `suspect`: the block must be proven, because its bloom hardly matches by chance. `sampled`: it should be. */
type Absence = 'excluded' | 'suspect' | 'sampled' | 'compared';

/** Whether the bloom of a proven header shows that the receipts under its root have no event of the registries. */
export function isExcluded(network: Network, bloom: string | null): boolean {
  if (!network.bloom || bloom === null) return false;
  const { address, topics } = registryFilter(network);
  const has = (value: string) => mayContain(bloom, value);
  return !address.some(has) || !topics.flat().some(has);
}

/** A node must not be able to guess which blocks are sampled. */
export function absenceBy(network: Network, bloom: string | null, random: () => number = Math.random): Absence {
  if (isExcluded(network, bloom)) return 'excluded';
  const { address, topics } = registryFilter(network);
  const isClear =
    network.bloom &&
    bloom !== null &&
    chanceOf(bloom, address.length) * chanceOf(bloom, topics.flat().length) < CLEAR_CHANCE;
  if (isClear) return 'suspect';
  return random() < SAMPLED_SHARE ? 'sampled' : 'compared';
}

/** The chance that a bloom has all bits of at least one of so many values that are not in the block. */
function chanceOf(bloom: string, values: number): number {
  const bytes = Uint8Array.fromHex(bloom.slice(2));
  const set = bytes.reduce((sum, byte) => sum + (BITS_OF_BYTE[byte] as number), 0);
  return 1 - (1 - (set / BLOOM_BITS) ** BITS_OF_VALUE) ** values;
}

const BITS_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Whether a log with this address or topic may be in the block: a bloom has false positives, never false negatives. */
function mayContain(bloom: string, value: string): boolean {
  const hash = keccakBytes(Uint8Array.fromHex(value.slice(2)));
  return [0, 2, 4].every((position) => {
    const bit = (((hash[position] as number) << 8) | (hash[position + 1] as number)) & (BLOOM_BITS - 1);
    const start = 2 + 2 * (255 - (bit >> 3));
    return (Number.parseInt(bloom.slice(start, start + 2), 16) & (1 << (bit & 7))) !== 0;
  });
}

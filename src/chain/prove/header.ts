// Computes the hash of a block from its header's fields, by the rules of the chains that differ from Ethereum's too.

import { decodeRlp, encodeRlp, toQuantity } from '../../proof/rlp.ts';
import { keccak } from '../../registry/keccak.ts';
import type { Json } from '../rpc/node.ts';

type Fields = readonly Uint8Array[];

const UP_TO_BLOOM = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom'];
const LATER_HASHES = ['withdrawalsRoot', 'parentBeaconBlockRoot', 'requestsHash', 'extDataHash', 'auraSeal'];
/** Hashed as bytes, of any length. */
const BYTES = [...UP_TO_BLOOM, 'extraData', 'mixHash', 'nonce', ...LATER_HASHES];
const UP_TO_EXTRA = [...UP_TO_BLOOM, 'difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData'];
const STANDARD = [...UP_TO_EXTRA, 'mixHash', 'nonce'];
const CANCUN = ['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot'];
/** In the order of the forks that added them. */
const SINCE_LONDON = ['baseFeePerGas', 'withdrawalsRoot', ...CANCUN, 'requestsHash'];
const AVALANCHE = ['extDataHash', 'baseFeePerGas', 'extDataGasUsed', 'blockGasCost', ...CANCUN];
const CELO = UP_TO_EXTRA.filter((name) => !['sha3Uncles', 'difficulty', 'gasLimit'].includes(name));
const OF_ROLLUPS = ['l1BlockNumber', 'sendCount', 'sendRoot', 'l1BatchNumber'];
/** Shown by nodes, but not part of the header. */
const NOT_HASHED = new Set(['hash', 'size', 'totalDifficulty', 'author', ...OF_ROLLUPS]);
/** New fields that are tried. More would be too many orders. */
const MAX_NEW_FIELDS = 4;
/** Bytes of `extraData`: the signers of an epoch are the longest. */
const MAX_EXTRA = 100_000;
const MAX_EXTRA_OF_FRONTIER = 32;

/** The header that hashes to the hash of the block. Null if its fields do not, or if the chain has rules of its own. */
export function encodeHeader(block: Json): Uint8Array | null {
  const hash = typeof block['hash'] === 'string' ? block['hash'].toLowerCase() : null;
  if (extraBytes(block) > MAX_EXTRA) return null;
  for (const fields of candidates(block)) {
    const header = fields && encodeRlp(fields);
    if (header !== null && keccak(header) === hash) return header;
  }
  return null;
}

function* candidates(block: Json): Iterable<Fields | null> {
  const standard = read(block, STANDARD);
  const later = readPresent(block, SINCE_LONDON);
  if (standard !== null) {
    yield [...standard, ...later];
    if ('extDataHash' in block) yield [...standard, ...readPresent(block, AVALANCHE)];
    // A fork that we do not know has added fields.
    const added = Object.keys(block).filter((name) => !isKnown(name) && read(block, [name]) !== null);
    if (added.length > MAX_NEW_FIELDS) return;
    for (const names of [added, ...added.map((name) => [name])])
      yield [...standard, ...later, ...(read(block, names) ?? [])];
  }
  if ('auraStep' in block) {
    const sealed = read(block, [...UP_TO_EXTRA, 'auraStep', 'auraSeal']);
    if (sealed !== null) yield [...sealed, ...later];
  }
  if (!('gasLimit' in block)) yield celoFields(block);
  if (!('mixHash' in block) && extraBytes(block) <= MAX_EXTRA_OF_FRONTIER) yield* frontierFields(block);
}

const extraBytes = ({ extraData }: Json) =>
  typeof extraData === 'string' ? (extraData.length - 2) / 2 : Number.POSITIVE_INFINITY;

const isKnown = (name: string) =>
  NOT_HASHED.has(name) || [STANDARD, SINCE_LONDON, AVALANCHE].some((names) => names.includes(name));

/** Celo before it became an L2: without the aggregated seal in `extraData`, which signs the hash. */
function celoFields(block: Json): Fields | null {
  const fields = read(block, CELO);
  const extra = fields?.at(-1);
  if (fields === null || extra === undefined || extra.length <= CELO_VANITY) return null;
  const istanbul = decodeRlp(extra.subarray(CELO_VANITY));
  if (istanbul === null || istanbul instanceof Uint8Array || istanbul.length <= CELO_SEAL) return null;
  const empty = new Uint8Array();
  const unsealed = encodeRlp(istanbul.with(CELO_SEAL, [empty, empty, empty]));
  return [...fields.slice(0, -1), Buffer.concat([extra.subarray(0, CELO_VANITY), unsealed])];
}
const CELO_VANITY = 32;
/** The position of the aggregated seal. */
const CELO_SEAL = 4;

/** Moonbeam and others of its kind hash the time in milliseconds, which nodes do not return. */
function* frontierFields(block: Json): Iterable<Fields> {
  const before = read(block, UP_TO_EXTRA);
  const nonce = read(block, ['nonce'])?.[0];
  if (before === null || nonce === undefined) return;
  const [seconds, at] = [Number(block['timestamp']), UP_TO_EXTRA.indexOf('timestamp')];
  for (let ms = 0; ms < 1000; ms++)
    yield [...before.with(at, toQuantity(1000 * seconds + ms)), new Uint8Array(32), nonce];
}

/** Null if a field is missing or malformed. */
function read(block: Json, names: readonly string[]): Uint8Array[] | null {
  const fields: Uint8Array[] = [];
  for (const name of names) {
    const value = block[name];
    if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) return null;
    const isBytes = BYTES.includes(name) || (value.length === 66 && !STANDARD.includes(name));
    if (isBytes && value.length % 2 === 1) return null;
    fields.push(isBytes ? Uint8Array.fromHex(value.slice(2)) : toQuantity(BigInt(value === '0x' ? 0 : value)));
  }
  return fields;
}

/** Those that are there: a zero counts. */
function readPresent(block: Json, names: readonly string[]): Uint8Array[] {
  const present = names.filter((name) => block[name] !== undefined && block[name] !== null);
  return read(block, present) ?? [];
}

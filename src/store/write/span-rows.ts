// Loads open spans, and writes spans that opened and closed.

import type { DelegationKey } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { BulkStatement, Param, Row } from '../engine.ts';
import { arrayParams, insertInto } from '../rows/bulk.ts';
import { decodeAmount, decodeNumber, encodeAmount } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { encodeKey, KEY, KEY_TYPES, keyDecoder } from '../rows/key-columns.ts';
import type { ChainWriter } from './chain-writer.ts';
import { endOpenSpans } from './end-open-spans.ts';
import { selectOpen } from './open-spans.ts';
import type { Span, SpanChanges } from './span-set.ts';

/** A delegation with its index hashes, in the order of `encodeIdentity`. */
const IDENTITY_TYPES = {
  chain: 'bigint',
  cold: 'bigint',
  hot: 'bigint',
  key: 'bigint',
  version: 'smallint',
  ...KEY_TYPES,
} as const;

const encodeIdentity = ({ chainId, hash }: ChainWriter, key: DelegationKey): Param[] => [
  chainId,
  hash.cold(chainId, key.from),
  hash.hot(chainId, key.to),
  hash.key(key),
  key.version,
  ...encodeKey(key),
];

const OPEN = columns('since_block', 'since_log', 'version', ...KEY.names, 'amount');
export const LOAD_OPEN = selectOpen('span_open_pair', IDENTITY_TYPES, OPEN.sql);
const decodeKey = keyDecoder(OPEN.at);

const decodeOpen = (row: Row): Span => ({
  delegation: {
    ...decodeKey(decodeNumber(row[OPEN.at.version]) as Version, row),
    amount: decodeAmount(row[OPEN.at.amount]),
  },
  since: { block: decodeNumber(row[OPEN.at.since_block]), logIndex: decodeNumber(row[OPEN.at.since_log]) },
  until: null,
  stored: true,
});

export async function loadOpenSpans(writer: ChainWriter, keys: Iterable<DelegationKey>): Promise<Span[]> {
  const identities = [...keys].map((key) => encodeIdentity(writer, key));
  return (await writer.tx.each(LOAD_OPEN, identities)).map(decodeOpen);
}

const INSERT_SPAN = insertInto('span', {
  ...IDENTITY_TYPES,
  amount: 'bytea',
  since_block: 'bigint',
  since_log: 'bigint',
  until_block: 'bigint',
});

const CLOSE_SPAN: BulkStatement = {
  sqlite: 'UPDATE span SET until_block = $4 WHERE chain = $1 AND since_block = $2 AND since_log = $3',
  postgres: `UPDATE span SET until_block = k.until_block
    FROM unnest(${arrayParams(Array(4).fill('bigint'))}) AS k (chain, since_block, since_log, until_block)
    WHERE span.chain = k.chain AND span.since_block = k.since_block AND span.since_log = k.since_log`,
};

export async function writeSpans(writer: ChainWriter, { opened, closed, ends }: SpanChanges): Promise<void> {
  const { tx, chainId } = writer;
  await endOpenSpans(writer, ends);
  await tx.each(
    CLOSE_SPAN,
    closed.map(({ since, until }) => [chainId, since.block, since.logIndex, until]),
  );
  await tx.each(
    INSERT_SPAN,
    opened.map(({ delegation, since, until }): Param[] => [
      ...encodeIdentity(writer, delegation),
      encodeAmount(delegation.amount),
      since.block,
      since.logIndex,
      until,
    ]),
  );
}

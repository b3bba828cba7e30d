// Loads the spans of delegations, and writes spans that opened and closed.

import { type DelegationKey, delegationId } from '../../registry/delegation.ts';
import { keepsPlace, type Version } from '../../registry/versions.ts';
import type { BulkStatement, Param, Row } from '../engine.ts';
import { decodeAmount, decodeNumber, encodeAmount } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { encodeKey, KEY, keyDecoder, LOOKUP_TYPES } from '../rows/key-columns.ts';
import { encodeCasing } from '../rows/packed.ts';
import { arrayParams, insertInto } from '../rows/sql.ts';
import type { LogPosition } from '../store.ts';
import { endOpenSpans, selectSpan } from './bulk-spans.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { KnownSpans, Span, SpanChanges } from './span-set.ts';

/** A delegation with its index hashes, in the order of `encodeIdentity`. */
const IDENTITY_TYPES = { chain: 'bigint', cold: 'bigint', ...LOOKUP_TYPES } as const;

const encodeIdentity = ({ chainId, hash }: ChainWriter, key: DelegationKey): Param[] => [
  chainId,
  hash.cold(chainId, key.from),
  hash.hot(chainId, key.to),
  hash.key(key),
  key.version,
  ...encodeKey(key),
];

const OPEN = columns('since_block', 'since_log', 'first_block', 'first_log', 'version', ...KEY.names, 'amount');
export const LOAD_OPEN = selectSpan('open_vault', IDENTITY_TYPES, OPEN.sql);
const decodeKey = keyDecoder(OPEN.col);

const decodeOpen = (row: Row): Span => ({
  delegation: {
    ...decodeKey(decodeNumber(row[OPEN.col.version]) as Version, row),
    amount: decodeAmount(row[OPEN.col.amount]),
  },
  since: { block: decodeNumber(row[OPEN.col.since_block]), logIndex: decodeNumber(row[OPEN.col.since_log]) },
  first: { block: decodeNumber(row[OPEN.col.first_block]), logIndex: decodeNumber(row[OPEN.col.first_log]) },
  until: null,
  stored: true,
});

/** All spans of a delegation have the same place, so any of them will do. */
const PLACE = columns('first_block', 'first_log', 'version', ...KEY.names);
export const LOAD_PLACE = selectSpan('closed_vault', IDENTITY_TYPES, PLACE.sql);
const decodePlaceKey = keyDecoder(PLACE.col);

/** `keys` by id. */
export async function loadSpans(writer: ChainWriter, keys: ReadonlyMap<string, DelegationKey>): Promise<KnownSpans> {
  const load = (statement: BulkStatement, of: Iterable<DelegationKey>) =>
    writer.tx.each(
      statement,
      Array.from(of, (key) => encodeIdentity(writer, key)),
    );
  const open = (await load(LOAD_OPEN, keys.values())).map(decodeOpen);
  const rest = new Map([...keys].filter(([, { version }]) => keepsPlace(version)));
  for (const { delegation } of open) rest.delete(delegationId(delegation));
  const places = new Map<string, LogPosition>();
  for (const row of await load(LOAD_PLACE, rest.values())) {
    const key = decodePlaceKey(decodeNumber(row[PLACE.col.version]) as Version, row);
    places.set(delegationId(key), {
      block: decodeNumber(row[PLACE.col.first_block]),
      logIndex: decodeNumber(row[PLACE.col.first_log]),
    });
  }
  return { open, places };
}

const INSERT_SPAN = insertInto('span', {
  ...IDENTITY_TYPES,
  amount: 'bytea',
  since_block: 'bigint',
  since_log: 'bigint',
  first_block: 'bigint',
  first_log: 'bigint',
  until_block: 'bigint',
  until_log: 'bigint',
  casing: 'bytea',
});

const CLOSE_SPAN: BulkStatement = {
  sqlite: `UPDATE span SET until_block = $4, until_log = $5
    WHERE chain = $1 AND since_block = $2 AND since_log = $3`,
  postgres: `UPDATE span SET until_block = k.until_block, until_log = k.until_log
    FROM unnest(${arrayParams(Array(5).fill('bigint'))}) AS k (chain, since_block, since_log, until_block, until_log)
    WHERE span.chain = k.chain AND span.since_block = k.since_block AND span.since_log = k.since_log`,
};

const encodeUntil = (until: LogPosition | null): Param[] => [until?.block ?? null, until?.logIndex ?? null];

export async function writeSpans(writer: ChainWriter, { opened, closed, ends }: SpanChanges): Promise<void> {
  const { tx, chainId } = writer;
  await endOpenSpans(writer, ends);
  const closings = closed.map(({ since, until }) => [chainId, since.block, since.logIndex, ...encodeUntil(until)]);
  await tx.each(CLOSE_SPAN, closings);
  await tx.each(
    INSERT_SPAN,
    opened.map(({ delegation, since, first, until }): Param[] => [
      ...encodeIdentity(writer, delegation),
      encodeAmount(delegation.amount),
      since.block,
      since.logIndex,
      first.block,
      first.logIndex,
      ...encodeUntil(until),
      encodeCasing(encodeKey(delegation)),
    ]),
  );
}

// Brings spans up to date with logs, inside the writer's transaction.

import { type Address, type DelegationKey, delegationId, type Version } from '../registry/delegation.ts';
import { amountCell, amountOf, bytesOf, eventOf, hexOf, keyCells, keyOf, numberOf, numberOrNull } from './encoding.ts';
import type { Param, Row, Transaction } from './engine.ts';
import type { Shortener } from './short.ts';
import {
  type AppliedLog,
  compareState,
  createSpanSet,
  isEmpty,
  type Span,
  type SpanChanges,
  type SpanSet,
  touchedBy,
} from './spans.ts';
import type { BlockInput, Unexplained, VaultState } from './store.ts';
import {
  CLOSE_SPAN,
  DELETE_SPAN,
  INSERT_ENDED,
  INSERT_READ,
  INSERT_SPAN,
  LOAD_OPEN_KEY,
  LOAD_OPEN_PAIR,
  LOAD_OPEN_WALLET,
  LOG_COLUMNS,
} from './tables.ts';

/** A block as spans see it. */
export interface DerivedBlock {
  readonly number: number;
  readonly logs: readonly AppliedLog[];
  /** States read at this block, not recorded yet. */
  readonly states: readonly VaultState[];
  /** What earlier readings of state at or for this block found gone. */
  readonly ended: readonly DelegationKey[];
}

/** A writer's transaction on one chain. */
export interface Writing {
  readonly tx: Transaction;
  readonly chainId: number;
  readonly short: Shortener;
}

/** What the reading of states gave. */
export interface StateFindings extends Mutable<Unexplained> {
  /** The lowest block whose history a state changed after the fact. */
  rewrittenFrom: number | null;
}

type Mutable<T extends Unexplained> = { readonly [Name in keyof T]: DelegationKey[] };
const noFindings = (): StateFindings => ({ lacking: [], surplus: [], rewrittenFrom: null });

/** Applies new blocks to the stored spans. `late` are states read at the last of them. */
export async function deriveBlocks(
  writing: Writing,
  blocks: readonly DerivedBlock[],
  late: { readonly head: number; readonly states: readonly VaultState[] },
): Promise<StateFindings> {
  const { tx, chainId, short } = writing;
  const touched = touchedBy(blocks);
  for (const { states, ended } of blocks) {
    for (const { vault } of states) touched.vaults.add(vault);
    for (const { from } of ended) touched.vaults.add(from);
  }
  for (const { vault } of late.states) touched.vaults.add(vault);
  const rows = [
    await tx.each(
      LOAD_OPEN_KEY,
      [...touched.keys.values()].map((key) => [chainId, ...shortCells(short, key), key.version, ...keyCells(key)]),
    ),
    await tx.each(
      LOAD_OPEN_PAIR,
      [...touched.pairs.values()].map(([from, to]) => {
        return [chainId, short.cold(from), short.hot(to), 1, bytesOf(from), bytesOf(to)];
      }),
    ),
    await tx.each(
      LOAD_OPEN_WALLET,
      [...touched.vaults].map((vault) => [chainId, short.cold(vault), 1, bytesOf(vault)]),
    ),
  ];
  // A span that two of the three loads found counts once: the set keeps one span for each delegation.
  const spans = createSpanSet(rows.flatMap((found) => found.map(storedSpan)));
  const findings = noFindings();
  for (const block of blocks) await applyBlock(writing, spans, block, findings);
  for (const state of late.states) await settle(writing, spans, late.head, state, findings);
  await writeSpans(writing, spans.changes());
  return findings;
}

/** A wallet to be derived again, with new readings of its state by block. */
export interface DerivedWallet {
  readonly version: Version;
  readonly wallet: Address;
  readonly states: ReadonlyMap<number, VaultState>;
}

/** Derives all spans of some wallets again from their logs, in one pass over the chain's logs. */
export async function deriveWallets(writing: Writing, wallets: readonly DerivedWallet[]): Promise<StateFindings> {
  const { tx, chainId, short } = writing;
  const logsOf = new Map<string, Row[]>();
  for (const { version, wallet } of wallets) {
    for (const half of ['open_from WHERE until_block IS NULL', 'closed_from WHERE until_block IS NOT NULL']) {
      await tx.run(
        `DELETE FROM span INDEXED BY span_${half} AND cold = $1 AND chain = $2 AND version = $3 AND from_addr = $4`,
        [short.cold(wallet), chainId, version, bytesOf(wallet)],
      );
    }
    logsOf.set(version + wallet, []);
  }
  for await (const page of logPages(tx, chainId)) {
    for (const row of page) logsOf.get(numberOf(row[2]) + hexOf(row[4]))?.push(row);
  }
  const findings = noFindings();
  for (const { version, wallet, states } of wallets) {
    const ended = await tx.rows(`SELECT ${ENDED} FROM v1_ended WHERE chain = $1 AND from_addr = $2 AND $3 = 1`, [
      chainId,
      bytesOf(wallet),
      version,
    ]);
    const spans = createSpanSet([]);
    for (const block of groupBlocks(logsOf.get(version + wallet) ?? [], ended)) {
      const state = states.get(block.number);
      await applyBlock(writing, spans, { ...block, states: state ? [state] : [] }, findings);
    }
    await writeSpans(writing, spans.changes());
  }
  return findings;
}

/** How many logs are in memory at once while everything is derived again. */
const REBUILD_LOGS = 5000;

/** Derives every span of a chain again from its logs. */
export async function deriveChain(writing: Writing): Promise<void> {
  const { tx, chainId } = writing;
  await tx.run('DELETE FROM span WHERE chain = $1', [chainId]);
  for await (const page of logPages(tx, chainId)) {
    const [from, to] = [numberOf(page[0]?.[0]), numberOf(page.at(-1)?.[0])];
    const ended = await tx.rows(`SELECT ${ENDED} FROM v1_ended WHERE chain = $1 AND block >= $2 AND block <= $3`, [
      chainId,
      from,
      to,
    ]);
    const blocks = groupBlocks(page, ended).map((block) => ({ ...block, states: [] }));
    await deriveBlocks(writing, blocks, { head: to, states: [] });
  }
}

/** A chain's logs in order, in pages of whole blocks. */
async function* logPages(tx: Transaction, chainId: number): AsyncGenerator<Row[]> {
  for (let done = -1; ; ) {
    const page = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block > $2 ORDER BY block, log_index LIMIT $3`,
      [chainId, done, REBUILD_LOGS],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    done = numberOf(last[0]);
    const rest = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block = $2 AND log_index > $3 ORDER BY log_index`,
      [chainId, done, numberOf(last[1])],
    );
    yield [...page, ...rest];
  }
}

const LOG = Object.keys(LOG_COLUMNS).join(', ');
const ENDED = 'block, kind, from_addr, to_addr, contract, token_id';

/** Rows of logs and of recorded ends, in order, as blocks. Every end stands in a block with logs: the revocation's. */
function groupBlocks(logs: readonly Row[], ended: readonly Row[]): Omit<DerivedBlock, 'states'>[] {
  const blocks = new Map<number, { number: number; logs: AppliedLog[]; ended: DelegationKey[] }>();
  for (const row of logs) {
    const number = numberOf(row[0]);
    let block = blocks.get(number);
    if (block === undefined) {
      block = { number, logs: [], ended: [] };
      blocks.set(number, block);
    }
    block.logs.push({
      logIndex: numberOf(row[1]),
      event: eventOf(row, 2),
      revoked: row[11] === null ? null : hexOf(row[11]),
    });
  }
  for (const row of ended) {
    const block = blocks.get(numberOf(row[0]));
    if (block === undefined) throw new Error(`Block ${row[0]} has ends without the logs of their revocation`);
    block.ended.push(keyOf(1, row, 1));
  }
  return [...blocks.values()];
}

async function applyBlock(
  writing: Writing,
  spans: SpanSet,
  block: DerivedBlock,
  findings: StateFindings,
): Promise<void> {
  for (const log of block.logs) spans.apply(block.number, log);
  for (const key of block.ended) spans.end(key, block.number);
  if (block.states.length === 0) return;
  const { tx, chainId, short } = writing;
  await tx.each(
    INSERT_READ,
    block.states.map(({ vault }) => [chainId, bytesOf(vault), short.cold(vault), block.number, null]),
  );
  for (const state of block.states) await settle(writing, spans, block.number, state, findings);
}

/**
 * Ends what the registry no longer has of a wallet at a block. It ended at the newest revocation that is still unread:
 * what was granted after that one should be there. Where it is not, or where the registry has what we lack, a log was
 * missed, and the wallet stays unread.
 */
async function settle(
  { tx, chainId }: Writing,
  spans: SpanSet,
  block: number,
  { vault, held }: VaultState,
  findings: StateFindings,
): Promise<void> {
  if (held === null) return;
  const bytes = bytesOf(vault);
  const [row] = await tx.rows(
    'SELECT max(block) FROM v1_read WHERE chain = $1 AND vault = $2 AND block <= $3 AND read_block IS NULL',
    [chainId, bytes, block],
  );
  const revokedAt = numberOrNull(row?.[0]);
  if (revokedAt === null) return;
  const { gone, lacking } = compareState(spans.heldBy(vault), held);
  for (const key of lacking) findings.lacking.push(key);
  const later = revokedAt < block ? await grantedBetween(tx, chainId, bytes, revokedAt, block) : new Set();
  const surplus = gone.filter((key) => later.has(delegationId(key)));
  for (const key of surplus) findings.surplus.push(key);
  if (surplus.length + lacking.length > 0) return;
  for (const key of gone) spans.end(key, revokedAt);
  if (revokedAt < block) findings.rewrittenFrom = Math.min(revokedAt, findings.rewrittenFrom ?? revokedAt);
  await tx.each(
    INSERT_ENDED,
    gone.map((key) => {
      const [kind, from, to, contract, tokenId] = keyCells(key);
      return [chainId, revokedAt, kind, from, to, contract, tokenId, block];
    }),
  );
  await tx.run(
    'UPDATE v1_read SET read_block = $3 WHERE chain = $1 AND vault = $2 AND block <= $3 AND read_block IS NULL',
    [chainId, bytes, block],
  );
}

/** What a v1 wallet granted after one block and up to another, by id: also what it granted again. */
async function grantedBetween(tx: Transaction, chainId: number, vault: Uint8Array, after: number, to: number) {
  const rows = await tx.rows(
    `SELECT ${LOG} FROM log WHERE chain = $1 AND block > $2 AND block <= $3 AND version = 1 AND from_addr = $4`,
    [chainId, after, to, vault],
  );
  const events = rows.map((row) => eventOf(row, 2));
  return new Set(events.flatMap((event) => (event.type === 'granted' ? [delegationId(event.delegation)] : [])));
}

function storedSpan(row: Row): Span {
  const version = Number(row[2]) as Version;
  return {
    delegation: { ...keyOf(version, row, 3), amount: amountOf(row[9]) },
    since: { block: numberOf(row[0]), logIndex: numberOf(row[1]) },
    until: null,
    stored: true,
  };
}

async function writeSpans({ tx, chainId, short }: Writing, { opened, closed }: SpanChanges): Promise<void> {
  await tx.each(
    DELETE_SPAN,
    closed.filter(isEmpty).map(({ since }) => [chainId, since.block, since.logIndex]),
  );
  await tx.each(
    CLOSE_SPAN,
    closed.filter((span) => !isEmpty(span)).map(({ since, until }) => [chainId, since.block, since.logIndex, until]),
  );
  await tx.each(
    INSERT_SPAN,
    opened.map(({ delegation, since, until }): Param[] => [
      chainId,
      ...shortCells(short, delegation),
      since.block,
      since.logIndex,
      delegation.version,
      ...keyCells(delegation),
      amountCell(delegation),
      until,
    ]),
  );
}

/** cold, hot, key */
const shortCells = (short: Shortener, key: DelegationKey) =>
  [short.cold(key.from), short.hot(key.to), short.key(key)] as const;

/** A batch's block as spans see it. */
export const toDerive = ({ number, logs, vaultStates }: BlockInput): DerivedBlock => ({
  number,
  logs,
  states: vaultStates ?? [],
  ended: [],
});

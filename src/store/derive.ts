// Brings spans up to date with logs, inside the writer's transaction.

import type { Address, DelegationKey, Version } from '../registry/delegation.ts';
import {
  amountCell,
  amountOf,
  bytesOf,
  eventOf,
  hexOf,
  keyCells,
  keyOf,
  numberOf,
  numberOrNull,
  shortAddress,
  shortCells,
} from './encoding.ts';
import type { Param, Row, Transaction } from './engine.ts';
import {
  type AppliedLog,
  compareState,
  createSpanSet,
  type Span,
  type SpanChanges,
  type SpanSet,
  touchedBy,
} from './spans.ts';
import type { BlockInput, Unexplained, VaultState } from './store.ts';
import {
  CLOSE_SPAN,
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

/** What the reading of states gave. */
export interface StateFindings extends Mutable<Unexplained> {
  /** The lowest block whose history a state changed after the fact. */
  rewrittenFrom: number | null;
}

type Mutable<T extends Unexplained> = { readonly [Name in keyof T]: DelegationKey[] };
const noFindings = (): StateFindings => ({ lacking: [], surplus: [], rewrittenFrom: null });

/** Applies new blocks to the stored spans. `late` are states read at the last of them. */
export async function deriveBlocks(
  tx: Transaction,
  chainId: number,
  blocks: readonly DerivedBlock[],
  late: { readonly head: number; readonly states: readonly VaultState[] },
): Promise<StateFindings> {
  const touched = touchedBy(blocks);
  for (const { states, ended } of blocks) {
    for (const { vault } of states) touched.vaults.add(vault);
    for (const { from } of ended) touched.vaults.add(from);
  }
  for (const { vault } of late.states) touched.vaults.add(vault);
  const rows = [
    await tx.each(
      LOAD_OPEN_KEY,
      [...touched.keys.values()].map((key) => [chainId, ...shortCells(key), key.version, ...keyCells(key)]),
    ),
    await tx.each(
      LOAD_OPEN_PAIR,
      [...touched.pairs.values()].map(([from, to]) => {
        return [chainId, shortAddress(from), shortAddress(to), 1, bytesOf(from), bytesOf(to)];
      }),
    ),
    await tx.each(
      LOAD_OPEN_WALLET,
      [...touched.vaults].map((vault) => [chainId, shortAddress(vault), 1, bytesOf(vault)]),
    ),
  ];
  // A span that two of the three loads found counts once: the set keeps one span for each delegation.
  const spans = createSpanSet(rows.flatMap((found) => found.map(storedSpan)));
  const findings = noFindings();
  for (const block of blocks) await applyBlock(tx, chainId, spans, block, findings);
  for (const state of late.states) await settle(tx, chainId, spans, late.head, state, findings);
  await writeSpans(tx, chainId, spans.changes());
  return findings;
}

/** Derives all spans of one wallet again from its logs. `states` are new readings, by block. */
export async function deriveWallet(
  tx: Transaction,
  chainId: number,
  version: Version,
  wallet: Address,
  states: ReadonlyMap<number, VaultState> = new Map(),
): Promise<StateFindings> {
  const from = bytesOf(wallet);
  for (const half of ['open_from WHERE until_block IS NULL', 'closed_from WHERE until_block IS NOT NULL']) {
    await tx.run(
      `DELETE FROM span INDEXED BY span_${half} AND cold = $4 AND chain = $1 AND version = $2 AND from_addr = $3`,
      [chainId, version, from, shortAddress(wallet)],
    );
  }
  const logs = await tx.rows(
    `SELECT ${LOG} FROM log WHERE chain = $1 AND version = $2 AND from_addr = $3 ORDER BY block, log_index`,
    [chainId, version, from],
  );
  const ended = await tx.rows(`SELECT ${ENDED} FROM v1_ended WHERE chain = $1 AND from_addr = $2 AND $3 = 1`, [
    chainId,
    from,
    version,
  ]);
  const spans = createSpanSet([]);
  const findings = noFindings();
  for (const block of groupBlocks(logs, ended)) {
    const state = states.get(block.number);
    await applyBlock(tx, chainId, spans, { ...block, states: state ? [state] : [] }, findings);
  }
  await writeSpans(tx, chainId, spans.changes());
  return findings;
}

/** How many logs are in memory at once while everything is derived again. */
const REBUILD_LOGS = 5000;

/** Derives every span of a chain again from its logs. */
export async function deriveChain(tx: Transaction, chainId: number): Promise<void> {
  await tx.run('DELETE FROM span WHERE chain = $1', [chainId]);
  for (let done = -1; ; ) {
    const page = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block > $2 ORDER BY block, log_index LIMIT $3`,
      [chainId, done, REBUILD_LOGS],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    const until = numberOf(last[0]);
    // The page may end inside its last block, and a block is derived whole.
    const rest = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block = $2 AND log_index > $3 ORDER BY log_index`,
      [chainId, until, numberOf(last[1])],
    );
    const ended = await tx.rows(`SELECT ${ENDED} FROM v1_ended WHERE chain = $1 AND block > $2 AND block <= $3`, [
      chainId,
      done,
      until,
    ]);
    const blocks = groupBlocks([...page, ...rest], ended).map((block) => ({ ...block, states: [] }));
    await deriveBlocks(tx, chainId, blocks, { head: until, states: [] });
    done = until;
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
  for (const row of ended) blocks.get(numberOf(row[0]))?.ended.push(keyOf(1, row, 1));
  return [...blocks.values()];
}

async function applyBlock(
  tx: Transaction,
  chainId: number,
  spans: SpanSet,
  block: DerivedBlock,
  findings: StateFindings,
): Promise<void> {
  for (const log of block.logs) spans.apply(block.number, log);
  for (const key of block.ended) spans.end(key, block.number);
  if (block.states.length === 0) return;
  await tx.each(
    INSERT_READ,
    block.states.map(({ vault }) => [chainId, bytesOf(vault), shortAddress(vault), block.number, null]),
  );
  for (const state of block.states) await settle(tx, chainId, spans, block.number, state, findings);
}

/**
 * Ends what the registry no longer has of a wallet at a block. It ended at the newest revocation that is still unread,
 * for a grant after that one would have shown in the registry.
 */
async function settle(
  tx: Transaction,
  chainId: number,
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
  const ended: DelegationKey[] = [];
  for (const { delegation, since } of gone) {
    if (since.block <= revokedAt) ended.push(delegation);
    else findings.surplus.push(delegation);
  }
  for (const key of ended) spans.end(key, revokedAt);
  if (revokedAt < block) findings.rewrittenFrom = Math.min(revokedAt, findings.rewrittenFrom ?? revokedAt);
  await tx.each(
    INSERT_ENDED,
    ended.map((key) => {
      const [kind, from, to, contract, tokenId] = keyCells(key);
      return [chainId, revokedAt, kind, from, to, contract, tokenId, block];
    }),
  );
  await tx.run(
    'UPDATE v1_read SET read_block = $3 WHERE chain = $1 AND vault = $2 AND block <= $3 AND read_block IS NULL',
    [chainId, bytes, block],
  );
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

async function writeSpans(tx: Transaction, chainId: number, { opened, closed }: SpanChanges): Promise<void> {
  await tx.each(
    CLOSE_SPAN,
    closed.map(({ since, until }) => [chainId, since.block, since.logIndex, until]),
  );
  await tx.each(
    INSERT_SPAN,
    opened.map(({ delegation, since, until }): Param[] => [
      chainId,
      ...shortCells(delegation),
      since.block,
      since.logIndex,
      delegation.version,
      ...keyCells(delegation),
      amountCell(delegation),
      until,
    ]),
  );
}

/** A batch's block as spans see it. */
export const toDerive = ({ number, logs, vaultStates }: BlockInput): DerivedBlock => ({
  number,
  logs,
  states: vaultStates ?? [],
  ended: [],
});

// A feed of changes: which delegations its reader asked for, and the entries that it gets.

import type { NumberMode } from '../api/params.ts';
import type { DelegationKey } from '../registry/delegation.ts';
import { endOfBlock } from '../store/change-position.ts';
import type { Change, ChangesCursor, ChangesFilter, ChangesPage, Store } from '../store/store.ts';
import { changeText, undoText } from './changes-json.ts';

/** What a reader asked for. */
export interface Feed {
  readonly chainIds: readonly number[];
  /** Only what is final. */
  readonly isFinal: boolean;
  readonly filter: ChangesFilter;
  readonly mode: NumberMode;
}

/** Identifies a feed in its cursors, by every parameter that decides what is in it. */
export const feedIdentity = ({
  chainId,
  wallet,
  from,
  to,
  contract,
  final,
}: ChangesFilter & {
  readonly chainId: readonly number[] | 'served';
  readonly final: 'true' | 'false';
}): string => [chainId === 'served' ? chainId : chainId.join('+'), wallet, from, to, contract, final].join();

const matches = ({ wallet, from, to, contract }: ChangesFilter, delegation: DelegationKey): boolean =>
  (wallet === undefined || delegation.from === wallet || delegation.to === wallet) &&
  (from === undefined || delegation.from === from) &&
  (to === undefined || delegation.to === to) &&
  (contract === undefined || delegation.contract === contract);

/** A change or an undo, and where a reader of its chain is after it. */
export interface FeedEntry {
  readonly chainId: number;
  /** Null for an undo. */
  readonly change: Change | null;
  readonly after: ChangesCursor;
  /** As JSON. */
  text(mode: NumberMode): string;
}

export function entriesOf({ undo, changes, next }: ChangesPage, chainId: number): FeedEntry[] {
  const entries: FeedEntry[] = changes.map((change) => ({
    chainId,
    change,
    after: { ...next, position: change.position },
    text: (mode) => changeText(change, { chainId, mode }),
  }));
  if (undo !== null) entries.unshift({ chainId, change: null, after: next, text: () => undoText(undo, chainId) });
  return entries;
}

/** An undo concerns everyone: it may take back what the reader was sent. */
export const isWanted = ({ change }: FeedEntry, { filter }: Pick<Feed, 'filter'>): boolean =>
  change === null || matches(filter, change.delegation);

/** Where a reader starts that wants only what is new. */
export async function headOf(
  chainId: number,
  { isFinal }: Pick<Feed, 'isFinal'>,
  { store }: { readonly store: Store },
): Promise<ChangesCursor> {
  const { chain, stamp } = await store.pin(chainId);
  const block = isFinal ? (chain.verified ?? -1) : (chain.head?.number ?? -1);
  return { position: endOfBlock(block), revision: chain.revision, stamp, final: null };
}

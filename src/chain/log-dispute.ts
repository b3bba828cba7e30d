// What providers and the index have of a block that they disagree about.

import type { Question } from '../registry/check.ts';
import type { Bytes32, Delegation } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import type { LogRecord } from '../store/store.ts';
import { eventKey } from './compare-logs.ts';
import { decodeLog } from './decode-log.ts';
import type { BlockId, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';

/** A log, from a provider or from the index. */
export interface LogEntry {
  /** Equal for equal events. */
  readonly key: string;
  readonly transaction: Bytes32;
  /** Null if only the index has it. */
  readonly transactionIndex: number | null;
  readonly log: NodeLog | LogRecord;
}

export interface Dispute {
  readonly block: BlockId;
  /** The logs of the block that each provider returned. */
  readonly reports: readonly { readonly provider: Provider; readonly logs: readonly NodeLog[] }[];
  /** The logs of the block that the index has. */
  readonly stored: readonly LogRecord[];
  /** The delegations before the block that answer a question. Null if the index does not know. */
  readonly before: (question: Question) => Promise<readonly Delegation[] | null>;
}

/** A possible list of a transaction's logs. */
export type Candidate = readonly LogEntry[];

export const toEntry = (network: Network, log: NodeLog): LogEntry => ({
  key: eventKey(decodeLog(network, log)),
  transaction: log.transactionHash,
  transactionIndex: log.transactionIndex,
  log,
});

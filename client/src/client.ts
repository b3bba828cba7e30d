// The client of the Delegation Registry Query Service.

import type { Network } from './api.ts';
import { Changes, type ChangesQuery } from './changes.ts';
import { type CheckMany, type Checks, createCheckMany, createChecks, type Explain } from './checks.ts';
import type { Defaults, Verification } from './context.ts';
import { createExclusiveWallets, type ExclusiveWallets } from './exclusive.ts';
import { createLists, type Lists } from './lists.ts';
import { type CallOptions, createSend, type RequestOptions } from './request.ts';
import { createWalletBatches, type WalletBatches } from './wallets.ts';

/** Where the service is, and what calls use that do not name their own chain or point in time. */
export type ClientOptions = RequestOptions &
  Defaults & {
    /** Verifies every check: an answer that does not prove itself is thrown as `Unproven`. The service needs `PROOFS=on`. */
    readonly verify?: Verification | undefined;
  };

/** Whatever is not an answer is thrown: see errors.ts. */
export interface DelegationsClient extends Lists, WalletBatches, ExclusiveWallets {
  readonly url: string;
  readonly defaults: Defaults;
  /** Whether `to` may act for `from`, or how much of a token it may use. */
  readonly check: Checks;
  /** The same, with the delegations that grant it and the block. */
  readonly explain: Explain;
  /** Up to 10,000 questions in one request. The answers are in the order of the questions. */
  readonly checkMany: CheckMany;
  /** What changed, from the first change on, from now on, or from a cursor on. */
  changes(query?: ChangesQuery): Changes;
  /** The served chains. */
  networks(call?: CallOptions): Promise<readonly Network[]>;
}

export function createClient({ chainId, block, timestamp, verify, ...options }: ClientOptions): DelegationsClient {
  const defaults = { chainId, block, timestamp };
  const context = { send: createSend(options), defaults, verify };
  return {
    url: options.url,
    defaults,
    ...createChecks(context),
    checkMany: createCheckMany(context),
    ...createLists(context),
    ...createWalletBatches(context),
    ...createExclusiveWallets(context),
    changes: (query = {}) => new Changes(context, query),
    networks: (call = {}) => context.send('/networks', {}, call, readNetworks),
  };
}

function readNetworks(body: unknown): readonly Network[] {
  const networks = body as readonly Network[];
  if (!networks.every(({ chainId }) => typeof chainId === 'number')) throw new TypeError('not networks');
  return networks;
}

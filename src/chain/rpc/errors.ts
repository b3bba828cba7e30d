// The errors of a tick. The type of an error tells whether a provider is at fault, and the cause of its failure.

import { CONNECTION_CAUSES, type FollowerTrouble, type ProviderCause } from '../../api/provider-causes.ts';
import { checksummed } from '../../registry/checksum.ts';
import type { Address } from '../../registry/delegation.ts';
import { BadLogError } from '../../registry/event.ts';
import type { Network } from '../../registry/network.ts';
import { BadReturnDataError } from '../../registry/return-data.ts';
import type { Version } from '../../registry/versions.ts';
import { StoreError } from '../../store/errors.ts';
import { RpcError } from './rpc.ts';

/** The chain changed between two requests, or two nodes behind one URL disagree. The next tick tries again. */
export class Inconsistent extends Error {
  override readonly name = 'Inconsistent';
}

/** The provider is behind the index. */
export class Lagging extends Error {
  override readonly name = 'Lagging';
}

/** The provider's head is below the first block of the index. */
export class Syncing extends Lagging {
  constructor(head: number, firstBlock: number) {
    super(`the provider is still syncing: its head is block ${head}, the index starts at block ${firstBlock}`);
  }
}

/** The provider returned wrong data. Other providers are preferred for a while. */
export class Untrusted extends Error {
  override readonly name = 'Untrusted';
  /** The block that it was wrong about, if a reorg could explain that. */
  readonly block: number | null;
  constructor(message: string, block: number | null = null) {
    super(message);
    this.block = block;
  }
}

export class WrongChain extends Error {
  override readonly name = 'WrongChain';
  constructor(chainId: number) {
    super(`the provider serves chain ${chainId}`);
  }
}

/** An operator's own network has no registry where it should be, as far as the provider knows. */
export class NoRegistry extends Error {
  override readonly name = 'NoRegistry';
  constructor({ chainId }: Network, version: Version, address: Address) {
    super(
      `chain ${chainId} has no code at ${checksummed(address)}, the address of registry v${version}: correct NETWORK_${chainId}`,
    );
  }
}

const PROVIDER_ERRORS = [
  RpcError,
  Inconsistent,
  Lagging,
  Untrusted,
  WrongChain,
  NoRegistry,
  BadLogError,
  BadReturnDataError,
];

/** A database error or a bug of ours is not a provider's fault. A commit that the store rejects as invalid is. */
export const isProviderFault = (error: unknown): boolean =>
  PROVIDER_ERRORS.some((type) => error instanceof type) || (error instanceof StoreError && error.code === 'bad-commit');

/** SQLite's words, then those of PostgreSQL and of the system. */
const FULL = /disk is full|no space left|could not extend file|disk quota/i;

/** For those who may not read messages, which can name hosts and users. */
export function troubleOf(error: unknown): FollowerTrouble {
  if (isProviderFault(error)) return 'providers';
  if (!(error instanceof StoreError)) return 'internal';
  if (FULL.test(error.message)) return 'database-full';
  return error.code === 'unavailable' ? 'database-unavailable' : 'database-failed';
}

export const isConnectionCause = (cause: ProviderCause): boolean =>
  CONNECTION_CAUSES.some((connection) => connection === cause);

export function findCause(error: unknown): ProviderCause {
  if (error instanceof RpcError) return findRpcCause(error);
  if (error instanceof Syncing) return 'syncing';
  if (error instanceof Lagging) return 'behind';
  if (error instanceof Untrusted) return 'wrong-data';
  if (error instanceof WrongChain) return 'wrong-chain';
  if (error instanceof NoRegistry) return 'no-registry';
  return error instanceof Inconsistent ? 'inconsistent' : 'bad-response';
}

const RATE_LIMIT_STATUS = 429;
/** "daily request count exceeded", "15/second request limit reached", "exceeded its compute units per second capacity" … */
const RATE_LIMIT = /rate.?limit|too many requests|request (count|limit)|compute units|quota|throughput/i;

function findRpcCause({ fault, connection, httpStatus, rpcCode, message }: RpcError): ProviderCause {
  if (connection !== null) return connection;
  if (fault === 'malformed') return 'bad-response';
  if (httpStatus === RATE_LIMIT_STATUS || rpcCode === RATE_LIMIT_STATUS || RATE_LIMIT.test(message))
    return 'rate-limited';
  // 401 to 404 are about the URL or its key, so they say more than the JSON-RPC error in the body.
  const access = CONNECTION_CAUSES.find((cause) => cause === `http-${httpStatus}`);
  if (access !== undefined) return access;
  if (rpcCode !== null || httpStatus === null) return 'rpc-error';
  return httpStatus < 500 ? 'http-4xx' : 'http-5xx';
}

// Finds the cause of a provider's failure.

import { CONNECTION_CAUSES, type ProviderCause } from '../../api/provider-causes.ts';
import { Inconsistent, Lagging, Syncing, Untrusted, WrongChain } from './errors.ts';
import { RpcError } from './rpc.ts';

export type FailureCause = ProviderCause;

export const isConnectionCause = (cause: FailureCause): boolean =>
  CONNECTION_CAUSES.some((connection) => connection === cause);

export function findCause(error: unknown): FailureCause {
  if (error instanceof RpcError) return findRpcCause(error);
  if (error instanceof Syncing) return 'syncing';
  if (error instanceof Lagging) return 'behind';
  if (error instanceof Untrusted) return 'wrong-data';
  if (error instanceof WrongChain) return 'wrong-chain';
  return error instanceof Inconsistent ? 'inconsistent' : 'bad-response';
}

const RATE_LIMIT_STATUS = 429;
/** "daily request count exceeded", "15/second request limit reached", "exceeded its compute units per second capacity" … */
const RATE_LIMIT = /rate.?limit|too many requests|request (count|limit)|compute units|quota|throughput/i;
/** These statuses are about the URL or its key, so they say more than the JSON-RPC error in the body. */
const ACCESS_STATUSES = new Map<number, FailureCause>([
  [401, 'http-401'],
  [402, 'http-402'],
  [403, 'http-403'],
  [404, 'http-404'],
]);

function findRpcCause({ fault, connection, httpStatus, rpcCode, message }: RpcError): FailureCause {
  if (connection !== null) return connection;
  if (fault === 'malformed') return 'bad-response';
  if (httpStatus === RATE_LIMIT_STATUS || rpcCode === RATE_LIMIT_STATUS || RATE_LIMIT.test(message))
    return 'rate-limited';
  const access = ACCESS_STATUSES.get(httpStatus ?? 0);
  if (access !== undefined) return access;
  if (rpcCode !== null || httpStatus === null) return 'rpc-error';
  return httpStatus < 500 ? 'http-4xx' : 'http-5xx';
}

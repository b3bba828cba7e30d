// What a tick may run into, besides a call that fails. The type of an error says whose fault it is.

import { BadLogError } from '../registry/event.ts';
import { BadReturnDataError } from '../registry/return-data.ts';
import { StoreError } from '../store/errors.ts';
import { RpcError } from './rpc.ts';

/** The chain changed between two requests, or two nodes behind one URL disagree: ask again. */
export class Inconsistent extends Error {
  override readonly name = 'Inconsistent';
}

/** The provider is behind what we have: no evidence of anything. */
export class Lagging extends Error {
  override readonly name = 'Lagging';
}

/** The provider does not have what it must have: not to be asked first again soon. */
export class Untrusted extends Error {
  override readonly name = 'Untrusted';
}

/** The provider serves another chain. */
export class WrongChain extends Error {
  override readonly name = 'WrongChain';
  readonly chainId: number;
  constructor(chainId: number) {
    super(`the provider serves chain ${chainId}`);
    this.chainId = chainId;
  }
}

const OF_PROVIDERS = [RpcError, Inconsistent, Lagging, Untrusted, WrongChain, BadLogError, BadReturnDataError];

/** A store's own trouble, or a bug of ours, says nothing about a provider; a batch that makes no sense came from one. */
export const isProviderFault = (error: unknown): boolean =>
  OF_PROVIDERS.some((type) => error instanceof type) || (error instanceof StoreError && error.code === 'bad-batch');

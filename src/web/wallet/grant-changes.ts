// The stream of changes of a wallet's grants on one chain.

import { CHANGES_OPERATION } from '../../api/changes-operation.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { urlFor } from '../../api/url.ts';
import type { Address } from '../../registry/delegation.ts';
import type { FetchApi } from '../fetch-api.ts';

/** The URL of what changes from now on; empty if the chain does not answer. */
export async function changesUrl(from: Address, chainId: number, fetchApi: FetchApi): Promise<string> {
  const feed = { from, chainId };
  const response = await fetchApi(urlFor(CHANGES_OPERATION, { ...feed, start: 'head', limit: 1 }));
  if (!response.ok) return '';
  const { cursor } = (await response.json()) as ResponseOf<typeof CHANGES_OPERATION>;
  return urlFor(CHANGES_OPERATION, { ...feed, cursor });
}

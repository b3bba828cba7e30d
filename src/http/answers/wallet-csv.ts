// Sends the grants of a wallet as a CSV file, or a page that says why there is none.

import { Fault, readAddress } from '../../api/params.ts';
import { badRequest } from '../../api/problems.ts';
import { checksummed } from '../../registry/checksum.ts';
import { Refusal } from '../../web/ask-api.ts';
import type { ExplorerQuery } from '../../web/explorer/explorer-query.ts';
import { pageResponse } from '../../web/page.ts';
import { csvName, csvParts, readCsvPage, renderNoCsv } from '../../web/wallet/wallet-csv.ts';
import { readWalletView } from '../../web/wallet/wallet-view.ts';
import type { Call } from '../context/service.ts';
import { streamParts } from '../wire/stream-parts.ts';

export async function answerWalletCsv(query: ExplorerQuery, { request, service, ask, caller }: Call) {
  const address = readAddress(query.values.get('wallet') ?? '');
  if (address instanceof Fault) throw badRequest([{ parameter: 'wallet', detail: address.detail }]);
  // A misspelt filter must not give a longer file than the user asked for.
  if (query.faults.length > 0) throw badRequest(query.faults);
  const view = readWalletView(checksummed(address), query);
  if (view.chainIds.length === 0) throw badRequest([{ parameter: 'chain', detail: 'is not served here' }]);
  const { longLists, sandbox } = service;
  const end = longLists.beginFile(caller());
  // The first page comes before the status: a file that cannot be made must not start.
  const first = await readCsvPage({ ...view, cursor: '' }, ask).catch((error) => {
    end();
    throw error;
  });
  // The body of a HEAD is not sent.
  if (first instanceof Refusal || request.method === 'HEAD') end();
  if (first instanceof Refusal)
    return pageResponse(renderNoCsv(view, first), { status: first.status, sandbox, cache: 'no-store' });
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${csvName(view)}"`,
    'cache-control': 'no-store',
  };
  return streamParts(csvParts(view, first, ask), { headers }, end, service);
}

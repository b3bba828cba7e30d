// The checks: one question, one value.

import type { CheckOperation } from '../api/operations.ts';
import { type CheckRequest, readCheck } from '../api/request.ts';
import { answer } from '../registry/check.ts';
import type { CheckResult, DetailedDelegation, HeldDelegation } from '../store/store.ts';
import { readAsOf, requireFresh } from './as-of.ts';
import { detailedText, numberText } from './json.ts';
import { isKnown, replyHeaders, requireServed, type Service, tellUnread } from './reply.ts';

export async function answerCheck(
  operation: CheckOperation,
  query: string,
  request: Request,
  service: Service,
): Promise<Response> {
  const asked = readCheck(operation, query);
  requireServed(asked.chainId, operation.version, service.chainIds);
  const pair = { chainId: asked.chainId, to: asked.question.to };
  const { result, reach } = await tellUnread(pair, service, ask(asked, service));
  const now = service.now();
  requireFresh(result.chain, reach, now, service);
  if (result.granting.length === 0) service.onDenied?.(asked.chainId, asked.question);

  const headers = replyHeaders(result.chain, result.block, now, asked);
  const body = asked.explain ? explanationText(asked, result) : valueText(asked, result);
  // Small enough to be its own tag: a changed answer never keeps it, an unchanged one may.
  headers['etag'] = ETAGS.get(body) ?? etagOf(body);
  return isKnown(request, headers['etag'])
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers });
}

const etagOf = (body: string) => `"${Bun.hash.wyhash(body).toString(36)}"`;
/** Of nearly all answers. */
const ETAGS = new Map(['true', 'false'].map((body) => [body, etagOf(body)]));

function ask(asked: CheckRequest, { store }: Service) {
  const { chainId, question } = asked;
  const read: (block?: number) => Promise<CheckResult<HeldDelegation>> = asked.explain
    ? (block) => store.explain(chainId, question, block)
    : (block) => store.check(chainId, question, block);
  return readAsOf(store, chainId, asked, read);
}

function valueText({ question, numbers }: CheckRequest, { granting }: CheckResult<HeldDelegation>): string {
  const value = answer(question, granting);
  return typeof value === 'bigint' ? numberText(value, numbers) : String(value);
}

function explanationText(asked: CheckRequest, result: CheckResult<HeldDelegation>): string {
  const { number, hash, timestamp } = result.block;
  // What is explained was read in detail.
  const granting = (result.granting as readonly DetailedDelegation[]).map((delegation) =>
    detailedText(delegation, asked.chainId, asked.numbers),
  );
  const block = JSON.stringify({ number, hash, timestamp });
  return `{"result":${valueText(asked, result)},"delegations":[${granting.join(',')}],"block":${block}}`;
}

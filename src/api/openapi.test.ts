// The document is committed as the code makes it, passes a linter, and its examples are true.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { temporaryPath } from '../../test/support/engines.ts';
import { block, timeOf } from '../../test/support/fixtures.ts';
import { appOf, tokensOf } from '../../test/support/serving.ts';
import type { TokenReader } from '../chain/tokens/token-reader.ts';
import type { App } from '../http/server/app.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { EXAMPLE_DELEGATIONS, EXAMPLE_TOKENS, EXAMPLES } from './examples.ts';
import { openApi, openApiText } from './openapi.ts';
import { OPERATIONS } from './operations.ts';
import { feedCursor } from './params.ts';

const COMMITTED = `${import.meta.dir}/../../openapi.json`;

describe('the OpenAPI document', () => {
  test('is committed as the code makes it (npm run openapi writes it)', async () => {
    expect(await Bun.file(COMMITTED).text()).toBe(openApiText());
  });

  test('has no fault that a linter finds', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const found = await lintFromString({ source: openApiText(), absoluteRef: COMMITTED, config });
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  test('would not get past the linter with a fault', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const broken = openApiText().replace('"operationId": "listV1"', '"operationId": "listV2"');
    const found = await lintFromString({ source: broken, absoluteRef: COMMITTED, config });
    expect(found.map(({ ruleId }) => ruleId)).toContain('operation-operationId-unique');
  });

  test('has an example for every operation, and every operation', () => {
    const ids: string[] = OPERATIONS.filter(({ tag }) => tag !== 'status').map(({ id }) => id);
    expect([...new Set(EXAMPLES.map(({ operation }) => operation))].sort()).toEqual(ids.sort());
    expect(Object.keys(openApi()['paths'] as object)).toEqual(
      expect.arrayContaining(OPERATIONS.map(({ path }) => path)),
    );
  });
});

describe('the examples of the document', () => {
  let store: Store;
  let app: App;
  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('examples.db')}`);
    const { epoch } = await store.claim(1, 100);
    const head = block(
      100,
      EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const),
    );
    await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head, verified: head.number });
    const { owner, coin } = EXAMPLE_TOKENS;
    const balances: TokenReader['balances'] = async (_of, owners) => ({
      type: 'balances',
      balances: owners.map((one) => (one === owner ? coin.amount : 0n)),
    });
    app = appOf(store, timeOf(100), { tokens: { ...tokensOf(owner), balances } });
  });
  afterAll(() => store.close());

  /** Read back from the document, not from the table that it was made of. */
  const documented = Object.entries(openApi()['paths'] as Record<string, PathItem>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).flatMap(([type, { examples = {} }]) =>
          Object.values(examples).map((example) => ({ path, method, status: Number(status), type, ...example })),
        ),
      ),
    ),
  );

  test('are all there', () => {
    expect(documented).toHaveLength(EXAMPLES.length);
  });

  for (const {
    path,
    method,
    status,
    type,
    summary,
    value,
    'x-request': request,
    'x-request-body': body,
  } of documented) {
    test(`${path}: ${summary}`, async () => {
      const sent = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const init = { method: method.toUpperCase(), ...(body === undefined ? {} : sent) };
      const response = await app.fetch(new Request(`http://localhost${request}`, init));
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toStartWith(type);
      const text = (await response.text()).replace(/"cursor":"[\w-]+"/, `"cursor":"${feedCursor.example}"`);
      expect(text).toBe(JSON.stringify(value));
    });
  }
});

interface DocumentedExample {
  readonly summary: string;
  readonly value: unknown;
  readonly 'x-request': string;
  readonly 'x-request-body'?: object;
}

type PathItem = Record<
  string,
  {
    readonly responses: Record<string, { content?: Record<string, { examples?: Record<string, DocumentedExample> }> }>;
  }
>;

// Tests large numbers in JSON responses, byte by byte, over a real socket.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { RunningServer } from '../src/http/server/listener.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, CONTRACT, granted, HOT, timeOf } from './support/fixtures.ts';
import { rawClient } from './support/raw-http.ts';
import { serving } from './support/serving.ts';

const MAX = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
/** The first integer that a double cannot represent. */
const PAST_FLOAT = '9007199254740993';

let store: Store;
let server: RunningServer;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('numbers.db')}`);
  const { epoch } = await store.claim(1, 100);
  const head = block(100, [
    granted('ERC721', { tokenId: MAX_UINT256 }),
    granted('ERC721', { tokenId: BigInt(PAST_FLOAT) }),
    granted('ERC20', { amount: MAX_UINT256 }),
    granted('ERC1155', { tokenId: MAX_UINT256, amount: BigInt(PAST_FLOAT) }),
  ]);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  server = serving(store, timeOf(100));
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

/** The raw response body. */
async function bytes(path: string): Promise<string> {
  const client = rawClient(server.url);
  const answer = await client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  client.close();
  expect(answer?.status).toBe(200);
  return answer?.body ?? '';
}

const check = (scope: string, to: string, more: string) =>
  bytes(`/registry/v2/check/${scope}?to=${to}&from=${COLD}&contract=${CONTRACT}${more}`);

describe('on the wire', () => {
  const modes = [
    ['', (digits: string) => digits],
    ['&numbers=number', (digits: string) => digits],
    ['&numbers=string', (digits: string) => `"${digits}"`],
  ] as const;
  for (const [mode, written] of modes) {
    test(`balances of 2^256-1, 2^53+1 and 0${mode}`, async () => {
      const bodies = [
        await check('erc20', HOT, mode),
        await check('erc1155', HOT, `&tokenId=${MAX}${mode}`),
        await check('erc20', COLD, mode),
      ];
      console.log(bodies.join('  '));
      expect(bodies).toEqual([MAX, PAST_FLOAT, '0'].map(written));
    });

    test(`token ids of 2^256-1 and 2^53+1 in a list${mode}`, async () => {
      const body = await bytes(`/registry/v2/${COLD}?direction=outgoing&detail=full${mode}`);
      const ids = [...body.matchAll(/"tokenId":("?\d+"?|null)/g)].map(([, id]) => id);
      expect(ids).toEqual([written(MAX), written(PAST_FLOAT), 'null', written(MAX)]);
      const amounts = [...body.matchAll(/"amount":("?\d+"?|null)/g)].map(([, amount]) => amount);
      expect(amounts).toEqual(['null', 'null', written(MAX), written(PAST_FLOAT)]);
    });
  }

  test('a record is serialized to exactly these bytes', async () => {
    const [first] = /\{[^}]*\}/.exec(await bytes(`/registry/v2/${HOT}`)) ?? [];
    expect(first).toBe(
      `{"type":"TOKEN","from":"${checksummed(COLD)}","to":"${checksummed(HOT)}","contract":"${checksummed(CONTRACT)}","tokenId":${MAX}}`,
    );
  });

  test('token ids that differ in the last digit are different tokens', async () => {
    expect(await check('erc721', HOT, `&tokenId=${PAST_FLOAT}`)).toBe('true');
    for (const id of ['9007199254740992', '9007199254740994', String(MAX_UINT256 - 1n)]) {
      expect(await check('erc721', HOT, `&tokenId=${id}`)).toBe('false');
    }
    expect(await check('erc721', HOT, `&tokenId=${MAX}`)).toBe('true');
  });
});

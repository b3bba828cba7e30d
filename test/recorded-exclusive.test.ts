// The genuine exclusive resolver's answers, asked over HTTP: at the head when it was that block, and as of it afterwards.

import { describe, expect, test } from 'bun:test';
import { EXCLUSIVE } from '../src/api/exclusive-operations.ts';
import { urlFor } from '../src/api/url.ts';
import type { TokenReader } from '../src/chain/tokens/token-reader.ts';
import { checksummed } from '../src/registry/checksum.ts';
import type { Address } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { ENGINES } from './support/engines.ts';
import { appOf, tokensOf } from './support/serving.ts';
import { blockInput, EXCLUSIVE_RECORDING, type RecordedBlock } from './support/vectors.ts';

const { chainId, owners, blocks, checkpoints } = EXCLUSIVE_RECORDING;
const ownerOf = new Map(owners.map(([contract, tokenId, owner]) => [`${contract}${tokenId}`, owner]));
const tokens: TokenReader = {
  ...tokensOf(owners[0]?.[2] as Address),
  ownerOf: async ({ contract }, tokenId) => ({
    type: 'owner',
    owner: ownerOf.get(`${contract}${tokenId}`) as Address,
  }),
};

type Moment = { readonly block?: number; readonly timestamp?: number };
type Ask = (url: string) => Promise<Record<string, unknown>>;

/** What differs from the recorded answers of a checkpoint, and how many were compared. */
async function compare({ exclusive }: (typeof checkpoints)[number], moment: Moment, ask: Ask) {
  const different: unknown[] = [];
  let compared = 0;
  const expectAnswer = async (url: string, expected: unknown, of: (body: Record<string, unknown>) => unknown) => {
    const body = await ask(url);
    compared++;
    if (!Bun.deepEquals(of(body), expected)) different.push({ url, body, expected });
  };
  for (const [contract, tokenId, rights, answer] of exclusive.owner) {
    const asked = { contract, tokenId, rights, ...moment };
    const owner = ownerOf.get(`${contract}${tokenId}`) as Address;
    for (const more of [{}, { owner }])
      await expectAnswer(urlFor(EXCLUSIVE.owner, { ...asked, ...more }), checksummed(answer), ({ wallet }) => wallet);
  }
  for (const [vault, rights, answer] of exclusive.wallet) {
    const url = urlFor(EXCLUSIVE.wallet, { vault, rights, ...moment });
    await expectAnswer(url, checksummed(answer), ({ wallet }) => wallet);
  }
  for (const [wallet, rights, answers] of exclusive.wallets) {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ask(urlFor(EXCLUSIVE.vaults, { wallet, rights, ...moment, limit: 2, cursor }));
      found.push(...(page['vaults'] as { vault: string }[]).map(({ vault }) => vault));
      cursor = (page['next'] as string | null) ?? undefined;
    } while (cursor !== undefined);
    compared++;
    // A vault can occur twice in the list of the contract.
    const expected = [...new Set(answers)].sort().map(checksummed);
    if (!Bun.deepEquals(found, expected)) different.push({ wallet, rights, found, expected });
  }
  return { different, compared };
}

for (const engine of ENGINES) {
  describe(`the recorded resolver on ${engine.name}`, () => {
    test('answers the same now, as of each checkpoint, and at its time', async () => {
      const store = await openStore(await engine.fresh());
      const { epoch } = await store.claim(chainId, blocks[0]?.number ?? 0);
      const appAt = ({ timestamp }: RecordedBlock) => {
        const app = appOf(store, timestamp, { tokens, maxLag: () => 60, onError: (e) => console.log(e) });
        return async (path: string) => {
          const response = await app.fetch(new Request(`http://localhost${path}`));
          expect([path, response.status]).toEqual([path, 200]);
          return (await response.json()) as Record<string, unknown>;
        };
      };
      let after: RecordedBlock | null = null;
      let compared = 0;
      const count = async (one: (typeof checkpoints)[number], moment: Moment, ask: Ask) => {
        const found = await compare(one, moment, ask);
        expect(found.different).toEqual([]);
        compared += found.compared;
      };
      for (const block of blocks) {
        await store.apply({ chainId, epoch, after, blocks: [blockInput(block)], head: block, verified: block.number });
        after = block;
        const checkpoint = checkpoints.find(({ blockNumber }) => blockNumber === block.number);
        if (checkpoint !== undefined) await count(checkpoint, {}, appAt(block));
      }
      const ask = appAt(blocks.at(-1) as RecordedBlock);
      for (const one of checkpoints) await count(one, { block: one.blockNumber }, ask);
      // Blocks of a second are one moment: only the last one is asked by its time.
      for (const one of checkpoints) {
        const next = blocks.find(({ number }) => number === one.blockNumber + 1);
        if (next !== undefined && next.timestamp > one.timestamp) await count(one, { timestamp: one.timestamp }, ask);
      }
      console.log(`${engine.name}: ${compared} answers of the resolver compared, 0 different`);
      await store.close();
    }, 120_000);
  });
}

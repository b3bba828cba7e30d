import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, ended, granted } from '../../../test/support/fixtures.ts';
import type { Engine } from '../engine.ts';
import { createIndexHash } from '../index-hash.ts';
import { openEngine } from '../open.ts';
import { migrate } from '../schema.ts';
import type { BlockInput } from '../store.ts';
import { createWrites } from './writes.ts';

const tokens = (from: number, to: number, change = granted) =>
  Array.from({ length: to - from }, (_, id) => change('ERC721', { tokenId: BigInt(from + id) }));

/** Grants, ends and grants again across the parts of a commit. */
const BLOCKS = [
  block(101, tokens(0, 3000)),
  block(102, tokens(0, 2000, ended)),
  block(103, [...tokens(0, 1000), ...tokens(3000, 5000)]),
  block(104, tokens(500, 3500, ended)),
];

/** What the commits leave, and the most rows of a statement. */
async function commit(...commits: readonly BlockInput[][]) {
  const engine = await openEngine(`sqlite:${temporaryPath('apply.db')}`, {});
  await migrate(engine);
  let most = 0;
  const watched: Engine = {
    ...engine,
    transaction: (work, timeout) =>
      engine.transaction(
        (tx) =>
          work({
            ...tx,
            each(statement, rows) {
              most = Math.max(most, rows.length);
              return tx.each(statement, rows);
            },
          }),
        timeout,
      ),
  };
  const writes = createWrites(watched, createIndexHash(7n));
  let state = await writes.claim(1, 100);
  for (const blocks of commits) {
    const head = blocks.at(-1) as BlockInput;
    state = await writes.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks, head });
  }
  const spans = await engine.rows('SELECT * FROM span ORDER BY since_block, since_log', []);
  const logs = await engine.rows('SELECT * FROM log ORDER BY block, log_index', []);
  await engine.close();
  return { most, spans, logs };
}

test('a large commit has at most 5,000 logs in a statement, and leaves what its blocks would one by one', async () => {
  const [whole, single] = [await commit(BLOCKS), await commit(...BLOCKS.map((one) => [one]))];
  expect([whole.most, whole.logs.length, whole.spans.length]).toEqual([5000, 11_000, 6000]);
  expect([whole.spans, whole.logs]).toEqual([single.spans, single.logs]);
});

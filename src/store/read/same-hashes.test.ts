// Checks beside delegations that have the same index hashes, on both engines: each differs in one field from what is asked.

import { expect, test } from 'bun:test';
import { newChain, VOTE } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT } from '../../../test/support/fixtures.ts';
import { runSql } from '../../../test/support/run-sql.ts';
import { answer, type Question } from '../../registry/check.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { openStore } from '../open.ts';

const other = address(5);
const asked: Question = {
  version: 2,
  scope: 'erc721',
  from: COLD,
  to: HOT,
  contract: CONTRACT,
  tokenId: 1n,
  rights: NO_RIGHTS,
};
const token = (fields = {}) => ({ tokenId: 1n, ...fields });

for (const { name, fresh } of ENGINES) {
  test(`on ${name}: a delegation with the hashes of another grants nothing in its place`, async () => {
    const url = await fresh();
    const store = await openStore(url);
    const chain = await newChain(store);
    const { chainId } = chain;
    await chain.add([
      block(101, [granted('ERC721', token()), granted('ERC721', token({ tokenId: 2n }))]),
      // As of block 101 the other one is the first to end.
      block(102, [ended('ERC721', token({ tokenId: 2n }))]),
      block(103, [
        ended('ERC721', token()),
        granted('ERC721', token({ tokenId: 3n })),
        granted('ERC721', token({ contract: other })),
        granted('ERC721', token({ rights: VOTE })),
        granted('ERC721', token({ to: other })),
        granted('ERC721', token({ from: other })),
        granted('ERC1155', token()),
        granted('TOKEN', token()),
      ]),
    ]);
    const first = `span WHERE chain = ${chainId} AND since_block = 101 AND since_log = 0`;
    const hashes = ['hot', 'key'].map((column) => `${column} = (SELECT ${column} FROM ${first})`).join(', ');
    await runSql(url, `UPDATE span SET ${hashes} WHERE chain = ${chainId}`);
    const expected = [undefined, 101, 102, 103].map((at) => [at, at === 101 || at === 102]);
    const found = async (read: (at?: number) => Promise<unknown>) =>
      Promise.all(expected.map(async ([at]) => [at, await read(at as number | undefined)]));
    expect(await found((at) => chain.ask(asked, at))).toEqual(expected);
    const { revision } = chain.state;
    const many = async (at = 103) => (await store.checkMany(chainId, [asked], { block: at, revision }))[0];
    expect(await found(many)).toEqual(expected);
    const explained = async (at?: number) => answer(asked, (await store.explain(chainId, asked, at)).granting);
    expect(await found(explained)).toEqual(expected);
    // PostgreSQL gathers what arrives together.
    const together = await Promise.all(Array.from({ length: 20 }, () => chain.ask(asked)));
    expect(together).toEqual(Array(20).fill(false));
    await store.close();
  });
}

// Anyone can make a v1 wallet with very many grants. One log revokes them all, in memory that does not grow with their number.

import { describe, expect, test } from 'bun:test';
import { answer, type Question } from '../src/registry/check.ts';
import { openStore } from '../src/store/open.ts';
import { ENGINES } from './support/engines.ts';
import { COLD, CONTRACT, HOT } from './support/fixtures.ts';
import { ENDS, GRANTED, GRANTS } from './support/large-wallet.ts';
import { ownMemory } from './support/processes.ts';
import { runSql } from './support/run-sql.ts';

/** Less than the rows of all grants would take. */
const MOST_GROWTH = 40e6;

for (const engine of ENGINES) {
  describe(`a large wallet on ${engine.name}`, () => {
    test('one log revokes all its grants, by wallet and by pair, in constant memory', async () => {
      const url = await engine.fresh();
      const child = Bun.spawn([process.execPath, `${import.meta.dir}/support/large-wallet.ts`, url], {
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'inherit',
      });
      const output = child.stdout.getReader();
      const line = async () => new TextDecoder().decode((await output.read()).value);
      expect(await line()).toBe('granted\n');
      const store = await openStore(url, { readOnly: true });
      const asks = (tokenId: bigint): Question => {
        return { version: 1, scope: 'token', from: COLD, to: HOT, contract: CONTRACT, tokenId };
      };
      for (const [turn, { type }] of ENDS.entries()) {
        const before = ownMemory(child.pid);
        let most = before;
        const watch = setInterval(() => {
          most = Math.max(most, ownMemory(child.pid));
        }, 20);
        child.stdin.write(`${turn}\n`);
        await child.stdin.flush();
        expect(await line()).toBe('ended\n');
        clearInterval(watch);
        const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
        console.log(`${engine.name}, ${type}: ${megabytes(before)}, at most ${megabytes(most - before)} more`);
        expect(most - before).toBeLessThan(MOST_GROWTH);
        const ended = `SELECT count(*) AS number FROM span WHERE until_block = ${GRANTED + 1}`;
        expect(Number((await runSql(url, ended))[0]?.['number'])).toBe(GRANTS);
        for (const id of [0n, 9999n, 10_000n, BigInt(GRANTS - 1)]) {
          const at = async (block?: number) => answer(asks(id), (await store.check(1, asks(id), block)).granting);
          expect([await at(GRANTED), await at()]).toEqual([true, false]);
        }
      }
      await store.close();
      child.stdin.end();
      expect(await child.exited).toBe(0);
    });
  });
}

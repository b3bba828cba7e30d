// delegations changes --follow: prints what happens on a chain, through a reorg, from a database and from a service.

import { afterAll, expect, test } from 'bun:test';
import { newChain } from '../../test/support/chain.ts';
import { removeTemporaryFiles, temporaryPath } from '../../test/support/engines.ts';
import { block, ended, granted } from '../../test/support/fixtures.ts';
import { PROGRAM, startServe } from '../../test/support/serve-process.ts';
import { openStore } from '../store/open.ts';

afterAll(removeTemporaryFiles);

/** Blocks of now: a service answers only about a fresh head. */
const now = Math.floor(Date.now() / 1000);
const blockOf = (...args: Parameters<typeof block>) => {
  const made = block(...args);
  return { ...made, timestamp: now - 60 + made.number - 100 };
};

for (const where of ['a database', 'a service'] as const) {
  test(`--follow prints what happens in ${where}, and what a reorg undoes`, async () => {
    const url = `sqlite:${temporaryPath('followed.db')}`;
    const store = await openStore(url);
    const chain = await newChain(store, 1);
    await chain.add([blockOf(100), blockOf(101, [granted('ALL')]), blockOf(102)]);
    const service = where === 'a service' ? await startServe(url, { MAX_LAG_1: '86400' }, 'api') : null;
    const child = Bun.spawn(
      [...PROGRAM, 'changes', '--follow', '--json', ...(service === null ? [] : ['--url', service.url])],
      { env: { ...process.env, DATABASE_URL: url, MAX_LAG_1: '86400' }, stdout: 'pipe', stderr: 'inherit' },
    );
    const reader = linesOf(child.stdout);
    /** The next lines that are not cursors. */
    const next = async () => {
      for (;;) {
        const { type, block: at } = JSON.parse((await reader.next()).value ?? '{}');
        if (type !== 'cursor') return `${type} ${at.number}`;
      }
    };
    try {
      expect(await next()).toBe('began 101');
      await chain.add([blockOf(103, [ended('ALL')]), blockOf(104)]);
      expect(await next()).toBe('ended 103');
      await chain.add([blockOf(103, [granted('CONTRACT')], 1), blockOf(104, [], 1)], { rollbackTo: 102 });
      expect([await next(), await next()]).toEqual(['undo 102', 'began 103']);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
      await service?.stop();
      await store.close();
    }
  });
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

// What both engines must do alike.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asksAll, asksErc20, newChain as chainIn, FIRST, failure, VOTE } from '../../test/support/chain.ts';
import { ENGINES } from '../../test/support/engines.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  delegation,
  ended,
  granted,
  HOT,
  hash,
  timeOf,
} from '../../test/support/fixtures.ts';
import { parseNetwork } from '../registry/custom-network.ts';
import { NO_RIGHTS } from '../registry/delegation.ts';
import type { Network } from '../registry/network.ts';
import { openStore } from './open.ts';
import { encodeKey } from './rows/key-columns.ts';
import { encodeCasing } from './rows/packed.ts';
import type { HeldDelegation, ListPage, ListPosition, Store } from './store.ts';

for (const engine of ENGINES) {
  describe(`a store on ${engine.name}`, () => {
    let url: string;
    let store: Store;
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
    });
    afterAll(() => store.close());

    const newChain = () => chainIn(store);

    test('a delegation holds from the end of its block until the end of the block before it is revoked', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(101, [granted('ALL')])]);
      await chain.add([block(105, [ended('ALL')]), block(106)]);
      const answers = [];
      for (const at of [100, 101, 104, 105, 106]) answers.push(await chain.ask(asksAll, at));
      expect(answers).toEqual([false, true, true, false, false]);
      expect(await chain.ask(asksAll)).toBe(false);
    });

    test('the registries of a chain that is not in the table are those that it was first claimed with', async () => {
      const own = 69_000;
      const named = (text: string) => parseNetwork(own, text) as Network;
      const claim = (text: string) => store.claim(own, FIRST, false, named(text));
      expect(await claim('Both,2s,v1')).toMatchObject({ epoch: 1, network: 'Both,2s,v1' });
      expect(await claim('Renamed,3s,v1')).toMatchObject({ epoch: 2, network: 'Renamed,3s,v1' });
      for (const other of ['Renamed,3s', 'Renamed,3s,v1,zksync'])
        expect((await failure(claim(other))).message).toContain('Set NETWORK_69000 as it was');
      expect(await store.chain(own)).toMatchObject({ epoch: 2, network: 'Renamed,3s,v1' });
      // Whoever only rolls back does not say which network it is.
      expect(await store.claim(own, FIRST)).toMatchObject({ epoch: 3, network: 'Renamed,3s,v1' });
      expect(await store.report(own, 3, { tip: 7 })).toMatchObject({ network: 'Renamed,3s,v1' });
      // It comes into the table: with the same registries nothing is lost.
      const { custom: _, ...listed } = named('Listed,3s,v1');
      expect(await store.claim(own, FIRST, false, listed)).toMatchObject({ epoch: 4, network: null });
      expect((await failure(claim('Both,2s,v1'))).message).toContain('was indexed as a network in the table');
    });

    test('many questions at once are refused like one, and after history was rewritten below their block', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(101, [granted('ALL')]), block(102)]);
      const many = (at: number, revision = chain.state.revision) =>
        store.checkMany(chain.chainId, [asksAll], { block: at, revision });
      expect(await many(102)).toEqual([true]);
      expect(await many(100)).toEqual([false]);
      expect((await failure(many(103))).code).toBe('beyond-head');
      expect((await failure(many(99))).code).toBe('before-first');
      expect((await failure(store.checkMany(99_999, [asksAll], { block: 1, revision: 0 }))).code).toBe('not-started');
      const bad = { ...asksAll, from: '0xnone' as const };
      const asked = store.checkMany(chain.chainId, [bad], { block: 101, revision: 0 });
      expect((await failure(asked)).code).toBe('bad-question');
      expect(await store.checkMany(chain.chainId, [], { block: 101, revision: chain.state.revision })).toEqual([]);
      const before = chain.state.revision;
      await chain.add([block(101), block(102)], { rollbackTo: 100 });
      expect((await failure(many(102, before))).code).toBe('rewritten');
      expect(await many(100, before)).toEqual([false]);
      expect(await many(102)).toEqual([false]);
    });

    test('many questions are refused by a store that is behind their revision, or has another history', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(101, [granted('ALL')])]);
      const { stamp, chain: state } = await store.pin(chain.chainId);
      const at = { block: 101, revision: state.revision, stamp };
      const many = (other: object) => store.checkMany(chain.chainId, [asksAll], { ...at, ...other });
      expect(await many({})).toEqual([true]);
      // As a replica would be that has not got the newest commit yet.
      expect((await failure(many({ revision: state.revision + 1 }))).code).toBe('rewritten');
      expect((await failure(many({ seen: state.revision + 1 }))).code).toBe('rewritten');
      // As after a restored backup.
      expect((await failure(many({ stamp: stamp + 1 }))).code).toBe('rewritten');
    });

    test('many questions at the head are of that block, also where a commit comes between', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(101, [granted('ALL')])]);
      let [wrong, asked] = [0, 0];
      let isOn = true;
      const writer = (async () => {
        for (let number = 102; number < 160; number++) {
          isOn = !isOn;
          await chain.add([block(number, [isOn ? granted('ALL') : ended('ALL')])]);
          await Bun.sleep(1);
        }
      })();
      let isOver = false;
      void writer.then(() => {
        isOver = true;
      });
      while (!isOver) {
        const state = await store.chain(chain.chainId);
        const at = { block: state?.head?.number ?? 0, revision: state?.revision ?? 0 };
        const questions = Array.from({ length: 600 }, () => asksAll);
        const answers = await store.checkMany(chain.chainId, questions, at);
        asked++;
        // Block 101 began it; every second block from there on has it.
        if (answers.some((answered) => answered !== (at.block % 2 === 1))) wrong++;
        await Bun.sleep(0);
      }
      await writer;
      expect([wrong, asked > 3]).toEqual([0, true]);
    });

    test('a lease has one holder, who may renew it; it is free when it is given back or over', async () => {
      const { chainId } = await newChain();
      expect(await store.lease(chainId, 'one', 60_000)).toBe('one');
      expect(await store.lease(chainId, 'two', 60_000)).toBe('one');
      await store.release(chainId, 'two');
      expect(await store.lease(chainId, 'two', 50)).toBe('one');
      expect(await store.lease(chainId, 'one', 50)).toBe('one');
      await Bun.sleep(60);
      expect(await store.lease(chainId, 'two', 60_000)).toBe('two');
      await store.release(chainId, 'two');
      expect(await store.lease(chainId, 'one', 60_000)).toBe('one');
      const taken = await Promise.all(
        ['a', 'b', 'c', 'd'].map((holder) => store.lease(chainId + 1_000_000, holder, 60_000)),
      );
      expect(new Set(taken).size).toBe(1);
    });

    test('granting the same thing again changes nothing, not even since when it holds', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ERC20')])]);
      await chain.add([block(102, [granted('ERC20')])]);
      expect(await chain.list()).toEqual([{ ...delegation('ERC20'), since: { block: 101, logIndex: 0 } }]);
    });

    test('a changed amount ends one span and begins another', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ERC20', { amount: 5n })])]);
      await chain.add([block(103, [granted('ERC20', { amount: 9n })])]);
      expect(await chain.ask(asksErc20, 102)).toBe(5n);
      expect(await chain.ask(asksErc20)).toBe(9n);
      expect((await chain.list())[0]?.since).toEqual({ block: 103, logIndex: 0 });
    });

    test('what begins and ends in one block leaves nothing', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL'), ended('ALL')]), block(102)]);
      expect(await chain.ask(asksAll, 101)).toBe(false);
      expect(await chain.list(101)).toEqual([]);
    });

    test('zero addresses, token 0 and the largest numbers come back exactly', async () => {
      const chain = await newChain();
      const most = 2n ** 256n - 1n;
      const events = [
        granted('ERC1155', { contract: address(0), tokenId: 0n, amount: most }),
        granted('ERC721', { tokenId: most, rights: `0x${'f'.repeat(64)}` }),
        granted('ERC721', { tokenId: 9_007_199_254_740_993n, rights: VOTE }),
        granted('TOKEN', { contract: address(0), tokenId: 0n }),
      ];
      await chain.add([block(101, events)]);
      const stored = [...(await chain.list()), ...(await chain.list(101, COLD, 1))].map(
        ({ since: _, ...rest }) => rest,
      );
      expect(stored).toEqual(events.flatMap((event) => (event.type === 'granted' ? [event.delegation] : [])));
    });

    test('the zero and one addresses never grant in v2, whatever was logged', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL', { from: address(0) }), granted('ALL', { from: address(1) })])]);
      expect(await chain.ask({ ...asksAll, from: address(0) })).toBe(false);
      expect(await chain.ask({ ...asksAll, from: address(1) })).toBe(false);
      expect(await chain.ask({ ...asksAll, from: address(1) }, 101)).toBe(false);
    });

    test('a rollback reopens what had ended and forgets what had begun, in one commit with its replacement', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')])]);
      await chain.add([block(102, [ended('ALL')]), block(103, [granted('ERC20')])]);
      await chain.add([block(102, [], 1), block(103, [granted('ERC721')], 1)], { rollbackTo: 101 });
      expect(await chain.ask(asksAll)).toBe(true);
      expect((await chain.list()).map(({ kind }) => kind)).toEqual(['ALL', 'ERC721']);
      expect((await store.blocks(chain.chainId, { from: 0, to: 200 })).map((kept) => kept.hash)).toEqual([
        hash(101),
        hash(102, 1),
        hash(103, 1),
      ]);
    });

    test('a commit can open a halted chain; any other leaves it halted', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const { epoch } = chain.state;
      await store.report(chain.chainId, epoch, { halt: { code: 'registry-mismatch', since: 1, block: 101 } });
      await chain.add([block(103)]);
      expect([chain.state.halt?.code, (await store.chain(chain.chainId))?.halt?.code]).toEqual(
        Array(2).fill('registry-mismatch'),
      );
      await chain.add([block(101, [granted('ALL')])], { blocks: [], rollbackTo: 101, resume: true });
      expect([chain.state.halt, await store.chain(chain.chainId)]).toMatchObject([
        null,
        { halt: null, head: { number: 101 } },
      ]);
    });

    test('a writer that was overtaken commits nothing', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')])]);
      const paused = chain.state;
      const taken = await store.claim(chain.chainId, FIRST);
      expect(taken.epoch).toBe(paused.epoch + 1);
      const late = await failure(chain.add([block(102, [ended('ALL')])]));
      expect(late.code).toBe('overtaken');
      expect((await failure(chain.repair([block(100, [ended('ALL')])]))).code).toBe('overtaken');
      expect(await store.chain(chain.chainId)).toEqual(taken);
      expect(await chain.ask(asksAll)).toBe(true);
    });

    test('a batch that was built on another head commits nothing', async () => {
      const chain = await newChain();
      await chain.add([block(101)]);
      const { code, message } = await failure(
        chain.add([block(103, [granted('ALL')])], { after: { number: 101, hash: hash(101, 9) } }),
      );
      expect(code).toBe('overtaken');
      expect(message).toContain(hash(101, 9));
      expect((await failure(chain.add([block(103)], { after: null }))).code).toBe('overtaken');
      expect((await store.chain(chain.chainId))?.head?.number).toBe(101);
    });

    test('a question about a block that is not indexed is refused, not answered with no', async () => {
      const chain = await newChain();
      expect((await failure(store.check(chain.chainId, asksAll))).code).toBe('not-started');
      expect((await failure(store.check(987_654, asksAll))).code).toBe('not-started');
      await chain.add([block(101)]);
      expect((await failure(store.check(chain.chainId, asksAll, 102))).code).toBe('beyond-head');
      expect((await failure(store.check(chain.chainId, asksAll, 99))).code).toBe('before-first');
      expect((await failure(store.blockAt(chain.chainId, timeOf(101)))).code).toBe('beyond-head');
      expect((await failure(store.blockAt(chain.chainId, timeOf(100)))).code).toBe('before-first');
    });

    test('a time means the last block that had begun by then, also where blocks share a second', async () => {
      const chain = await newChain();
      const twin = { ...block(103), timestamp: timeOf(102) };
      await chain.add([block(100), block(101), block(102), twin, block(105)]);
      const at = async (time: number) => (await store.blockAt(chain.chainId, time)).number;
      expect(await at(timeOf(101))).toBe(101);
      expect(await at(timeOf(102) - 1)).toBe(101);
      expect(await at(timeOf(102))).toBe(103);
      expect(await at(timeOf(105) - 1)).toBe(103);
    });

    test('an answer names the block it is true for, with hash and time where they are kept', async () => {
      const chain = await newChain();
      await chain.add([block(101), block(105, [granted('ALL')])]);
      const { block: now } = await store.check(chain.chainId, asksAll);
      expect(now).toEqual({ number: 105, hash: hash(105), timestamp: timeOf(105) });
      const { block: then } = await store.check(chain.chainId, asksAll, 103);
      expect(then).toEqual({ number: 103, hash: null, timestamp: null });
    });

    test('explain gives the time and transaction of what grants', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL', { rights: VOTE }), granted('ALL')]), block(102)]);
      const since = { block: 101, logIndex: 1, timestamp: timeOf(101), transactionHash: hash(101_001) };
      const casing = encodeCasing(encodeKey(delegation('ALL')));
      const expected = [{ ...delegation('ALL'), since, casing }];
      expect((await store.explain(chain.chainId, asksAll)).granting).toEqual(expected);
      expect((await store.explain(chain.chainId, asksAll, 101)).granting).toEqual(expected);
    });

    test('a pair with many grants is answered by looking up the few that matter', async () => {
      const chain = await newChain();
      const many = Array.from({ length: 50 }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
      await chain.add([block(101, [...many, granted('ERC721', { tokenId: 40n, rights: VOTE })])]);
      const asks = { version: 2, scope: 'erc721', from: COLD, to: HOT, contract: CONTRACT } as const;
      expect(await chain.ask({ ...asks, tokenId: 49n, rights: NO_RIGHTS })).toBe(true);
      expect(await chain.ask({ ...asks, tokenId: 50n, rights: NO_RIGHTS })).toBe(false);
      const { granting, block: at } = await store.check(chain.chainId, { ...asks, tokenId: 40n, rights: VOTE });
      expect(granting.map(({ rights }) => rights)).toEqual([NO_RIGHTS, VOTE]);
      expect(at.number).toBe(101);
    });

    test('pages of a list make the same list, incoming first, each delegation once', async () => {
      const chain = await newChain();
      const others = [1, 2, 3, 4, 5].map((of) => address(of + 10));
      const incoming = others.map((from) => granted('ALL', { from, to: COLD }));
      const outgoing = others.map((to) => granted('ALL', { to }));
      await chain.add([block(101, outgoing), block(102, [granted('ALL', { to: COLD }), ...incoming])]);
      await chain.add([block(103, [ended('ALL', { to: address(13) })])]);
      const whole = await chain.list(102);
      expect(whole).toHaveLength(11);
      const places = whole.map(({ since }) => [since.block, since.logIndex]);
      const inOrder = (at: number, count: number) => Array.from({ length: count }, (_, logIndex) => [at, logIndex]);
      expect(places).toEqual([...inOrder(102, 6), ...inOrder(101, 5)]);
      const at = { block: 102, revision: chain.state.revision };
      const base = { chainId: chain.chainId, version: 2, wallet: COLD, at, limit: 2 } as const;
      const paged = [];
      for (let after: ListPosition | null | undefined; after !== null; ) {
        const page: ListPage<HeldDelegation> = await store.list(after ? { ...base, after } : base);
        expect(page.delegations.length).toBeLessThanOrEqual(2);
        paged.push(...page.delegations);
        for (const [index, { since }] of page.delegations.entries())
          expect(page.positionOf(index).since).toEqual(since);
        after = page.next;
      }
      expect(paged).toEqual([...whole]);
      const one = async (direction: 'incoming' | 'outgoing') =>
        (await store.list({ ...base, limit: 100, direction })).delegations.length;
      expect([await one('incoming'), await one('outgoing')]).toEqual([6, 6]);
      const matches = ({ from }: { from: string }) => from === address(12);
      expect((await store.list({ ...base, limit: 100, matches })).delegations).toHaveLength(1);
      const detailed = await store.listDetailed({ ...base, limit: 1 });
      expect(detailed.delegations[0]?.since).toEqual({
        block: 102,
        logIndex: 0,
        timestamp: timeOf(102),
        transactionHash: hash(102_000),
      });
    });

    test('a renewed v2 grant keeps its place in the list, and a renewed v1 grant comes last', async () => {
      const chain = await newChain();
      const [one, other] = [address(11), address(12)];
      const v1 = { version: 1 } as const;
      const grants = (fields: object) => [
        granted('ALL', { to: one, ...fields }),
        granted('ALL', { to: other, ...fields }),
      ];
      await chain.add([block(101, [...grants({}), ...grants(v1), granted('ERC20', { to: one })])]);
      await chain.add([block(103, [ended('ALL', { to: one }), ended('ALL', { to: one, ...v1 })])]);
      await chain.add([block(105, [granted('ALL', { to: one }), granted('ALL', { to: one, ...v1 })])]);
      await chain.add([block(107, [granted('ERC20', { to: one, amount: 5n })])]);
      const list = async (version: 1 | 2, at?: number): Promise<unknown[]> =>
        (await chain.list(at, COLD, version)).map(({ kind, to, since }) => [kind, to, since.block]);
      const first = [
        ['ALL', one, 101],
        ['ALL', other, 101],
        ['ERC20', one, 101],
      ];
      expect([await list(2, 101), await list(2, 103)]).toEqual([first, first.slice(1)]);
      expect(await list(2, 105)).toEqual([
        ['ALL', one, 105],
        ['ALL', other, 101],
        ['ERC20', one, 101],
      ]);
      expect(await list(2)).toEqual([
        ['ALL', one, 105],
        ['ALL', other, 101],
        ['ERC20', one, 107],
      ]);
      expect(await list(1)).toEqual([
        ['ALL', other, 101],
        ['ALL', one, 105],
      ]);
      // A page that ends between two spans of one delegation.
      const at = { block: 101, revision: chain.state.revision };
      const base = { chainId: chain.chainId, version: 2, wallet: COLD, at, limit: 1 } as const;
      const found = [];
      for (let after: ListPosition | null | undefined; after !== null; ) {
        const page: ListPage<HeldDelegation> = await store.list(after ? { ...base, after } : base);
        found.push(...page.delegations);
        after = page.next;
      }
      const rows: unknown[] = found.map(({ kind, to, since }) => [kind, to, since.block]);
      expect(rows).toEqual(first);
    });

    test('a list as of a block that was the head when the last list was read has what ended since', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL'), granted('CONTRACT')])]);
      expect(await chain.list()).toHaveLength(2);
      await chain.add([block(102, [ended('ALL')])]);
      const kinds = async (at: number) => (await chain.list(at)).map(({ kind }) => kind);
      expect(await kinds(101)).toEqual(['ALL', 'CONTRACT']);
      expect(await kinds(102)).toEqual(['CONTRACT']);
      expect(await kinds(101)).toEqual(['ALL', 'CONTRACT']);
    });

    test('a list that was begun before history changed below its block ends with an error', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')]), block(102), block(103)]);
      const pinned = { block: 102, revision: chain.state.revision };
      const page = (block: number) =>
        store.list({ chainId: chain.chainId, version: 2, wallet: COLD, at: { ...pinned, block }, limit: 10 });
      await chain.add([block(103, [], 1)], { rollbackTo: 102 });
      expect((await page(102)).delegations).toHaveLength(1);
      expect((await failure(page(103))).code).toBe('rewritten');
      await chain.add([block(102, [], 2)], { rollbackTo: 101 });
      expect((await failure(page(102))).code).toBe('rewritten');
      expect((await page(101)).delegations).toHaveLength(1);
    });

    test('a block is repaired and its wallet derived again', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')]), block(104, [granted('ERC20')]), block(105)]);
      const missed = { ...block(102, [ended('ALL')]) };
      const state = await chain.repair([missed]);
      expect([await chain.ask(asksAll, 101), await chain.ask(asksAll, 102), await chain.ask(asksAll)]).toEqual([
        true,
        false,
        false,
      ]);
      expect(state.revision).toBe(2);
      expect((await failure(chain.repair([block(104, [], 1)]))).message).toContain('another hash');
      expect((await failure(chain.repair([block(106)]))).message).toContain('not indexed');
    });

    test('rebuilding the spans from the logs changes no answer', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL'), granted('ERC20')])]);
      await chain.add([block(102, [ended('ALL')])]);
      const before = [await chain.list(101), await chain.list(102)];
      await store.rebuild(chain.chainId);
      const revision = (await store.chain(chain.chainId))?.revision ?? 0;
      const list = async (at: number) =>
        (await store.list({ chainId: chain.chainId, version: 2, wallet: COLD, at: { block: at, revision }, limit: 9 }))
          .delegations;
      expect([await list(101), await list(102)]).toEqual(before);
      expect((await failure(store.rebuild(123_456))).code).toBe('not-started');
    });

    test('the stored logs can be read back as they were written', async () => {
      const chain = await newChain();
      const blocks = [
        block(101, [granted('ERC1155'), ended('ALL')]),
        block(103, [{ type: 'vaultRevoked', from: COLD }]),
      ];
      await chain.add(blocks);
      const range = { from: 100, to: 200, limit: 2 };
      const first = await store.logs(chain.chainId, range);
      const after = { block: 101, logIndex: 1 };
      const rest = await store.logs(chain.chainId, { ...range, after });
      const written = blocks.flatMap(({ logs, number, hash, timestamp }) =>
        logs.map((log) => ({ ...log, revoked: null, block: { number, hash, timestamp } })),
      );
      expect([...first, ...rest]).toEqual(written);
    });

    test('below the verified block only hashes of blocks with logs are kept, and the first', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(101), block(102, [granted('ALL')]), block(103), block(104)]);
      await chain.add([block(105)], { verified: 104 });
      const kept = await store.blocks(chain.chainId, { from: 0, to: 200 });
      expect(kept.map(({ number }) => number)).toEqual([100, 102, 104, 105]);
      expect(chain.state.verified).toBe(104);
      await chain.add([], { rollbackTo: 102, head: block(102) });
      expect(chain.state.verified).toBe(102);
    });

    test('block 0 can be the verified one', async () => {
      const chain = await chainIn(store, undefined, 0);
      await chain.add([block(0), block(1)], { verified: 0 });
      expect(chain.state.verified).toBe(0);
      await chain.add([block(1, [], 1)], { rollbackTo: 0 });
      expect(chain.state.verified).toBe(0);
    });

    test('what a rollback takes away is no longer confirmed, and a lower head was not seen by anybody yet', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(102)], { verified: 102 });
      await store.report(chain.chainId, chain.state.epoch, { confirmedAt: 1000, agreedBlock: 102 });
      await chain.add([block(103)]);
      expect(chain.state).toMatchObject({ confirmedAt: 1000, agreedBlock: 102 });
      await chain.add([block(101, [], 1), block(104, [], 1)], { rollbackTo: 100 });
      expect(chain.state).toMatchObject({ confirmedAt: 1000, agreedBlock: 100, verified: 100 });
      await chain.add([], { rollbackTo: 101, head: block(101, [], 1) });
      expect(chain.state).toMatchObject({ confirmedAt: null, agreedBlock: 100 });
      expect(await store.chain(chain.chainId)).toEqual(chain.state);
    });

    test('whether blocks can be proven is unknown until it is reported', async () => {
      const chain = await newChain();
      await chain.add([block(100)]);
      const found = [];
      for (const provable of [null, false, true]) {
        if (provable !== null) await store.report(chain.chainId, chain.state.epoch, { provable });
        found.push((await store.chain(chain.chainId))?.provable);
      }
      expect(found).toEqual([null, false, true]);
    });

    test('a commit without logs keeps the revision, one with logs or a rollback does not', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')])]);
      await chain.add([block(102)]);
      expect([chain.state.revision, chain.state.commits]).toEqual([1, 2]);
      await chain.add([block(102, [], 1)], { rollbackTo: 101 });
      expect(chain.state.revision).toBe(2);
    });

    test('chains do not mix', async () => {
      const [one, other] = [await newChain(), await newChain()];
      await one.add([block(101, [granted('ALL')])]);
      await other.add([block(101)]);
      expect([await one.ask(asksAll), await other.ask(asksAll)]).toEqual([true, false]);
      const known = (await store.chains()).map(({ chainId }) => chainId);
      expect(known).toContain(one.chainId);
      expect(known).toContain(other.chainId);
    });

    test('opening it again finds everything as it was', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')])]);
      const again = await openStore(url);
      expect(await again.chain(chain.chainId)).toEqual(chain.state);
      expect((await again.check(chain.chainId, asksAll)).granting).toHaveLength(1);
      await again.close();
    });

    test('a reader follows what a writer commits beside it', async () => {
      const chain = await newChain();
      const reader = await openStore(url, { readOnly: true });
      await chain.add([block(101)]);
      expect((await reader.check(chain.chainId, asksAll)).granting).toHaveLength(0);
      await chain.add([block(102, [granted('ALL')])]);
      const { granting, block: at } = await reader.check(chain.chainId, asksAll);
      expect([granting.length, at.number]).toEqual([1, 102]);
      await reader.close();
    });
  });
}

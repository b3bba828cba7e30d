// Every operation against the real service.

import {
  BadKey,
  BadRequest,
  ChainNotReady,
  type Change,
  type ClaimedBlock,
  createClient,
  NotAToken,
  NotYetIndexed,
  UnknownChain,
  Unproven,
} from 'delegations-client';
import { ensure, equal, rejects } from './assert.ts';
import type { Cases, Servers } from './suite.ts';
import {
  ADA,
  AGENT,
  BEN,
  CARD_AMOUNT,
  CARDS,
  CLEO,
  COIN,
  COLLECTION,
  DAN,
  DEAD_CHAIN,
  ELLA,
  FINN,
  GUS,
  HOT,
  LATE,
  MAX,
} from './world.ts';

const clientOf = ({ url }: Servers) => createClient({ url });
const pair = (from: string, to: string = HOT) => ({ from, to });

/** When Gus granted, and when he revoked. */
async function timesOfGus(servers: Servers) {
  const [entry] = await clientOf(servers).history({ wallet: GUS }).all();
  if (entry?.until == null) throw new Error('Gus has revoked nothing');
  return { granted: entry.since, revoked: entry.until };
}

const placeOf = (change: Change) => [change.type, 'logIndex' in change && [change.transactionHash, change.logIndex]];

export const ANSWERS: Cases = {
  async 'checks of every scope are true for what was granted, and false for the rest'(servers) {
    const { check } = clientOf(servers);
    const token = { contract: COLLECTION, tokenId: MAX };
    equal([await check.all(pair(ADA)), await check.all(pair(BEN))], [true, false]);
    equal(
      [
        await check.contract({ ...pair(BEN), contract: COLLECTION }),
        await check.contract({ ...pair(BEN), contract: COIN }),
      ],
      [true, false],
    );
    equal(
      [await check.erc721({ ...pair(CLEO), ...token }), await check.erc721({ ...pair(DAN), ...token })],
      [true, false],
    );
    const next = { contract: COLLECTION, tokenId: MAX - 1n };
    equal(
      [await check.token({ ...pair(FINN), ...next, version: 1 }), await check.erc721({ ...pair(CLEO), ...next })],
      [true, false],
    );
  },

  async 'a client that verifies gives the same answers, each proven, and throws what is not of a trusted block'({
    url,
  }) {
    const seen: number[] = [];
    const blockHash = ({ chainId, hash }: ClaimedBlock) => {
      seen.push(chainId);
      return hash;
    };
    const trusting = createClient({ url, verify: { blockHash } });
    const { check } = trusting;
    equal([await check.all(pair(ADA)), await check.all({ ...pair(BEN), version: 2 })], [true, false]);
    equal(await check.erc20({ ...pair(DAN), contract: COIN }), MAX - 1n);
    equal(await check.token({ ...pair(FINN), contract: COLLECTION, tokenId: MAX - 1n, version: 1 }), true);
    equal(await check.all({ ...pair(ADA, AGENT), rights: 'text:vote' }), true);
    const { delegations, result } = await trusting.explain.all(pair(ADA));
    equal([result, delegations.length], [true, 2]);
    const [yes, no, dead] = await trusting.checkMany({
      questions: [
        { check: 'all', ...pair(ADA) },
        { check: 'erc20', ...pair(BEN), contract: COIN },
        { check: 'all', ...pair(ADA), chainId: DEAD_CHAIN },
      ],
    });
    equal([yes.ok && yes.result, no.ok && no.result, dead.ok], [true, 0n, false]);
    equal(seen, Array(8).fill(1));
    const other = createClient({ url, verify: { blockHash: () => `0x${'11'.repeat(32)}` } });
    const error = await rejects(other.check.all(pair(ADA)), Unproven);
    equal(error.step, 'block');
    await rejects(other.explain.all(pair(ADA)), Unproven);
    await rejects(other.checkMany({ questions: [{ check: 'all', ...pair(ADA) }] }), Unproven);
    const many = Array.from({ length: 101 }, () => ({ check: 'all', ...pair(ADA) }) as const);
    await rejects(trusting.checkMany({ questions: many }), TypeError);
  },

  async 'checks of one registry ask that registry'(servers) {
    const { check } = clientOf(servers);
    const token = { contract: COLLECTION, tokenId: MAX - 1n };
    equal([await check.all({ ...pair(ADA), version: 1 }), await check.all({ ...pair(ADA), version: 2 })], [true, true]);
    equal(await check.contract({ ...pair(BEN), contract: COLLECTION, version: 1 }), false);
    equal(
      [await check.erc721({ ...pair(FINN), ...token }), await check.erc721({ ...pair(FINN), ...token, version: 2 })],
      [true, false],
    );
  },

  async 'a right counts only if it is named'(servers) {
    const { check } = clientOf(servers);
    equal(
      [await check.all(pair(ADA, AGENT)), await check.all({ ...pair(ADA, AGENT), rights: 'text:vote' })],
      [false, true],
    );
  },

  async 'amounts have every digit'(servers) {
    const { check } = clientOf(servers);
    const coin = { contract: COIN };
    const card = { contract: CARDS, tokenId: MAX };
    equal(await check.erc20({ ...pair(DAN), ...coin }), MAX - 1n);
    equal(await check.erc1155({ ...pair(ELLA), ...card }), CARD_AMOUNT);
    equal([await check.erc20({ ...pair(ADA), ...coin }), await check.erc20({ ...pair(BEN), ...coin })], [MAX, 0n]);
  },

  async 'token ids and amounts of lists have every digit'(servers) {
    const client = clientOf(servers);
    const [cleo] = await client.list({ wallet: CLEO }).all();
    const [ella] = await client.list({ wallet: ELLA, version: 2 }).all();
    const [finn] = await client.list({ wallet: FINN, version: 1 }).all();
    equal([cleo?.tokenId, ella?.tokenId, ella?.amount, finn?.tokenId], [MAX, MAX, CARD_AMOUNT, MAX - 1n]);
  },

  async 'an address may be written in each way that the API takes'(servers) {
    const client = clientOf(servers);
    for (const write of [
      (text: string) => text,
      (text: string) => text.toLowerCase(),
      (text: string) => `0x${text.slice(2).toUpperCase()}`,
    ]) {
      equal(await client.check.all({ from: write(ADA), to: write(HOT) }), true);
      const [delegate] = await client.delegates({ wallet: write(ADA) }).all();
      equal([delegate?.delegate, delegate?.grants[0]?.from], [HOT, ADA]);
    }
    const wrong = await rejects(client.check.all(pair(ADA.replace('adA', 'aDA'))), BadRequest);
    equal(
      wrong.problem.errors?.map(({ parameter }) => parameter),
      ['from'],
    );
  },

  async 'explain names the delegations and the block'(servers) {
    const { explain } = clientOf(servers);
    const { result, delegations, block } = await explain.all(pair(ADA));
    equal(
      [result, delegations.map(({ version, from, to }) => ({ version, from, to }))],
      [
        true,
        [
          { version: 2, from: ADA, to: HOT },
          { version: 1, from: ADA, to: HOT },
        ],
      ],
    );
    ensure(block.number > 0 && block.hash !== null, `a block: ${block.number} ${block.hash}`);
    for (const version of [1, 2] as const) {
      const { delegations } = await explain.all({ ...pair(ADA), version });
      equal(
        delegations.map(({ version, from, to }) => ({ version, from, to })),
        [{ version, from: ADA, to: HOT }],
      );
    }
    const amount = await explain.erc1155({ ...pair(ELLA), contract: CARDS, tokenId: MAX });
    equal([amount.result, amount.delegations[0]?.amount], [CARD_AMOUNT, CARD_AMOUNT]);
    equal((await explain.all(pair(BEN))).delegations, []);
  },

  async 'checkMany answers in the order of the questions, each with its block'(servers) {
    const client = clientOf(servers);
    const answers = await client.checkMany({
      questions: [
        { check: 'all', ...pair(ADA) },
        { check: 'all', ...pair(BEN) },
        { check: 'erc1155', ...pair(ELLA), contract: CARDS, tokenId: MAX },
        { check: 'token', ...pair(FINN), contract: COLLECTION, tokenId: MAX - 1n, version: 1 },
        { check: 'all', ...pair(ADA), chainId: DEAD_CHAIN },
      ],
    });
    equal(
      answers.map((answer) => (answer.ok ? answer.result : answer.error.name)),
      [true, false, CARD_AMOUNT, true, 'ChainNotReady'],
    );
    equal(
      answers.map((answer) => answer.ok && answer.block.number > 0),
      [true, true, true, true, false],
    );
    // Without types: an unknown answer must not be undefined, which is falsy.
    await rejects((async () => (answers[4] as { result?: unknown }).result)(), ChainNotReady);
  },

  async 'many wallets at once, each as it would be answered alone'(servers) {
    const client = clientOf(servers);
    const wallets = [HOT, ADA, '0x12'];
    const many = await client.vaultsMany({ wallets, contract: COLLECTION });
    const alone = await client.vaults({ wallet: HOT, contract: COLLECTION }).all();
    equal(
      many.map((one) => (one.ok ? one.rows.length : one.error.constructor.name)),
      [alone.length, 0, 'BadRequest'],
    );
    equal(
      many[0]?.ok && many[0].rows.map(({ vault }) => vault),
      alone.map(({ vault }) => vault),
    );
    // Nobody may read a missing answer as no.
    for (const field of ['rows', 'holds'] as const)
      await rejects((async () => (many[2] as unknown as Record<string, unknown>)[field])(), BadRequest);
    const [delegates] = await client.delegatesMany({ wallets: [ADA] });
    ensure(delegates?.ok === true && delegates.rows.some(({ delegate }) => delegate === HOT), 'a delegate of Ada');
    const held = await client.holdersMany({ wallets: [HOT, DAN], contract: COLLECTION, tokenId: MAX });
    const single = await Promise.all(
      [HOT, DAN].map((wallet) => client.holds({ wallet, contract: COLLECTION, tokenId: MAX })),
    );
    equal(
      held.map((one) => one.ok && one.holds),
      single,
    );
  },

  async 'vaults and delegates'(servers) {
    const client = clientOf(servers);
    const vaults = await client.vaults({ wallet: HOT, contract: COLLECTION }).all();
    equal(vaults.map(({ vault }) => vault).sort(), [ADA, BEN].sort());
    const narrower = await client.vaults({ wallet: HOT, contract: COLLECTION, narrower: true }).all();
    equal(
      narrower
        .filter((one) => one.narrower && one.vault !== LATE)
        .map(({ vault }) => vault)
        .sort(),
      [CLEO, FINN].sort(),
    );
    equal(
      (await client.delegates({ wallet: ADA, rights: 'text:vote' }).all()).map(({ delegate }) => delegate).sort(),
      [AGENT, HOT].sort(),
    );
  },

  async 'lists are read page by page, with the block of each page'(servers) {
    const client = clientOf(servers);
    for (const read of [
      (limit: number) => client.list({ wallet: ADA, limit }),
      (limit: number) => client.list({ wallet: ADA, version: 2, limit }),
      (limit: number) => client.history({ wallet: ADA, limit }),
      (limit: number) => client.vaults({ wallet: HOT, contract: COLLECTION, limit }),
    ]) {
      const rows: unknown[] = [];
      const blocks = new Set<string | null | undefined>();
      let pages = 0;
      for await (const page of read(1).pages()) {
        rows.push(...page.rows);
        for (const { block } of page.chains) blocks.add(block?.hash);
        pages++;
      }
      equal(rows, await read(1000).all());
      ensure(pages > 1 && blocks.size === 1 && !blocks.has(undefined), `pages of one block: ${pages} ${[...blocks]}`);
    }
  },

  async 'history has what ended'(servers) {
    const [entry, ...more] = await clientOf(servers).history({ wallet: GUS }).all();
    equal([entry?.type, entry?.from, more.length], ['ALL', GUS, 0]);
    ensure((entry?.until?.block ?? 0) > (entry?.since.block ?? 0), 'an end after the start');
  },

  async 'holders are the owners that a wallet may act for'(servers) {
    const client = clientOf(servers);
    const query = { wallet: HOT, contract: COLLECTION, tokenId: MAX };
    const pages = [];
    for await (const page of client.holders(query).pages()) pages.push(page);
    equal(
      pages.map(({ holds, rows }) => [holds, rows.map(({ owner, balance }) => [owner, balance])]),
      [[true, [[CLEO, 1n]]]],
    );
    ensure((pages[0]?.chains[0]?.block?.number ?? 0) > 0, 'a block');
    equal([await client.holds(query), await client.holds({ ...query, wallet: AGENT })], [true, false]);
    const [coins] = await client.holders({ wallet: HOT, contract: COIN, standard: 'ERC20' }).all();
    equal([coins?.owner, coins?.balance], [DAN, MAX - 1n]);
    const error = await rejects(client.holds({ wallet: HOT, contract: ADA }), NotAToken);
    equal(error.problem.cause, 'no-code');
  },

  async 'networks are those that are served'(servers) {
    const networks = await clientOf(servers).networks();
    equal(
      networks.map(({ chainId, ready }) => [chainId, ready]),
      [
        [1, true],
        [DEAD_CHAIN, false],
      ],
    );
  },

  async 'the client has a default chain and point in time, and a call may have its own'(servers) {
    const { granted, revoked } = await timesOfGus(servers);
    const { check, checkMany, list } = createClient({ ...servers, chainId: 1, block: granted.block });
    equal(await check.all(pair(GUS)), true);
    equal(await check.all({ ...pair(GUS), block: BigInt(revoked.block) }), false);
    equal(await check.all({ ...pair(GUS), timestamp: new Date(revoked.timestamp * 1000) }), false);
    equal((await list({ wallet: GUS }).all()).length, 1);
    const [atDefault] = await checkMany({ questions: [{ check: 'all', ...pair(GUS) }] });
    const [atOwn] = await checkMany({ questions: [{ check: 'all', ...pair(GUS) }], block: 'latest' });
    equal(
      [atDefault?.ok && [atDefault.result, atDefault.block.number], atOwn?.ok && atOwn.result],
      [[true, granted.block], false],
    );
    const onDead = createClient({ ...servers, chainId: DEAD_CHAIN, timeout: 5000 });
    await rejects(onDead.check.all(pair(ADA)), ChainNotReady);
    equal(await onDead.check.all({ ...pair(ADA), chainId: 1 }), true);
  },

  async 'block 0 is a point in time'(servers) {
    const { check } = createClient({ ...servers, block: 0 });
    equal([await check.all(pair(ADA)), await check.all({ ...pair(ADA), block: 0n })], [false, false]);
  },

  async 'what the service refuses is an error of its class'(servers) {
    const { check, holds } = createClient({ ...servers, timeout: 5000 });
    const wrong = await rejects(check.all({ from: 'ada.eth', to: '0x1' }), BadRequest);
    equal(wrong.problem.errors?.map(({ parameter }) => parameter).sort(), ['from', 'to']);
    const unknown = await rejects(check.all({ ...pair(ADA), chainId: 5 }), UnknownChain);
    equal(unknown.problem.chainIds, [1, DEAD_CHAIN]);
    await rejects(check.all({ ...pair(ADA), block: 1_000_000_000 }), NotYetIndexed);
    await rejects(createClient({ ...servers, key: 'not-a-key' }).check.all(pair(ADA)), BadKey);
    await rejects(holds({ wallet: HOT, contract: COIN, chainId: DEAD_CHAIN }), ChainNotReady);
  },

  async 'a chain that does not answer fails a list, and has its error in the pages'(servers) {
    const vaults = clientOf(servers).vaults({ wallet: HOT, chainId: 'served' });
    const pages = [];
    for await (const page of vaults.pages()) pages.push(page);
    equal(
      pages[0]?.chains.map(({ chainId, error }) => [chainId, error?.name ?? null]),
      [
        [1, null],
        [DEAD_CHAIN, 'ChainNotReady'],
      ],
    );
    equal(
      pages[0]?.rows.map(({ vault }) => vault),
      [ADA],
    );
    await rejects(vaults.all(), ChainNotReady);
  },

  async 'changes resume where a reader was aborted, without a gap or a repeat'(servers) {
    // Changes have no point in time: the default one is not sent.
    const client = createClient({ ...servers, block: 0 });
    const all = [];
    for await (const change of client.changes({ follow: false })) all.push(placeOf(change));
    ensure(all.length >= 10, `all changes: ${all.length}`);

    const aborter = new AbortController();
    const read: unknown[] = [];
    let cursor: string | undefined;
    const aborted = (async () => {
      for await (const page of client.changes({ limit: 2, signal: aborter.signal }).pages()) {
        read.push(...page.changes.map(placeOf));
        cursor = page.cursor;
        if (read.length === 6) aborter.abort(new Stop());
      }
    })();
    await rejects(aborted, Stop);
    equal(read.length, 6);
    for await (const change of client.changes({ limit: 2, cursor, follow: false })) read.push(placeOf(change));
    equal(read.slice(0, all.length), all);
  },

  async 'a second loop over changes continues where the first one ended'(servers) {
    const changes = clientOf(servers).changes({ wallet: GUS, follow: false });
    const types: string[] = [];
    for await (const { type } of changes) {
      types.push(type);
      break;
    }
    for await (const { type } of changes) types.push(type);
    equal(types, ['began', 'ended']);
  },

  async 'changes wait at the end for what happens next, until they are aborted'(servers) {
    const aborter = new AbortController();
    const { signal } = aborter;
    const changes = clientOf(servers).changes({ start: 'head', wallet: LATE, pollingInterval: 50, signal });
    const found: string[] = [];
    const reading = (async () => {
      for await (const page of changes.pages()) {
        if (found.length === 0 && page.changes.length === 0) await fetch(`${servers.faulty}/grant`);
        for (const change of page.changes) found.push(change.type);
        ensure((page.chains[0]?.block?.number ?? 0) > 0, 'a block');
        if (found.length > 0) aborter.abort(new Stop());
      }
    })();
    await rejects(reading, Stop);
    ensure(found.length > 0 && found.every((type) => type === 'began'), `new grants: ${found}`);
  },
};

class Stop extends Error {}

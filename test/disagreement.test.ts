// Tests what decides when nodes, receipts or the registry disagree, and what must not halt a chain. Each was a bug.

import { expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { Inconsistent, Lagging, Untrusted } from '../src/chain/rpc/errors.ts';
import { createProviderPool } from '../src/chain/rpc/provider-pool.ts';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { type FakeNode, type Fault, NO_ANSWER, Refusal, startFakeNode, withoutProofs } from './support/fake-node.ts';
import { unreadRevocations } from './support/stored.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type World, type WorldOptions } from './support/world.ts';

const [V, D, E] = WALLETS as [`0x${string}`, `0x${string}`, `0x${string}`];
const everything = WALLETS.flatMap((from) =>
  WALLETS.flatMap((to) => [
    { version: 2, scope: 'all', from, to, rights: NO_RIGHTS } as const,
    { version: 1, scope: 'all', from, to } as const,
  ]),
);
const quiet = () => [];
const one = (registry: 'v1' | 'v2', from: string, name: string, args: readonly (string | boolean)[], direct = true) => [
  { call: [registry, from, name, args], direct } as const,
];
const haltOf = async ({ one: { store } }: World) => (await store.chain(1))?.halt ?? null;
const countDisputes = async ({ one: { store } }: World) => (await store.chain(1))?.disputes.length ?? 0;

type Log = Readonly<Record<'blockHash' | 'transactionHash' | 'logIndex', string>>;
/** Changes the answer to one method. */
const on =
  (method: string, answer: (honest: () => unknown) => unknown): Fault =>
  (question, honest) =>
    question.method === method ? answer(honest) : honest();
const saysYes = withoutProofs(on('eth_call', () => `0x${'1'.padStart(64, '0')}`));
const hides = (hash: string | undefined) =>
  on('eth_getLogs', (honest) => (honest() as Log[]).filter(({ blockHash }) => blockHash !== hash));
const hangs: Fault = () => NO_ANSWER;
const noState: Fault = ({ method }, honest) => {
  if (/^eth_(call|getProof|getStorageAt)$/.test(method)) throw new Refusal(-32_000, 'missing trie node');
  return honest();
};

async function hour(world: World) {
  for (let turn = 0; turn < 6; turn++) {
    world.grow(1, quiet);
    world.one.clock += 601_000;
    await world.one.catchUp(60);
  }
}

/** Adds empty blocks one by one, so that earlier blocks become final. */
async function age(world: World, blocks = 30) {
  for (let turn = 0; turn < blocks; turn += 10) {
    world.grow(10, quiet);
    world.one.clock += 61_000;
    await world.one.catchUp();
  }
}

function inWorld(
  name: string,
  options: WorldOptions,
  check: (world: World, node: FakeNode, second: FakeNode) => Promise<void>,
) {
  test(name, async () => {
    const world = await createWorld(options);
    await world.rest();
    try {
      const [node, second] = world.nodes as [FakeNode, FakeNode];
      await check(world, node, second);
    } finally {
      await world.close();
    }
  });
}

inWorld(
  'a node on another branch does not write its logs into final history',
  { blocks: 10, nodes: 2 },
  async (world, liar) => {
    await age(world, 100);
    const { chain } = world;
    const from = `0x${'77'.repeat(20)}` as const;
    world.reorg(90, 95, (turn) => (turn === 10 ? one('v2', from, 'delegateAll', [D, NO_RIGHTS, true]) : []));
    const branch = world.chain;
    world.chain = chain;
    world.show();
    liar.chain = branch;
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0, providers: 1 });
    // Another branch is nobody's lie.
    expect(world.one.providers.all[0]?.failure?.cause).toBe('inconsistent');
    const question = { version: 2, scope: 'all', from, to: D, rights: NO_RIGHTS } as const;
    expect((await world.one.store.check(1, question)).granting).toEqual([]);
  },
);

inWorld(
  'a log that one of two nodes has lost, in its receipts too, does not halt the chain',
  { blocks: 120, nodes: 2 },
  async (world, liar) => {
    const lost = world.chain.slice(5).flatMap(({ transactions }) => transactions)[0]?.hash;
    const without = (logs: Log[]) => logs.filter(({ transactionHash }) => transactionHash !== lost);
    liar.fault = (question, honest) => {
      const answer = honest();
      if (question.method === 'eth_getLogs') return without(answer as Log[]);
      return question.method === 'eth_getTransactionReceipt'
        ? { logs: without((answer as { logs: Log[] }).logs) }
        : answer;
    };
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0, providers: 2 });
    expect(world.one.providers.all.map(({ failure }) => failure?.cause)).toEqual(['wrong-data', undefined]);
    expect(await haltOf(world)).toBeNull();
  },
);

inWorld(
  'one of two nodes with the transactions on another branch does not halt the chain',
  { blocks: 120, nodes: 2 },
  async (world, liar) => {
    const { chain } = world;
    world.reorg(110, 115);
    const branch = world.chain;
    world.chain = chain;
    world.show();
    liar.chain = branch.map((block, at) =>
      at < 10 ? block : { ...block, transactions: [...block.transactions, ...(chain[at]?.transactions ?? [])] },
    );
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 0, providers: 1 });
    expect(await haltOf(world)).toBeNull();
  },
);

inWorld(
  'a block whose log indexes shifted because a log was withheld is repaired in place',
  { blocks: 40, isProvable: false },
  async (world, node) => {
    world.grow(1, () => [
      ...one('v2', V, 'delegateAll', [D, NO_RIGHTS, true]),
      ...one('v2', V, 'delegateAll', [E, NO_RIGHTS, true]),
    ]);
    // The first of two logs is withheld, and the second has its index.
    const hash = world.chain.at(-1)?.hash;
    node.fault = on('eth_getLogs', (honest) =>
      (honest() as Log[])
        .filter((log) => !(log.blockHash === hash && log.logIndex === '0x0'))
        .map((log) => (log.blockHash === hash ? { ...log, logIndex: '0x0' } : log)),
    );
    await age(world);
    node.fault = null;
    const before = (await world.one.store.chain(1))?.head;
    expect(await world.one.follower.audit(FIRST, FIRST + 200)).toMatchObject({ repaired: 1 });
    expect((await world.one.store.chain(1))?.head).toEqual(before as never);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld(
  'a registry that contradicts the index halts nothing, and its wallets are answered again after a restart, once it agrees',
  { blocks: 120 },
  async (world, node) => {
    node.fault = saysYes;
    await world.one.follower.auditAnswers(everything);
    expect([await haltOf(world), (await countDisputes(world)) > 0]).toEqual([null, true]);
    node.fault = null;
    world.one.restart();
    await hour(world);
    expect(await countDisputes(world)).toBe(0);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld(
  'one temporary wrong answer does not dispute wallets forever if the state of that block is pruned soon',
  { blocks: 120 },
  async (world, node) => {
    node.fault = saysYes;
    await world.one.follower.auditAnswers(everything);
    node.fault = (question, honest) => {
      const recent = new Set<string>(world.chain.slice(-128).map(({ hash }) => hash));
      if (question.method === 'eth_call' && !recent.has(question.params[1].blockHash))
        throw new Refusal(-32_000, 'missing trie node');
      return honest();
    };
    for (let turn = 0; turn < 20; turn++) await age(world, 10);
    await hour(world);
    expect(await countDisputes(world)).toBe(0);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld(
  'a dispute caused by a lying node ends when the honest node is back',
  { blocks: 120, nodes: 2 },
  async (world, liar, good) => {
    liar.fault = saysYes;
    good.fault = () => new Response('', { status: 503 });
    await world.one.follower.auditAnswers(everything);
    expect(await countDisputes(world)).toBeGreaterThan(0);
    good.fault = null;
    await hour(world);
    expect(await countDisputes(world)).toBe(0);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld(
  'one temporary wrong answer of a node without the oldest history disputes nothing forever',
  { blocks: 120 },
  async (world, node) => {
    node.fault = saysYes;
    await world.one.follower.auditAnswers(everything);
    node.fault = (question, honest) => {
      if (question.method === 'eth_getLogs' && Number(question.params[0].fromBlock) < FIRST + 20)
        throw new Refusal(4444, 'pruned');
      return honest();
    };
    await hour(world);
    expect(await countDisputes(world)).toBe(0);
    expect((await world.one.follower.auditAnswers(everything))?.wrong).toEqual([]);
  },
);

inWorld(
  'wallets whose logs a node denies stay disputed while it is away, and are answered again when it has them',
  { blocks: 120, nodes: 2, isProvable: false, where: 'process' },
  async (world, _, liar) => {
    const denied = world.chain.slice(5).flatMap(({ transactions }) => transactions)[0]?.hash;
    const without = (logs: Log[]) => logs.filter(({ transactionHash }) => transactionHash !== denied);
    liar.fault = ({ method }, honest) => {
      const answer = honest();
      if (method === 'eth_getLogs') return without(answer as Log[]);
      return method === 'eth_getTransactionReceipt'
        ? { ...(answer as object), logs: without((answer as { logs: Log[] }).logs) }
        : answer;
    };
    await world.one.follower.audit(FIRST, FIRST + 200);
    expect(await countDisputes(world)).toBeGreaterThan(0);
    liar.fault = () => new Response('', { status: 503 });
    await age(world);
    expect(await countDisputes(world)).toBeGreaterThan(0);
    liar.fault = null;
    await age(world);
    expect(await countDisputes(world)).toBe(0);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld('return data that is not a yes or no does not count as an answer', { blocks: 120 }, async (world, node) => {
  for (const data of ['0x', `0x${'2'.padStart(64, '0')}`]) {
    node.fault = withoutProofs(on('eth_call', () => data));
    expect(await world.one.follower.auditAnswers(everything)).toEqual({ asked: 0, wrong: [] });
  }
  expect(await haltOf(world)).toBeNull();
});

inWorld(
  'a revocation that its wallet sent itself is settled by what was sent, where no node has state',
  { blocks: 10 },
  async (world, node) => {
    node.fault = noState;
    world.grow(1, () => [D, E].flatMap((to) => one('v1', V, 'delegateForAll', [to, true])));
    world.grow(1, () => one('v1', V, 'revokeDelegate', [D]));
    await world.one.catchUp();
    expect(await unreadRevocations(world.one.store, 1)).toEqual([]);
    expect(await world.expectRight()).toBeNull();
    // What comes after one that another contract sent waits with it.
    world.grow(1, () => one('v1', V, 'revokeDelegate', [E], false));
    world.grow(1, () => one('v1', V, 'revokeDelegate', [E]));
    await world.one.catchUp();
    expect(await unreadRevocations(world.one.store, 1)).toHaveLength(2);
  },
);

inWorld('a wallet whose state takes too long to read delays only itself', { blocks: 10 }, async (world, node) => {
  world.grow(1, () => one('v1', V, 'delegateForAll', [D, true]));
  await world.one.catchUp();
  node.fault = (question, honest) =>
    ['eth_getProof', 'eth_getStorageAt'].includes(question.method) ? NO_ANSWER : honest();
  world.grow(1, () => one('v1', V, 'revokeDelegate', [E], false));
  for (let turn = 0; turn < 10; turn++) {
    world.grow(1, quiet);
    world.one.clock += 30_000;
    await world.one.catchUp(1);
  }
  expect((await world.one.store.chain(1))?.head?.hash).toBe(world.chain.at(-1)?.hash as `0x${string}`);
  expect(await unreadRevocations(world.one.store, 1)).toMatchObject([{ vault: V, readAt: null }]);
  node.fault = null;
  await hour(world);
  expect(await world.expectRight()).toBeNull();
});

inWorld(
  'wallets that could not be read are retried a few at a time, whatever fails in between',
  { blocks: 10 },
  async (world, node) => {
    const vaults = Array.from({ length: 100 }, (_, at) => `0x1${(at + 1).toString(16).padStart(39, '0')}`);
    world.grow(1, () => vaults.flatMap((vault) => one('v1', vault, 'delegateForAll', [E, true])));
    node.fault = noState;
    world.grow(1, () => vaults.flatMap((vault) => one('v1', vault, 'revokeDelegate', [E], false)));
    await world.one.catchUp();
    expect(await unreadRevocations(world.one.store, 1)).toHaveLength(vaults.length);
    let calls = 0;
    node.fault = on('eth_getProof', (honest) => (++calls % 50 === 0 ? NO_ANSWER : honest()));
    for (let turn = 0; turn < 40; turn++) {
      world.grow(1, quiet);
      world.one.clock += 30_000;
      await world.one.catchUp(1);
    }
    const unread = (await unreadRevocations(world.one.store, 1)).filter(({ readAt }) => readAt === null);
    expect(unread.length).toBeLessThan(50);
    // A wallet that can never be read is retried less and less often.
    node.fault = noState;
    world.grow(1, () => one('v1', V, 'delegateForAll', [E, true]));
    world.grow(1, () => one('v1', V, 'revokeDelegate', [E], false));
    await hour(world);
    node.calls.clear();
    for (let turn = 0; turn < 50; turn++) {
      world.grow(1, quiet);
      world.one.clock += 12_000;
      await world.one.catchUp(1);
    }
    expect(node.calls.get('eth_getStorageAt') ?? 0).toBeLessThan(30 * unread.length + 30);
  },
);

test('a percent sign in a URL does not fail, and a key is redacted both encoded and decoded', () => {
  for (const url of ['https://node.example/100%', 'https://u:p%ss@node.example/', 'https://node.example/?key=a%25b'])
    expect(() => createProviderPool(MAINNET, [url])).not.toThrow();
  const { redact } = createProviderPool(MAINNET, ['https://rpc.example/v2/abc%2Bdefghijklmnop']);
  expect(redact('the key abc%2Bdefghijklmnop is over its limit')).not.toContain('defghijklmnop');
  expect(redact('the key abc+defghijklmnop is over its limit')).not.toContain('defghijklmnop');
  expect(redact('the key ABC+DefGhijklmnop of RPC.Example')).toBe('the key … of …');
});

test('a part of a URL is redacted from four characters on', () => {
  const { redact } = createProviderPool(MAINNET, ['https://node.example/abc/defg']);
  expect(redact('abc and defg')).toBe('abc and …');
});

test('a message is redacted before it is shortened', async () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const node = startFakeNode();
  node.fault = () => {
    throw new Refusal(-32_000, `${'x'.repeat(165)} the key ${secret} is over its limit`);
  };
  const error = await createRpc(`${node.url}/v2/${secret}`)
    .call('eth_blockNumber', [])
    .catch((caught: Error) => caught);
  expect((error as Error).message).toContain('xxx');
  expect((error as Error).message).not.toContain(secret.slice(0, 4));
  await node.stop();
});

test('a message of 100,000 characters is shortened in linear time', async () => {
  const node = startFakeNode();
  for (const said of ['x'.repeat(100_000), 'x-'.repeat(50_000), '0xff-'.repeat(20_000)]) {
    node.fault = () => {
      throw new Refusal(3, `execution reverted: ${said}`);
    };
    const error = (await createRpc(node.url)
      .call('eth_blockNumber', [])
      .catch((caught: Error) => caught)) as Error;
    expect(error.message).toStartWith('eth_blockNumber: execution reverted: ');
    expect(error.message.length).toBeLessThan(300);
  }
  await node.stop();
  // In quadratic time it takes minutes.
});

inWorld('a second node that hangs does not delay the first', { blocks: 40, nodes: 2 }, async (world, first, second) => {
  second.fault = hangs;
  if (!world.isProvable)
    first.fault = on('eth_getBlockByNumber', (honest) => {
      const block = honest() as object | null;
      return block && { ...block, logsBloom: `0x${'f'.repeat(512)}` };
    });
  for (let turn = 0; turn < 3; turn++) {
    world.grow(20, quiet);
    second.calls.clear();
    await world.one.follower.tick();
    // At most a few of the twenty blocks may wait for it.
    expect([...second.calls.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(5);
  }
});

inWorld(
  'a node that lost logs of blocks that are proven is found out without a single receipt',
  { blocks: 400 },
  async (world, node) => {
    while (await world.one.follower.prove());
    node.fault = on('eth_getLogs', () => []);
    node.calls.clear();
    expect(await world.one.follower.audit(FIRST, FIRST + 500)).toMatchObject({ repaired: 0, isComplete: true });
    expect(node.calls.get('eth_getBlockReceipts')).toBeUndefined();
    expect(world.one.providers.all[0]?.failure?.cause).toBe('wrong-data');
  },
);

inWorld('a repair whose state reads fail is completed later', { blocks: 10 }, async (world, node) => {
  world.grow(1, () => one('v1', V, 'delegateForAll', [D, true]));
  node.fault = hides(world.chain.at(-1)?.hash);
  await world.one.catchUp();
  world.grow(1, () => one('v1', V, 'revokeDelegate', [E], false));
  await world.one.catchUp();
  await age(world);
  node.fault = on('eth_getProof', () => NO_ANSWER);
  await world.one.follower.audit(FIRST, FIRST + 200).catch(() => {});
  node.fault = null;
  await age(world);
  await world.auditAll();
  await hour(world);
  expect((await unreadRevocations(world.one.store, 1)).filter(({ readAt }) => readAt === null)).toEqual([]);
  expect(await world.expectRight()).toBeNull();
});

inWorld(
  'without proofs, a wallet whose state was misread once is read again',
  { blocks: 10, isProvable: false },
  async (world, node) => {
    world.grow(1, () => one('v1', V, 'delegateForAll', [D, true]));
    await world.rest();
    // As if nothing held.
    node.fault = on('eth_getStorageAt', () => `0x${'0'.repeat(64)}`);
    world.grow(1, () => one('v1', V, 'revokeDelegate', [E], false));
    await world.one.catchUp();
    node.fault = null;
    await age(world);
    const asked = await world.one.follower.auditAnswers([{ version: 1, scope: 'all', from: V, to: D }]);
    expect(asked?.wrong).toHaveLength(1);
    await hour(world);
    expect(await world.expectRight()).toBeNull();
  },
);

inWorld('the audit of logs gets past history that its node has pruned', { blocks: 5 }, async (world, node) => {
  world.grow(2600, quiet);
  await world.rest();
  await age(world, 30);
  const auditor = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
  node.fault = (question, honest) => {
    if (question.method === 'eth_getLogs' && Number(question.params[0].fromBlock) < FIRST + 100)
      throw new Refusal(4444, 'pruned');
    return honest();
  };
  for (let turn = 0; turn < 30; turn++) {
    world.one.clock += 91_000;
    await auditor.run().catch(() => {});
  }
  expect(auditor.done.audited).toBeGreaterThan(1000);
});

inWorld('a reorg to a shorter branch is followed at once', { blocks: 40 }, async (world) => {
  world.grow(5, () => one('v2', V, 'delegateAll', [D, NO_RIGHTS, true]));
  await world.one.catchUp();
  world.reorg(5, 3, quiet);
  await world.one.catchUp(1);
  expect(await world.expectRight()).toBeNull();
  expect((await world.one.store.check(1, { ...everything[0], from: V, to: D } as never)).granting).toEqual([]);
});

inWorld(
  'a chain that lost its newest block is rolled back after a while',
  { blocks: 40, nodes: 2 },
  async (world, first, second) => {
    world.grow(1, () => one('v2', V, 'delegateAll', [D, NO_RIGHTS, true]));
    await world.one.catchUp();
    const shorter = world.chain.slice(0, -1);
    // One lagging node causes no rollback.
    first.chain = shorter;
    for (let turn = 0; turn < 5; turn++) {
      world.one.clock += 20_000;
      await world.one.catchUp(3);
    }
    expect(world.one.events.filter(({ type }) => type === 'reorg')).toEqual([]);
    // Both nodes have lost the block.
    second.chain = shorter;
    world.chain = shorter;
    for (let turn = 0; turn < 5; turn++) {
      world.one.clock += 20_000;
      await world.one.catchUp(3);
    }
    expect(await world.expectRight()).toBeNull();
  },
);

const causesOf = ({ one: { providers } }: World) => providers.all.map(({ failure }) => failure?.cause ?? null);

inWorld(
  'a node that lagged is healthy again with the next block that it has, although it is not picked',
  { blocks: 40, nodes: 2 },
  async (world, first) => {
    const late = world.chain;
    world.one.providers.failed({ name: '1/1' }, new Lagging('behind'), world.one.clock);
    // Not in the tick of the failure, although it has the block.
    await world.one.catchUp();
    expect(causesOf(world)).toEqual(['behind', null]);
    world.grow(1, quiet);
    first.chain = late;
    await world.one.catchUp();
    expect(causesOf(world)).toEqual(['behind', null]);
    first.chain = world.chain;
    world.one.clock += 1;
    await world.one.catchUp();
    expect(causesOf(world)).toEqual([null, null]);
  },
);

inWorld(
  'a reorg clears what providers said of the blocks that it replaces, and nothing else',
  { blocks: 40, nodes: 3 },
  async (world) => {
    const { number } = world.chain.at(-1) as { number: number };
    const { providers } = world.one;
    providers.failed({ name: '1/1' }, new Untrusted('of a new block', number), world.one.clock);
    providers.failed({ name: '1/2' }, new Untrusted('of an old block', number - 20), world.one.clock);
    providers.failed({ name: '1/3' }, new Inconsistent('of two branches'), world.one.clock);
    expect(causesOf(world)).toEqual(['wrong-data', 'wrong-data', 'inconsistent']);
    world.reorg(2, 3, quiet);
    await world.one.catchUp();
    expect(causesOf(world)).toEqual([null, 'wrong-data', null]);
    // What decides who is asked first stays.
    expect(providers.all[0]?.penalty).toBeGreaterThan(0);
  },
);

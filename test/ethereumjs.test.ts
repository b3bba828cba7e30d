// Follows EthereumJS, a node that shares no code with the others, while it reorganizes: every answer must be right for the block hash
// that it names. REORGS=all takes every depth from 1 to 30.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { encodeFunctionData, keccak256, parseAbi, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import artifacts from '../contracts/artifacts.json' with { type: 'json' };
import { createFollower } from '../src/chain/follow/follower.ts';
import { runFollower } from '../src/chain/follow/run-follower.ts';
import { createProviderPool } from '../src/chain/rpc/provider-pool.ts';
import { createRpc, type Rpc } from '../src/chain/rpc/rpc.ts';
import { answer } from '../src/registry/check.ts';
import type { Address, Bytes32 } from '../src/registry/delegation.ts';
import { encodeCall, type RegistryCall, versionOf } from '../src/registry/registry-call.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { StoreError } from '../src/store/errors.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { ALL_CHECKS } from './support/every-answer.ts';
import { createModel, type Model } from './support/model.ts';
import { createRandom } from './support/random.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { randomCalls } from './support/world.ts';

const CHAIN_ID = 1337;

interface BuiltBlock {
  readonly number: number;
  readonly hash: Bytes32;
  readonly parent: BuiltBlock | null;
  readonly calls: readonly RegistryCall[];
}

interface EthereumJs {
  readonly url: string;
  readonly genesis: BuiltBlock;
  /** Builds a block with these calls, one transaction for each list, on any block, and makes it the head. */
  build(parent: BuiltBlock, transactions: readonly (readonly RegistryCall[])[]): Promise<BuiltBlock>;
  stop(): Promise<void>;
}

/** Every transaction has a sender of its own, so that it fits on any branch. */
const SENDERS = 400;
const ZERO_HASH = `0x${'0'.repeat(64)}`;
/** By default, a server in Node ends a connection that was idle for five seconds, perhaps just when it is used again. */
const KEEP_ALIVE = `data:text/javascript,import http from 'node:http'; const { listen } = http.Server.prototype;
http.Server.prototype.listen = function (...args) { this.keepAliveTimeout = 0; return listen.apply(this, args); };`;
const EXECUTE = parseAbi(['struct Call { address to; bytes data; }', 'function execute(Call[] calls)']);

/** Driven through its Engine API, so that tests decide which block is the head. The wallets are contracts that make calls for anyone. */
async function startEthereumJs(wallets: readonly Address[]): Promise<EthereumJs> {
  const senders = Array.from({ length: SENDERS }, (_, turn) => privateKeyToAccount(keccak256(toHex(`sender ${turn}`))));
  const code = { [MAINNET.registries[1] as Address]: artifacts.RegistryV1.code };
  code[MAINNET.registries[2] as Address] = artifacts.RegistryV2.code;
  for (const wallet of wallets) code[wallet] = artifacts.BatchWallet.code;
  const alloc = Object.fromEntries([
    ...Object.entries(code).map(([address, text]) => [address, { balance: '0x0', code: text }]),
    ...senders.map(({ address }) => [address.toLowerCase(), { balance: toHex(10n ** 20n) }]),
  ]);
  const forks = ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul'];
  const genesis = {
    config: {
      chainId: CHAIN_ID,
      ...Object.fromEntries([...forks, 'berlin', 'london', 'mergeFork'].map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      shanghaiTime: 0,
    },
    ...{ nonce: '0x0', timestamp: '0x65000000', extraData: '0x', gasLimit: '0x1c9c380', difficulty: '0x0' },
    ...{ mixHash: ZERO_HASH, parentHash: ZERO_HASH, coinbase: `0x${'0'.repeat(40)}`, number: '0x0', gasUsed: '0x0' },
    baseFeePerGas: '0x7',
    alloc,
  };
  const folder = temporaryPath('ethereumjs');
  const genesisFile = `${folder}.json`;
  await Bun.write(genesisFile, JSON.stringify(genesis));
  const ports = [freePort(), freePort(), freePort()] as const;
  const program = join(import.meta.dir, '../node_modules/@ethereumjs/client/dist/esm/bin/cli.js');
  const options = {
    gethGenesis: genesisFile,
    dataDir: folder,
    rpcPort: ports[0],
    rpcEnginePort: ports[1],
    port: ports[2],
    rpcEngineAuth: false,
    discV4: false,
    discDns: false,
    logFile: `${folder}.log`,
    logRotate: false,
    logLevel: 'error',
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = Bun.spawn(
    ['node', '--import', KEEP_ALIVE, program, '--rpc', '--rpcEngine', '--isSingleNode', '--saveReceipts', ...flags],
    {
      stdout: 'ignore',
      stderr: 'pipe',
    },
  );
  const stop = async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
  const [rpc, engine] = [createRpc(`http://127.0.0.1:${ports[0]}`), createRpc(`http://127.0.0.1:${ports[1]}`)];
  const first = await untilUp(rpc, child).catch(async (error) => {
    await stop();
    throw error;
  });
  let [used, time] = [0, 0x65000000];

  async function send(calls: readonly RegistryCall[]): Promise<void> {
    const sender = senders[used++];
    const wallet = calls[0]?.[1] as Address;
    if (sender === undefined) throw new Error('There are no more senders.');
    const targets = calls.map((call) => ({
      to: MAINNET.registries[versionOf(call)] as Address,
      data: encodeCall(call) as `0x${string}`,
    }));
    const data = encodeFunctionData({ abi: EXECUTE, functionName: 'execute', args: [targets] });
    const fees = { gas: 2_000_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
    const raw = await sender.signTransaction({
      chainId: CHAIN_ID,
      type: 'eip1559',
      nonce: 0,
      to: wallet,
      data,
      ...fees,
    });
    await rpc.call('eth_sendRawTransaction', [raw]);
  }
  const choose = (head: string, attributes?: object) =>
    engine.call('engine_forkchoiceUpdatedV2', [
      { headBlockHash: head, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH },
      ...(attributes === undefined ? [] : [attributes]),
    ]) as Promise<{ payloadId: string | null; payloadStatus: { status: string } }>;

  return {
    url: `http://127.0.0.1:${ports[0]}`,
    genesis: { number: 0, hash: first, parent: null, calls: [] },
    async build(parent, transactions) {
      for (const calls of transactions) await send(calls);
      time += 12;
      const attributes = { prevRandao: ZERO_HASH, suggestedFeeRecipient: `0x${'0'.repeat(40)}`, withdrawals: [] };
      const { payloadId } = await choose(parent.hash, { timestamp: toHex(time), ...attributes });
      const built = (await engine.call('engine_getPayloadV2', [payloadId])) as {
        executionPayload: { blockHash: Bytes32; transactions: readonly string[] };
      };
      const { executionPayload: payload } = built;
      if (payload.transactions.length !== transactions.length) throw new Error('A transaction is not in its block.');
      await engine.call('engine_newPayloadV2', [payload]);
      const { payloadStatus } = await choose(payload.blockHash);
      if (payloadStatus.status !== 'VALID') throw new Error(`The block is ${payloadStatus.status}.`);
      return { number: parent.number + 1, hash: payload.blockHash, parent, calls: transactions.flat() };
    },
    stop,
  };
}

/** Resolves with the hash of the first block. */
async function untilUp(rpc: Rpc, child: Bun.Subprocess<'ignore', 'ignore', 'pipe'>): Promise<Bytes32> {
  for (;;) {
    try {
      const block = (await rpc.call('eth_getBlockByNumber', ['0x0', false])) as { hash: Bytes32 };
      return block.hash;
    } catch (error) {
      if (child.exitCode !== null)
        throw new Error(`EthereumJS did not start: ${(await child.stderr.text()).slice(-1000)}`, { cause: error });
      await Bun.sleep(100);
    }
  }
}

const DEPTHS = process.env['REORGS'] === 'all' ? Array.from({ length: 30 }, (_, at) => at + 1) : [1, 3, 12];
/** Blocks that are built before the first reorg: the deepest one replaces most of them. */
const BLOCKS = process.env['REORGS'] === 'all' ? 31 : 13;

/** The state of the registries at every block that was ever built. */
function createTruth() {
  const models = new Map<Bytes32, Model>();
  const callsUpTo = (block: BuiltBlock | null): RegistryCall[] =>
    block === null ? [] : [...callsUpTo(block.parent), ...block.calls];
  return {
    add(block: BuiltBlock) {
      const model = createModel();
      for (const call of callsUpTo(block)) model.call(call);
      models.set(block.hash, model);
    },
    at: (hash: Bytes32) => models.get(hash),
  };
}

/** Calls of each wallet in a transaction of its own, because a wallet is a contract that anyone may use. */
function someTransactions(random: () => number): readonly (readonly RegistryCall[])[] {
  const calls = randomCalls(random).map(({ call }) => call);
  return [...Map.groupBy(calls, ([, caller]) => caller).values()];
}

test('through reorgs, beside endless questions, every answer is right for the hash that it names', async () => {
  const random = createRandom(Number(process.env['REORG_SEED'] ?? 1));
  const node: EthereumJs = await startEthereumJs(WALLETS);
  const store = await openStore(`sqlite:${temporaryPath('ethereumjs.db')}`);
  const stopping = new AbortController();
  const truth = createTruth();
  truth.add(node.genesis);
  let head = node.genesis;
  const grow = async () => {
    head = await node.build(head, someTransactions(random));
    truth.add(head);
  };
  const seen = { answers: 0, yes: 0, refused: 0, blocks: new Set<string>(), wrong: [] as string[] };
  const network = { ...MAINNET, chainId: CHAIN_ID, provable: undefined };
  const follower = createFollower({
    network,
    store,
    providers: createProviderPool(network, [node.url]),
    now: Date.now,
    firstBlock: 0,
    finality: { blocks: 40 },
  });
  const following = runFollower(follower, { pollMs: 20, signal: stopping.signal, onError: () => {}, stalledMs: 1e9 });
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      await Bun.sleep(10);
      for (let turn = 0; turn < 10; turn++) {
        const { question, truth: trueOf } = ALL_CHECKS[
          Math.floor(Math.random() * ALL_CHECKS.length)
        ] as (typeof ALL_CHECKS)[0];
        try {
          const { granting, block } = await store.check(CHAIN_ID, question);
          const model = truth.at(block.hash as Bytes32);
          // The follower may see a block before the test has noted it down.
          if (model === undefined) continue;
          const said = answer(question, granting);
          seen.answers++;
          seen.yes += said ? 1 : 0;
          seen.blocks.add(String(block.hash));
          if (said !== trueOf(model))
            seen.wrong.push(
              `${JSON.stringify(question, (_, value) => (typeof value === 'bigint' ? String(value) : value))} at ${block.number}: ${said}`,
            );
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          seen.refused++;
        }
      }
    }
  })();
  const caughtUp = () =>
    eventually('followed', async () => ((await store.chain(CHAIN_ID))?.head?.hash === head.hash ? true : undefined));
  try {
    for (let turn = 0; turn < BLOCKS; turn++) await grow();
    await caughtUp();
    for (const depth of DEPTHS) {
      for (let back = 0; back < depth; back++) head = head.parent as BuiltBlock;
      for (let turn = 0; turn <= depth; turn++) await grow();
      await caughtUp();
    }
    expect((await store.chain(CHAIN_ID))?.provable).toBe(true);
  } finally {
    stopping.abort();
    await Promise.all([following, asking]);
    await store.close();
    await node.stop();
  }
  console.log(
    `EthereumJS, reorgs of depth ${DEPTHS.join(', ')}: ${seen.answers} answers at ${seen.blocks.size} blocks, ${seen.yes} of them yes, ${seen.refused} refused, ${seen.wrong.length} wrong`,
  );
  expect(seen.wrong.slice(0, 5)).toEqual([]);
  expect([seen.answers > 1000, seen.yes > 50, seen.blocks.size > DEPTHS.length]).toEqual([true, true, true]);
}, 1_200_000);

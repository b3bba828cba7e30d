// Follows a real node through reorgs: every check must return the registry's own answer.

import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import artifacts from '../contracts/artifacts.json' with { type: 'json' };
import { encodeCheck } from '../src/chain/audit/registry-answers.ts';
import { createRpc, type Rpc } from '../src/chain/rpc/rpc.ts';
import { answer, type Question } from '../src/registry/check.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { startEvm } from '../src/sandbox/evm.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { ALL_CHECKS } from './support/every-answer.ts';
import { prepareWallets, registryAnswers, SMART, send } from './support/evm-wallets.ts';
import { following } from './support/following.ts';
import { createRandom } from './support/random.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { randomCalls } from './support/world.ts';

interface NodeProgram {
  readonly url: string;
  readonly rpc: Rpc;
  stop(): Promise<void>;
}

/** npm has it for x86-64 only. The test fetches it, so that npm install works on other machines. */
const ANVIL = '@foundry-rs/anvil-linux-amd64@1.7.1';
/** An anvil that is already installed. */
const OWN = process.env['ANVIL'];
const hasAnvil = OWN !== undefined || (process.platform === 'linux' && process.arch === 'x64');

const NODE_PROGRAM = hasAnvil
  ? 'anvil'
  : `EDR, Hardhat's EVM (anvil is not installed on ${process.platform} ${process.arch}; ANVIL=<path> uses one)`;

/** Foundry's anvil if available, otherwise the sandbox's EVM. The chain id is 1, and both registries are at their real addresses. */
const startNodeProgram = (): Promise<NodeProgram> => (hasAnvil ? startAnvil() : startEvm());

async function startAnvil(): Promise<NodeProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'delegations-anvil-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const program = OWN ?? fetchAnvil(folder);
    const port = freePort();
    const command = [program, '--host', '127.0.0.1', '--port', String(port), '--chain-id', '1', '--silent'];
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' });
    const stop = async () => {
      child.kill();
      await child.exited;
      remove();
    };
    const url = `http://127.0.0.1:${port}`;
    const rpc = createRpc(url);
    try {
      for (let left = 300; (await rpc.call('eth_chainId', []).catch(() => null)) !== '0x1'; left--) {
        if (left === 0 || child.exitCode !== null) throw new Error(`anvil did not start: exit code ${child.exitCode}`);
        await Bun.sleep(100);
      }
      await rpc.call('anvil_setCode', [MAINNET.registries[1], artifacts.RegistryV1.code]);
      await rpc.call('anvil_setCode', [MAINNET.registries[2], artifacts.RegistryV2.code]);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url, rpc, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Downloads the package without running its install script. */
function fetchAnvil(folder: string): string {
  console.error(`This test runs on anvil: downloading ${ANVIL} from npm into a temporary folder.`);
  for (const command of [
    ['npm', 'pack', ANVIL, '--silent'],
    ['sh', '-c', 'tar xzf *.tgz'],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder, timeout: 120_000 });
    if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.toString().slice(-300)}`);
  }
  return join(folder, 'package/bin/anvil');
}

const ROUNDS = 24;

const grant: RegistryCall = ['v1', SMART, 'delegateForAll', [WALLETS[0], true]];

/** Blocks of a branch and of the branch that replaces it; null if none does. */
const BRANCHES: readonly (readonly [blocks: number, replacement: number | null])[] = [
  [1, null],
  [2, 3],
  [1, 1],
  [2, null],
  // Shorter, by one block and by several.
  [3, 2],
  [5, 1],
];

const QUESTIONS = ALL_CHECKS.map(({ question }) => question);

test(`${NODE_PROGRAM}: after growth, reorgs and shorter branches every check equals the result of eth_call`, async () => {
  const program = await startNodeProgram();
  const { rpc } = program;
  const random = createRandom(41);
  const counts = { checks: 0, yes: 0, reorgs: 0, shorter: 0, smartRevocations: 0 };
  const wrong: string[] = [];

  const mine = async (blocks: number) => {
    for (let turn = 0; turn < blocks; turn++) {
      const calls = randomCalls(random).map(({ call }) => call);
      if (random() < 0.4) calls.push(['v1', SMART, 'revokeDelegate', [WALLETS[Math.floor(random() * 3)] as string]]);
      for (const call of calls) {
        const isSmart = call[1] === SMART && call[0] === 'v1';
        if (isSmart && call[2] === 'revokeDelegate') counts.smartRevocations++;
        // The smart account grants and revokes in one transaction.
        await send(rpc, isSmart && random() < 0.5 ? [grant, call] : [call]);
      }
      await rpc.call('evm_mine', []);
    }
  };
  const tipOf = async () => {
    const tip = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as Record<string, string>;
    return { number: Number(tip['number']), hash: tip['hash'], timestamp: Number(tip['timestamp']) };
  };

  try {
    await prepareWallets(rpc);
    await rpc.call('evm_setAutomine', [false]);
    await mine(3);
    const { timestamp } = await tipOf();
    const one = await following([program], { firstBlock: 0, clock: timestamp * 1000, finality: { blocks: 20 } });

    /** Waits until the follower is at the chain's head, including the delay before it accepts a shorter chain. */
    const follow = async () => {
      const tip = await tipOf();
      one.clock = Math.max(one.clock, tip.timestamp * 1000);
      for (let left = 6; left > 0; left--) {
        await one.catchUp();
        if ((await one.store.chain(1))?.head?.hash === tip.hash) return tip;
        one.clock += 61_000;
      }
      throw new Error(`not at ${tip.number}; last error: ${one.errors.at(-1)?.stack}`);
    };
    const compare = async (questions: readonly Question[], block: number, isHead: boolean) => {
      const truths = await registryAnswers(rpc, questions, `0x${block.toString(16)}`);
      for (const [position, question] of questions.entries()) {
        const truth = truths[position];
        const { granting } = await one.store.check(1, question, ...(isHead ? [] : [block]));
        const ours = answer(question, granting);
        counts.checks++;
        if (ours) counts.yes++;
        if (ours !== truth) wrong.push(`${encodeCheck(question)} at ${block}: ${ours}, not ${truth}`);
      }
    };

    try {
      for (let round = 0; round < ROUNDS; round++) {
        const [blocks, replacement] = BRANCHES[round % BRANCHES.length] as (typeof BRANCHES)[number];
        const snapshot = await rpc.call('evm_snapshot', []);
        await mine(blocks);
        if (replacement !== null) {
          await follow();
          await rpc.call('evm_revert', [snapshot]);
          // The same transactions at the same time would give the same block hash.
          await rpc.call('evm_increaseTime', [30 + round]);
          await mine(replacement);
          counts.reorgs++;
          if (replacement < blocks) counts.shorter++;
        }
        const { number } = await follow();
        await compare(QUESTIONS, number, true);
      }
      const { number } = await follow();
      for (let block = 3; block <= number; block++) {
        const some = QUESTIONS.filter((_, position) => (position + block) % 10 === 0);
        await compare(some, block, false);
      }
    } finally {
      await one.close();
    }
  } finally {
    await program.stop();
  }
  console.log(
    `${NODE_PROGRAM}: ${counts.checks} checks against eth_call, ${counts.yes} of them not false, ${counts.reorgs} reorgs, ` +
      `${counts.shorter} of them to a shorter branch, ${counts.smartRevocations} revocations by a smart account: ` +
      `${wrong.length} wrong`,
  );
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(counts.checks).toBeGreaterThan(5000);
  expect(counts.yes).toBeGreaterThan(500);
  expect([counts.reorgs, counts.shorter]).toEqual([16, 8]);
  expect(counts.smartRevocations).toBeGreaterThan(20);
});

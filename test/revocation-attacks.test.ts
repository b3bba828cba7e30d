// Attacks with v1 revocations that do not name the delegate, on a real EVM: answers about other wallets must not be affected.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { decodeAbiParameters, parseAbiParameters } from 'viem';
import { decodeAnswer, encodeCheck } from '../src/chain/audit/registry-answers.ts';
import { MAX_DELEGATES } from '../src/chain/revocations/revocations.ts';
import { answer, type Question } from '../src/registry/check.ts';
import { type Address, NO_RIGHTS } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import { deploySmartWallet, type Evm, startEvm } from '../src/sandbox/evm.ts';
import { StoreError } from '../src/store/errors.ts';
import { execute, fund, OWNER, send } from './support/evm-wallets.ts';
import { type Following, following } from './support/following.ts';
import { type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { appOf } from './support/serving.ts';
import { unreadRevocations } from './support/stored.ts';
import { MAINNET } from './support/vectors.ts';

const wallet = (name: number): Address => `0x${name.toString(16).padStart(4, '0').repeat(10)}`;
const many = (from: number, count: number) => Array.from({ length: count }, (_, turn) => wallet(from + turn));

let evm: Evm;
let proxy: RpcProxy;
let one: Following;

beforeEach(async () => {
  evm = await startEvm();
  await fund(evm.rpc, [OWNER]);
  await evm.rpc.call('evm_setAutomine', [false]);
  proxy = startRpcProxy(evm.url);
  one = await following([proxy], { firstBlock: 0, clock: 0, finality: { blocks: 20 } });
});
afterEach(async () => {
  await one.close();
  await proxy.stop();
  await evm.stop();
});

async function mine(): Promise<{ number: number; hash: string }> {
  await evm.rpc.call('evm_mine', []);
  const tip = (await evm.rpc.call('eth_getBlockByNumber', ['latest', false])) as Record<string, string>;
  one.clock = Math.max(one.clock, Number(tip['timestamp']) * 1000);
  return { number: Number(tip['number']), hash: String(tip['hash']) };
}

/** The registry's own answer at a block. */
async function truth(question: Question, block: number): Promise<boolean | bigint> {
  const call = { to: MAINNET.registries[question.version], data: encodeCheck(question) };
  return decodeAnswer(question, String(await evm.rpc.call('eth_call', [call, `0x${block.toString(16)}`]))) as
    | boolean
    | bigint;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

describe('eight contract wallets that revoke a delegate in every block', () => {
  test('delay nothing: v2 is answered at every block, at no more than five times the cost of an ordinary block', async () => {
    const attackers = many(0xa000, 8);
    const ordinary = many(0xb000, 8);
    const delegates = many(0xd000, 4);
    await fund(evm.rpc, ordinary);
    for (const attacker of attackers) {
      await deploySmartWallet(evm.rpc, attacker);
      const grants = delegates.map((delegate): RegistryCall => ['v1', attacker, 'delegateForAll', [delegate, true]]);
      await execute(evm.rpc, attacker, grants);
    }
    const tip = await mine();
    await one.catchUp();
    expect(one.follower.state?.head?.number).toBe(tip.number);

    const [v2Cold, v2Hot] = [ordinary[0] as Address, wallet(0xe000)];
    const asks: Question = { version: 2, scope: 'all', from: v2Cold, to: v2Hot, rights: NO_RIGHTS };
    const costs = { ordinary: [] as Cost[], revoking: [] as Cost[] };
    for (let turn = 0; turn < 80; turn++) {
      const isRevoking = turn % 2 === 1;
      for (const [position, attacker] of attackers.entries()) {
        const delegate = delegates[(turn >> 1) % delegates.length] as Address;
        if (!isRevoking) {
          const from = ordinary[position] as Address;
          const v2: RegistryCall = ['v2', from, 'delegateAll', [v2Hot, NO_RIGHTS, turn % 4 === 0]];
          await send(evm.rpc, [position === 0 ? v2 : ['v1', from, 'delegateForAll', [wallet(0xe100 + turn), true]]]);
        } else {
          const revoke: RegistryCall = ['v1', attacker, 'revokeDelegate', [delegate]];
          const again: RegistryCall = ['v1', attacker, 'delegateForAll', [delegate, true]];
          await execute(evm.rpc, attacker, position % 2 === 0 ? [revoke, again] : [revoke]);
        }
      }
      const { number, hash } = await mine();
      const cost = await costOf(() => one.follower.tick());
      if (turn >= WARM_UP) costs[isRevoking ? 'revoking' : 'ordinary'].push(cost);
      expect(one.follower.state?.head?.hash as string).toBe(hash);
      const { granting, block } = await one.store.check(1, asks);
      expect({ at: block.number, says: answer(asks, granting) }).toEqual({
        at: number,
        says: await truth(asks, number),
      });
    }
    const ratio = (of: keyof Cost) =>
      median(costs.revoking.map((cost) => cost[of])) / median(costs.ordinary.map((cost) => cost[of]));
    const ratios = `requests ${ratio('requests').toFixed(1)}, calls ${ratio('calls').toFixed(1)}, CPU ${ratio('cpu').toFixed(1)}`;
    console.log(`${costs.revoking.length} blocks with 8 revocations, relative to an ordinary block: ${ratios}`);
    expect(one.errors).toEqual([]);
    // CPU time is too noisy on a busy machine to assert: it is only printed.
    expect(ratio('requests')).toBeLessThan(5);
  });
});

/** Creates a smart contract wallet that makes these grants. */
async function smartAccount(address: Address, grants: readonly RegistryCall[]): Promise<Address> {
  await deploySmartWallet(evm.rpc, address);
  for (let done = 0; done < grants.length; done += 25) {
    await execute(evm.rpc, address, grants.slice(done, done + 25), '0xf42400');
    await mine();
  }
  return address;
}

const STRANGER = wallet(0x7777);

describe('a wallet whose state is too large for every node', () => {
  /** Everything that the registry lists for a delegate. */
  async function registryList(delegate: Address): Promise<string[]> {
    const data = `0x4fc69282${delegate.slice(2).padStart(64, '0')}`;
    const found = await evm.rpc.call('eth_call', [{ to: MAINNET.registries[1], data }, 'latest']);
    const [records] = decodeAbiParameters(
      parseAbiParameters('(uint8 type_, address vault, address delegate, address contract_, uint256 tokenId)[]'),
      found as `0x${string}`,
    );
    return records.map(({ type_, vault }) => `${type_} ${vault.toLowerCase()}`).sort();
  }

  const KIND_NUMBERS = { ALL: 1, CONTRACT: 2, TOKEN: 3 } as const;

  async function servedList(delegate: Address, step: number): Promise<string[]> {
    const app = appOf(one.store, one.clock / 1000);
    const response = await app.fetch(new Request(`http://x/registry/v1/${delegate}?direction=incoming`));
    const text = await response.text();
    expect({ step, status: response.status, text }).toEqual({ step, status: 200, text: expect.any(String) });
    const records = JSON.parse(text) as { type: keyof typeof KIND_NUMBERS; vault: string }[];
    return records.map(({ type, vault }) => `${KIND_NUMBERS[type]} ${vault.toLowerCase()}`).sort();
  }

  for (const hasStorage of [true, false]) {
    test(`does not affect its delegates, whose state is read ${hasStorage ? 'from storage' : 'by checks where nodes reject eth_getStorageAt'}`, async () => {
      const base = hasStorage ? 0x1000 : 0x2000;
      const [cold, victim] = [wallet(base), wallet(base + 1)];
      await fund(evm.rpc, [cold]);
      await send(evm.rpc, [['v1', cold, 'delegateForAll', [victim, true]]]);
      const attackers: Address[] = [];
      for (const address of [wallet(base + 2), wallet(base + 3)]) {
        const tokens = Array.from(
          { length: 50 },
          (_, id): RegistryCall => ['v1', address, 'delegateForToken', [address, cold, String(id), true]],
        );
        attackers.push(await smartAccount(address, [['v1', address, 'delegateForAll', [victim, true]], ...tokens]));
      }
      const [holding, over] = attackers as [Address, Address];
      const getters = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];
      proxy.refuses = ({ method, params }) => {
        if (!hasStorage && method === 'eth_getStorageAt') return 'missing trie node';
        const data = String((params[0] as { data?: string } | undefined)?.data);
        const isGetter = method === 'eth_call' && getters.some((selector) => data.startsWith(selector));
        return isGetter && attackers.some((one) => data.endsWith(one.slice(2))) ? 'out of gas' : null;
      };
      await one.catchUp();

      const revoke = (who: Address, whom: Address): [Address, RegistryCall[]] => [
        who,
        [['v1', who, 'revokeDelegate', [whom]]],
      ];
      const steps: [Address, RegistryCall[]][] = [
        [over, [['v1', over, 'delegateForAll', [victim, false]]]],
        revoke(holding, STRANGER),
        revoke(over, STRANGER),
        [holding, [...revoke(holding, STRANGER)[1], ...revoke(holding, cold)[1]]],
        revoke(over, victim),
        revoke(holding, victim),
        [holding, [['v1', holding, 'delegateForAll', [victim, true]], ...revoke(holding, STRANGER)[1]]],
        [holding, [...revoke(holding, victim)[1], ['v1', holding, 'delegateForContract', [victim, cold, true]]]],
      ];
      for (const [step, [who, calls]] of steps.entries()) {
        await execute(evm.rpc, who, calls);
        const { number } = await mine();
        await one.follower.tick();
        expect({ step, list: await servedList(victim, step) }).toEqual({ step, list: await registryList(victim) });
        for (const from of [cold, ...attackers]) {
          for (const to of [victim, from]) {
            const asks: Question = { version: 1, scope: 'contract', from, to, contract: cold };
            const { granting } = await one.store.check(1, asks);
            expect({ from, to, says: answer(asks, granting) }).toEqual({ from, to, says: await truth(asks, number) });
          }
        }
      }
    });
  }
});

describe('a wallet with more delegates than are settled together', () => {
  test('settles requested pairs in the next tick, refuses the others, and v2 never waits', async () => {
    const delegates = many(0x3000, MAX_DELEGATES + 1);
    const vault = await smartAccount(
      wallet(0x4000),
      delegates.map((delegate): RegistryCall => ['v1', wallet(0x4000), 'delegateForAll', [delegate, true]]),
    );
    const [v2Cold, v2Hot] = [wallet(0x4001), wallet(0x4002)];
    await fund(evm.rpc, [v2Cold]);
    const asksV2: Question = { version: 2, scope: 'all', from: v2Cold, to: v2Hot, rights: NO_RIGHTS };
    const asks = (delegate: Address): Question => ({ version: 1, scope: 'all', from: vault, to: delegate });
    await one.catchUp();

    /** Adds a block. v2 must be answered at the head, and no pair wrongly. Returns the pairs that got an error. */
    let turn = 0;
    const next = async (): Promise<Address[]> => {
      await send(evm.rpc, [['v2', v2Cold, 'delegateAll', [v2Hot, NO_RIGHTS, turn++ % 2 === 0]]]);
      const { number } = await mine();
      await one.follower.tick();
      const { block, granting } = await one.store.check(1, asksV2);
      expect({ at: block.number, says: answer(asksV2, granting) }).toEqual({
        at: number,
        says: await truth(asksV2, number),
      });
      const refused: Address[] = [];
      for (const delegate of delegates) {
        const found = await one.store.check(1, asks(delegate)).catch((error: StoreError) => error);
        if (found instanceof StoreError) {
          expect(found.code).toBe('revocation-unread');
          refused.push(delegate);
        } else expect(answer(asks(delegate), found.granting)).toBe((await truth(asks(delegate), number)) as boolean);
      }
      return refused;
    };

    // The revoked delegate was never granted anything, so every pair must be checked.
    await execute(evm.rpc, vault, [['v1', vault, 'revokeDelegate', [STRANGER]]]);
    expect(await next()).toEqual(delegates);
    const [wanted, another] = [delegates.at(-1) as Address, delegates[7] as Address];
    one.follower.prioritize(vault, wanted);
    one.follower.prioritize(vault, another);
    expect(await next()).toEqual(delegates.filter((one) => one !== wanted && one !== another));
    // Of a wallet with one delegate less, all pairs are settled at once.
    const smaller = await smartAccount(
      wallet(0x4003),
      delegates.slice(1).map((delegate): RegistryCall => ['v1', wallet(0x4003), 'delegateForAll', [delegate, true]]),
    );
    await one.catchUp();
    await execute(evm.rpc, smaller, [['v1', smaller, 'revokeDelegate', [STRANGER]]]);
    await next();
    expect(new Set((await unreadRevocations(one.store, 1)).map((unread) => unread.vault))).toEqual(new Set([vault]));
  });
});

/** The first blocks are slower, before the code is compiled. */
const WARM_UP = 20;

interface Cost {
  readonly requests: number;
  readonly calls: number;
  /** Microseconds of this process. */
  readonly cpu: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [requests, calls] = [proxy.requests, proxy.calls];
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { requests: proxy.requests - requests, calls: proxy.calls - calls, cpu: user + system };
}

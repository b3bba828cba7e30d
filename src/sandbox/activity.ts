// Makes the transactions on the sandbox's chain: a month of history, and then one at a time.

import { EXAMPLE_DELEGATIONS } from '../api/examples.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import { type Bytes32, NO_RIGHTS } from '../registry/delegation.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { encodeCall, grantCall, type RegistryCall, versionOf } from '../registry/registry-call.ts';
import { rightsOf } from '../registry/rights.ts';
import { deploySmartWallet, encodeExecute } from './evm.ts';
import { deployNames } from './names.ts';
import { FINALITY_BLOCKS } from './sandbox-settings.ts';
import type { TimedCall } from './scenario.ts';
import { TEST_ACCOUNTS } from './test-accounts.ts';
import { deployTokens } from './tokens.ts';
import { ACTIVE, COLD, CONTRACTS, HOT, labelOf, OTHER, SMART } from './wallets.ts';

const VOTE = rightsOf('vote') as Bytes32;
const PLAY = rightsOf('play') as Bytes32;
const TOKEN = 10n ** 18n;
const DAY_SECONDS = 86_400;
/** Length of the history. */
export const HISTORY_DAYS = 30;

/** Days are counted from the start of the history. */
const HISTORY: readonly (readonly [day: number, call: RegistryCall])[] = [
  // The documentation's examples, which are true in every sandbox that has this history.
  ...EXAMPLE_DELEGATIONS.map((delegation) => [0.01, grantCall(delegation)] as const),
  [0.1, ['v2', COLD.Ada, 'delegateAll', [HOT.Ada, NO_RIGHTS, true]]],
  [0.2, ['v1', COLD.Ada, 'delegateForAll', [HOT.Ada, true]]],
  [1, ['v2', COLD.Ben, 'delegateContract', [HOT.Ben, CONTRACTS['Harbour Lights'], NO_RIGHTS, true]]],
  [2, ['v2', COLD.Cleo, 'delegateERC721', [HOT.Cleo, CONTRACTS['Harbour Lights'], '42', NO_RIGHTS, true]]],
  [2.5, ['v1', COLD.Cleo, 'delegateForToken', [HOT.Cleo, CONTRACTS.Foghorns, '7', true]]],
  [3, ['v2', COLD.Dan, 'delegateERC20', [HOT.Dan, CONTRACTS.Lantern, NO_RIGHTS, String(100n * TOKEN)]]],
  [4, ['v2', COLD.Ella, 'delegateERC1155', [HOT.Ella, CONTRACTS['Tidal Cards'], '7', NO_RIGHTS, '3']]],
  [5, ['v2', SMART['Harbour DAO'], 'delegateAll', [OTHER['Vote agent'], VOTE, true]]],
  [6, ['v1', SMART['Guild treasury'], 'delegateForAll', [OTHER['Arcade server'], true]]],
  [6.1, ['v1', SMART['Guild treasury'], 'delegateForContract', [HOT.Ben, CONTRACTS['Tidal Cards'], true]]],
  [7, ['v2', COLD.Finn, 'delegateAll', [OTHER['Old phone'], NO_RIGHTS, true]]],
  [8, ['v2', COLD.Ada, 'delegateERC721', [HOT.Ben, CONTRACTS.Foghorns, '7', PLAY, true]]],
  [9, ['v2', SMART['Attic fund'], 'delegateContract', [HOT.Dan, CONTRACTS.Foghorns, NO_RIGHTS, true]]],
  [12, ['v2', COLD.Dan, 'delegateERC20', [HOT.Dan, CONTRACTS.Lantern, NO_RIGHTS, String(250n * TOKEN)]]],
  [20, ['v1', SMART['Guild treasury'], 'revokeDelegate', [OTHER['Arcade server']]]],
  [24, ['v2', COLD.Finn, 'delegateAll', [OTHER['Old phone'], NO_RIGHTS, false]]],
  [24.1, ['v2', COLD.Finn, 'delegateAll', [HOT.Finn, NO_RIGHTS, true]]],
];

/** Random transactions in the history. */
const RANDOM_CALLS = 40;
/** Before the last quarter of an hour: a block is final when it is a minute older than the newest, and no block comes while the sandbox starts. */
const RANDOM_DAYS = HISTORY_DAYS - 0.01;

export function createActivity(rpc: Rpc, random: () => number) {
  const { registries } = NETWORKS.get(1) as Network;
  const smart = new Set<string>(Object.values(SMART));
  const ready = new Set<string>();
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;

  /** Lets the node sign for a wallet, and gives it ether for gas. */
  async function prepare(wallet: string): Promise<void> {
    if (ready.has(wallet)) return;
    await rpc.call('hardhat_impersonateAccount', [wallet]);
    await rpc.call('hardhat_setBalance', [wallet, `0x${(1000n * TOKEN).toString(16)}`]);
    if (smart.has(wallet)) await deploySmartWallet(rpc, wallet);
    ready.add(wallet);
  }

  async function send(call: RegistryCall): Promise<void> {
    const [, caller] = call;
    const to = registries[versionOf(call)] as string;
    const isSmart = smart.has(caller);
    const from = isSmart ? OTHER.Relay : caller;
    await prepare(caller);
    await prepare(from);
    const data = encodeCall(call);
    const transaction = isSmart ? { from, to: caller, data: encodeExecute([{ to, data }]) } : { from, to, data };
    await rpc.call('eth_sendTransaction', [{ ...transaction, gas: '0x2dc6c0' }]);
  }

  /** A call by one of the wallets that are not shown. */
  function randomCall(): RegistryCall {
    const [from, to] = [pick(ACTIVE.cold), pick(ACTIVE.hot)];
    const id = String(Math.floor(random() * 5));
    const isGrant = random() < 0.7;
    const amount = isGrant ? String(BigInt(1 + Math.floor(random() * 500)) * TOKEN) : '0';
    const [lights, foghorns] = [CONTRACTS['Harbour Lights'], CONTRACTS.Foghorns];
    const rights = pick([NO_RIGHTS, NO_RIGHTS, VOTE, PLAY]);
    return pick<RegistryCall>([
      ['v2', from, 'delegateAll', [to, rights, isGrant]],
      ['v2', from, 'delegateContract', [to, pick([lights, foghorns]), rights, isGrant]],
      ['v2', from, 'delegateERC721', [to, pick([lights, foghorns]), id, rights, isGrant]],
      ['v2', from, 'delegateERC20', [to, CONTRACTS.Lantern, rights, amount]],
      ['v2', from, 'delegateERC1155', [to, CONTRACTS['Tidal Cards'], id, rights, isGrant ? '5' : '0']],
      ['v1', from, 'delegateForAll', [to, isGrant]],
      ['v1', from, 'delegateForContract', [to, pick([lights, foghorns]), isGrant]],
      ['v1', from, 'delegateForToken', [to, pick([lights, foghorns]), id, isGrant]],
      ['v1', from, 'revokeDelegate', [to]],
    ]);
  }

  /** Makes each call in a block of its own, and then empty blocks, the last of now. A call is later than the blocks that are there. */
  async function makeCalls(calls: readonly TimedCall[], emptyBlocks = 1): Promise<void> {
    const newest = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { readonly timestamp: string };
    let last = Number(newest.timestamp);
    const setTime = async (at: number) => {
      last = Math.max(last + 1, at);
      await rpc.call('evm_setNextBlockTimestamp', [`0x${last.toString(16)}`]);
    };
    for (const { at, call } of calls) {
      await prepare(call[1]);
      await setTime(at);
      await send(call);
    }
    const now = Math.floor(Date.now() / 1000);
    for (let left = emptyBlocks - 1; left >= 0; left--) {
      await setTime(now - left);
      await rpc.call('evm_mine', []);
    }
  }

  return {
    /** Funds the test accounts, so that everybody can send transactions from them. */
    async fundTestAccounts() {
      for (const { address } of TEST_ACCOUNTS) await prepare(address.toLowerCase());
    },
    /** Deploys the tokens and makes the history, from a Unix time in seconds until now. All of it is final. */
    async makeHistory(startedAt: number) {
      await prepare(OTHER.Relay);
      await deployTokens(rpc);
      await deployNames(rpc);
      const background = Array.from({ length: RANDOM_CALLS }, () => [random() * RANDOM_DAYS, randomCall()] as const);
      const all = [...HISTORY, ...background].sort(([a], [b]) => a - b);
      const calls = all.map(([day, call]) => ({ at: Math.floor(startedAt + day * DAY_SECONDS), call }));
      await makeCalls(calls, FINALITY_BLOCKS);
    },
    makeCalls,
    /** Sends a random transaction, and describes it. */
    async step() {
      const call = randomCall();
      await send(call);
      return describeCall(call);
    },
  };
}

function describeCall([registry, caller, name, args]: RegistryCall): string {
  const [to = ''] = args;
  const last = args.at(-1);
  const isRevoke = last === false || last === '0' || name.startsWith('revoke');
  const what = /ForAll|All$/.test(name) || name === 'revokeDelegate' ? 'everything' : labelOf(String(args[1]));
  return `${registry}: ${labelOf(caller)} ${isRevoke ? 'revokes' : 'delegates'} ${what} ${isRevoke ? 'from' : 'to'} ${labelOf(String(to))}`;
}

// Starts the service on a local chain with the delegations of the suite.

import { type Address, type Bytes32, NO_RIGHTS } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import { rightsOf } from '../../src/registry/rights.ts';
import { startEvm } from '../../src/sandbox/evm.ts';
import { freePort } from '../../src/sandbox/free-port.ts';
import { temporaryPath } from '../../test/support/engines.ts';
import { deployTokens, sendToken } from '../../test/support/evm-tokens.ts';
import { fund, OWNER, send } from '../../test/support/evm-wallets.ts';
import { startServe } from '../../test/support/serve-process.ts';
import * as w from './suite/world.ts';

const VOTE = rightsOf('vote') as Bytes32;

/** In this order, each in a block of its own. */
const HISTORY: readonly RegistryCall[] = [
  ['v2', w.GUS, 'delegateAll', [w.HOT, NO_RIGHTS, true]],
  ['v2', w.GUS, 'delegateAll', [w.HOT, NO_RIGHTS, false]],
  ['v2', w.ADA, 'delegateAll', [w.HOT, NO_RIGHTS, true]],
  ['v2', w.ADA, 'delegateAll', [w.AGENT, VOTE, true]],
  ['v1', w.ADA, 'delegateForAll', [w.HOT, true]],
  ['v2', w.BEN, 'delegateContract', [w.HOT, w.COLLECTION, NO_RIGHTS, true]],
  ['v2', w.CLEO, 'delegateERC721', [w.HOT, w.COLLECTION, String(w.MAX), NO_RIGHTS, true]],
  ['v2', w.DAN, 'delegateERC20', [w.HOT, w.COIN, NO_RIGHTS, String(w.MAX - 1n)]],
  ['v2', w.ELLA, 'delegateERC1155', [w.HOT, w.CARDS, String(w.MAX), NO_RIGHTS, String(w.CARD_AMOUNT)]],
  ['v1', w.FINN, 'delegateForToken', [w.HOT, w.COLLECTION, String(w.MAX - 1n), true]],
];

export interface ServiceOnChain {
  readonly url: string;
  /** Lets a wallet grant a token that it has not granted before. */
  grant(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServiceOnChain(): Promise<ServiceOnChain> {
  const evm = await startEvm();
  try {
    await fund(evm.rpc, [...new Set(HISTORY.map(([, caller]) => caller as Address)), w.LATE, OWNER]);
    await deployTokens(evm.rpc);
    await sendToken(evm.rpc, 'Collection', 'mint721', [w.CLEO, w.MAX]);
    await sendToken(evm.rpc, 'Coin', 'mint20', [w.DAN, w.MAX]);
    for (const call of HISTORY) await send(evm.rpc, [call]);
    const served = await startServe(`sqlite:${temporaryPath('client.db')}`, {
      RPC_URL_1: evm.url,
      START_BLOCK_1: '0',
      FINALITY_1: '5 blocks',
      POLL_INTERVAL_1: '200',
      MAX_LAG_1: '86400',
      [`RPC_URL_${w.DEAD_CHAIN}`]: `http://127.0.0.1:${freePort()}`,
      OWNERSHIP: 'on',
      PROOFS: 'on',
    });
    await untilIndexed(served.url, Number(await evm.rpc.call('eth_blockNumber', [])));
    let granted = 0;
    return {
      url: served.url,
      grant: () =>
        send(evm.rpc, [['v2', w.LATE, 'delegateERC721', [w.HOT, w.COLLECTION, String(++granted), NO_RIGHTS, true]]]),
      async stop() {
        await served.stop();
        await evm.stop();
      },
    };
  } catch (error) {
    await evm.stop();
    throw error;
  }
}

async function untilIndexed(url: string, block: number): Promise<void> {
  const question = `${url}/registry/v2/check/all?to=${w.HOT}&from=${w.ADA}&block=${block}`;
  for (let left = 600; (await fetch(question)).status !== 200; left--) {
    if (left === 0) throw new Error('the service did not index the chain');
    await Bun.sleep(50);
  }
}

// Puts ENS and named tokens on a real EVM.

import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { ENS_REGISTRY, nodeOf, reverseNodeOf } from '../../src/chain/names/ens.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import type { Address } from '../../src/registry/delegation.ts';
import { encodeTwoTexts } from '../../src/sandbox/encode-text.ts';
import { encodeSetAddr, encodeSetName } from '../../src/sandbox/names.ts';
import { fund, OWNER } from './evm-wallets.ts';

/** The most that a transaction may have (EIP-7825): a name can be long. */
const GAS = '0x1000000';

const send = (rpc: Rpc, to: Address, data: string) =>
  rpc.call('eth_sendTransaction', [{ from: OWNER, to, data, gas: GAS }]);

export async function deployEns(rpc: Rpc): Promise<void> {
  await fund(rpc, [OWNER]);
  await rpc.call('hardhat_setCode', [ENS_REGISTRY, artifacts.Ens.code]);
}

/** Makes the name lead to the wallet. */
export const setForward = (rpc: Rpc, name: string, wallet: Address) =>
  send(rpc, ENS_REGISTRY, encodeSetAddr(nodeOf(name), wallet));

/** Makes the wallet say that the name is its own. */
export const setBack = (rpc: Rpc, wallet: Address, name: string) =>
  send(rpc, ENS_REGISTRY, encodeSetName(reverseNodeOf(wallet), name));

export async function setPrimary(rpc: Rpc, wallet: Address, name: string): Promise<void> {
  await setForward(rpc, name, wallet);
  await setBack(rpc, wallet, name);
}

/** Makes another contract the resolver of what a wallet says. */
export const setReverseResolver = (rpc: Rpc, wallet: Address, resolver: Address) =>
  send(rpc, ENS_REGISTRY, `0x1896f70a${reverseNodeOf(wallet).slice(2)}${resolver.slice(2).padStart(64, '0')}`);

/** An ERC-20 token that calls itself so. */
export async function deployNamedToken(rpc: Rpc, contract: Address, name: string, symbol: string): Promise<void> {
  await rpc.call('hardhat_setCode', [contract, artifacts.Coin.code]);
  await send(rpc, contract, `0x5c707f07${encodeTwoTexts(name, symbol)}`);
}

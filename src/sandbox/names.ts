// The sandbox's ENS: names of a few wallets, and two that no page may show.

import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { ENS_REGISTRY, nodeOf, reverseNodeOf } from '../chain/names/ens.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Address, Bytes32 } from '../registry/delegation.ts';
import { word } from '../registry/registry-call.ts';
import { encodeText } from './encode-text.ts';
import { COLD, OTHER, SMART } from './wallets.ts';

/** The names that lead to a wallet. */
const FORWARD: readonly (readonly [name: string, wallet: Address])[] = [
  ['ada.eth', COLD.Ada],
  ['ben.eth', COLD.Ben],
  ['harbour-dao.eth', SMART['Harbour DAO']],
  // Cleo does not say that it is hers.
  ['cleo.eth', COLD.Cleo],
];

/** What wallets say that their name is. */
const BACK: readonly (readonly [wallet: Address, name: string])[] = [
  [COLD.Ada, 'ada.eth'],
  [COLD.Ben, 'ben.eth'],
  [SMART['Harbour DAO'], 'harbour-dao.eth'],
  // It is not: the name leads to Ada.
  [OTHER['Arcade server'], 'ada.eth'],
];

/** `setAddr(bytes32,address)` and `setName(bytes32,string)` of contracts/Ens.sol. */
export const encodeSetAddr = (node: Bytes32, address: Address): string => `0xd5fa2b00${node.slice(2)}${word(address)}`;
export const encodeSetName = (node: Bytes32, name: string): string =>
  `0x77372213${node.slice(2)}${word('64')}${encodeText(name)}`;

/** Puts ENS on the chain with its names. The relay must be funded. */
export async function deployNames(rpc: Rpc): Promise<void> {
  await rpc.call('hardhat_setCode', [ENS_REGISTRY, artifacts.Ens.code]);
  for (const data of [
    ...FORWARD.map(([name, wallet]) => encodeSetAddr(nodeOf(name), wallet)),
    ...BACK.map(([wallet, name]) => encodeSetName(reverseNodeOf(wallet), name)),
  ])
    await rpc.call('eth_sendTransaction', [{ from: OTHER.Relay, to: ENS_REGISTRY, data, gas: '0x2dc6c0' }]);
}

// The sandbox's token contracts, and who owns what in them.

import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { EXAMPLE_TOKENS } from '../api/examples.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Address } from '../registry/delegation.ts';
import { word } from '../registry/registry-call.ts';
import { encodeTwoTexts } from './encode-text.ts';
import { ACTIVE, COLD, CONTRACTS, OTHER, SMART } from './wallets.ts';

const UNIT = 10n ** 18n;
const { owner: EXAMPLE_OWNER, collection: EXAMPLE_COLLECTION, coin: EXAMPLE_COIN } = EXAMPLE_TOKENS;

/** Who has what: the token id of an ERC-721, the amount of an ERC-20, the token id and the amount of an ERC-1155. */
const OWNED: readonly (readonly [contract: Address, owner: Address, ...what: bigint[]])[] = [
  [EXAMPLE_COLLECTION.contract, EXAMPLE_OWNER, EXAMPLE_COLLECTION.tokenId],
  [CONTRACTS['Harbour Lights'], COLD.Ada, 1n],
  [CONTRACTS['Harbour Lights'], COLD.Ben, 11n],
  [CONTRACTS['Harbour Lights'], COLD.Ben, 12n],
  [CONTRACTS['Harbour Lights'], COLD.Cleo, 42n],
  [CONTRACTS.Foghorns, COLD.Ada, 7n],
  [CONTRACTS.Foghorns, SMART['Attic fund'], 20n],
  ...ACTIVE.cold.slice(0, 5).map((owner, id): [Address, Address, bigint] => [CONTRACTS.Foghorns, owner, BigInt(id)]),
  // More than Dan and Ella have delegated.
  [EXAMPLE_COIN.contract, EXAMPLE_OWNER, EXAMPLE_COIN.amount],
  [CONTRACTS.Lantern, COLD.Dan, 400n * UNIT],
  [CONTRACTS.Lantern, COLD.Ada, 25n * UNIT],
  [CONTRACTS['Tidal Cards'], COLD.Ella, 7n, 5n],
  [CONTRACTS['Tidal Cards'], SMART['Guild treasury'], 1n, 100n],
];

/** What the contracts call themselves. */
const CALLED: readonly (readonly [contract: Address, name: string, symbol: string])[] = [
  [CONTRACTS['Harbour Lights'], 'Harbour Lights', 'LIGHT'],
  [CONTRACTS.Foghorns, 'Foghorns', 'FOG'],
  [CONTRACTS.Lantern, 'Lantern', 'LAN'],
  [CONTRACTS['Tidal Cards'], 'Tidal Cards', 'TIDE'],
];

/** `mint(address,uint256)` of the collections and the coin, `mint(address,uint256,uint256)` of the cards. */
const MINT = '40c10f19';
const MINT_CARDS = '156e29f6';
/** `setName(string,string)` of all. */
const SET_NAME = '5c707f07';

/** Puts the contracts on the chain and mints their tokens. The relay must be funded. */
export async function deployTokens(rpc: Rpc): Promise<void> {
  for (const [address, { code }] of [
    [EXAMPLE_COLLECTION.contract, artifacts.Collection],
    [EXAMPLE_COIN.contract, artifacts.Coin],
    [CONTRACTS['Harbour Lights'], artifacts.Collection],
    [CONTRACTS.Foghorns, artifacts.Collection],
    [CONTRACTS.Lantern, artifacts.Coin],
    [CONTRACTS['Tidal Cards'], artifacts.Cards],
  ] as const)
    await rpc.call('hardhat_setCode', [address, code]);
  const send = (to: Address, data: string) =>
    rpc.call('eth_sendTransaction', [{ from: OTHER.Relay, to, data, gas: '0x2dc6c0' }]);
  for (const [to, name, symbol] of CALLED) await send(to, `0x${SET_NAME}${encodeTwoTexts(name, symbol)}`);
  for (const [to, ...args] of OWNED) {
    await send(to, `0x${args.length === 2 ? MINT : MINT_CARDS}${args.map((arg) => word(String(arg))).join('')}`);
  }
}

// The sandbox's token contracts, and who owns what in them.

import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { EXAMPLE_TOKENS } from '../api/examples.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Address } from '../registry/delegation.ts';
import { word } from '../registry/registry-call.ts';
import { ACTIVE, COLD, CONTRACTS, OTHER, SMART } from './wallets.ts';

const UNIT = 10n ** 18n;
const { owner: EXAMPLE_OWNER, collection: EXAMPLE_COLLECTION, coin: EXAMPLE_COIN } = EXAMPLE_TOKENS;

/** ERC-721: token ids by owner. */
const COLLECTIONS: readonly (readonly [contract: Address, owner: Address, tokenId: bigint])[] = [
  [EXAMPLE_COLLECTION.contract, EXAMPLE_OWNER, EXAMPLE_COLLECTION.tokenId],
  [CONTRACTS['Harbour Lights'], COLD.Ada, 1n],
  [CONTRACTS['Harbour Lights'], COLD.Ben, 11n],
  [CONTRACTS['Harbour Lights'], COLD.Ben, 12n],
  [CONTRACTS['Harbour Lights'], COLD.Cleo, 42n],
  [CONTRACTS.Foghorns, COLD.Ada, 7n],
  [CONTRACTS.Foghorns, SMART['Attic fund'], 20n],
  ...ACTIVE.cold.slice(0, 5).map((owner, id): [Address, Address, bigint] => [CONTRACTS.Foghorns, owner, BigInt(id)]),
];
/** ERC-20. More than Dan has delegated. */
const COINS: readonly (readonly [contract: Address, owner: Address, amount: bigint])[] = [
  [EXAMPLE_COIN.contract, EXAMPLE_OWNER, EXAMPLE_COIN.amount],
  [CONTRACTS.Lantern, COLD.Dan, 400n * UNIT],
  [CONTRACTS.Lantern, COLD.Ada, 25n * UNIT],
];
/** ERC-1155. More than Ella has delegated. */
const CARDS: readonly (readonly [owner: Address, tokenId: bigint, amount: bigint])[] = [
  [COLD.Ella, 7n, 5n],
  [SMART['Guild treasury'], 1n, 100n],
];

/** `mint(address,uint256)` of the collections and the coin, `mint(address,uint256,uint256)` of the cards. */
const MINT = '40c10f19';
const MINT_CARDS = '156e29f6';

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
  const mint = (to: Address, selector: string, args: readonly (Address | bigint)[]) =>
    rpc.call('eth_sendTransaction', [
      { from: OTHER.Relay, to, data: `0x${selector}${args.map((arg) => word(String(arg))).join('')}`, gas: '0x2dc6c0' },
    ]);
  for (const [contract, owner, tokenId] of COLLECTIONS) await mint(contract, MINT, [owner, tokenId]);
  for (const [contract, owner, amount] of COINS) await mint(contract, MINT, [owner, amount]);
  for (const [owner, tokenId, amount] of CARDS)
    await mint(CONTRACTS['Tidal Cards'], MINT_CARDS, [owner, tokenId, amount]);
}

import { type Context, ponder } from 'ponder:registry';
import { delegation } from 'ponder:schema';
import { zeroAddress } from 'viem';

type Key = Omit<typeof delegation.$inferInsert, 'amount'>;

async function put(db: Context['db'], key: Key, amount: bigint): Promise<void> {
  if (amount === 0n) await db.delete(delegation, key);
  else
    await db
      .insert(delegation)
      .values({ ...key, amount })
      .onConflictDoUpdate({ amount });
}

ponder.on('Registry:DelegateAll', ({ event: { args }, context }) => {
  const { from, to, rights, enable } = args;
  return put(context.db, { from, to, type: 'ALL', contract: zeroAddress, tokenId: 0n, rights }, enable ? 1n : 0n);
});
ponder.on('Registry:DelegateContract', ({ event: { args }, context }) => {
  const { from, to, contract_: contract, rights, enable } = args;
  return put(context.db, { from, to, type: 'CONTRACT', contract, tokenId: 0n, rights }, enable ? 1n : 0n);
});
ponder.on('Registry:DelegateERC721', ({ event: { args }, context }) => {
  const { from, to, contract_: contract, tokenId, rights, enable } = args;
  return put(context.db, { from, to, type: 'ERC721', contract, tokenId, rights }, enable ? 1n : 0n);
});
ponder.on('Registry:DelegateERC20', ({ event: { args }, context }) => {
  const { from, to, contract_: contract, rights, amount } = args;
  return put(context.db, { from, to, type: 'ERC20', contract, tokenId: 0n, rights }, amount);
});
ponder.on('Registry:DelegateERC1155', ({ event: { args }, context }) => {
  const { from, to, contract_: contract, tokenId, rights, amount } = args;
  return put(context.db, { from, to, type: 'ERC1155', contract, tokenId, rights }, amount);
});

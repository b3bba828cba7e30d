export type {
  Block,
  DelegationChange,
  DetailedDelegation as Delegation,
  Hex,
  HistoryEntry,
  Network,
  Problem,
  Undo,
} from './api.ts';
export type { Change, Changes, ChangesPage, ChangesQuery } from './changes.ts';
export type { Answer, CheckQuery, Explained, Question, Registry, ResultOf, Scope } from './checks.ts';
export { type ClientOptions, createClient, type DelegationsClient } from './client.ts';
export type { ClaimedBlock, Verification } from './context.ts';
export * from './errors.ts';
export type { ExclusiveOwner, ExclusiveVault, ExclusiveWallet, ExclusiveWallets } from './exclusive.ts';
export { expiryText } from './expiry-text.ts';
export type { Delegate, Holder, HoldersPage, ListQuery, Vault } from './lists.ts';
export type { ChainAnswer, Page, Pages } from './pages.ts';
export type { CallOptions } from './request.ts';
export type { WalletAnswer, WalletBatches } from './wallets.ts';

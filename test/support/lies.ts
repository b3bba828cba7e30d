// Lies about single blocks, and what the index then says.

import { NO_RIGHTS } from '../../src/registry/delegation.ts';
import type { RegistryCall } from '../../src/registry/registry-call.ts';
import {
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  type FakeTransaction,
  type Fault,
  logOfCall,
} from './fake-node.ts';
import { seeing } from './node-quirks.ts';
import { WALLETS } from './wallets.ts';
import type { World } from './world.ts';

/** The wallet that grants in these tests. */
const [V] = WALLETS;
export const STRANGER = `0x${'57'.repeat(20)}` as const;
export const quiet = () => [];
export const grantCall = (to: string): RegistryCall => ['v2', V, 'delegateAll', [to, NO_RIGHTS, true]];
export const grants = (to: string): FakeCall[] => [{ call: grantCall(to), direct: true }];
const isGranted = (to: string) => ({ version: 2, scope: 'all', from: V, to, rights: NO_RIGHTS }) as const;
export const holds = async ({ one }: World, to: string) =>
  (await one.store.check(1, isGranted(to) as never)).granting.length > 0;
export const causeOf = ({ one }: World, position: number) => one.providers.all[position]?.failure?.cause;

/** A transaction that never happened. */
export const invented = (...calls: readonly RegistryCall[]): FakeTransaction => ({
  hash: `0x${'f0'.repeat(32)}`,
  from: STRANGER,
  to: STRANGER,
  input: '0x12345678',
  logs: calls.map(logOfCall),
});

/** Shows some blocks with other transactions, in logs, receipts and bodies alike. */
export const shows =
  (node: FakeNode, change: (block: FakeBlock) => readonly FakeTransaction[] | null): Fault =>
  (_, honest) =>
    seeing(
      node,
      node.chain.map((block) => {
        const transactions = change(block);
        return transactions === null ? block : { ...block, transactions };
      }),
      honest,
    );

// The store's door: a batch that does not make sense is refused with the reason, before anything is written.

import { type Address, faultOfDelegation, faultOfKey, isAddress, isBytes32 } from '../../registry/delegation.ts';
import { StoreError } from '../errors.ts';
import type { Batch, BlockInput, BlockRef, LogInput, Repair, Settlement } from '../store.ts';

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function refuse(chainId: number, why: string): never {
  throw new StoreError('bad-batch', `Chain ${chainId}: ${why}. Nothing was written.`);
}

export function requireBatch(batch: Batch): void {
  const { chainId, after, rollbackTo, blocks, head, verified } = batch;
  if (!isCount(chainId)) refuse(chainId, 'the chain id is not a number');
  checkRef(chainId, head);
  // Below block 0 there is nothing, and everything may be forgotten.
  const isPlace = rollbackTo === -1 || isCount(rollbackTo);
  if (rollbackTo !== undefined && !(isPlace && after !== null && rollbackTo <= after.number)) {
    refuse(chainId, `cannot roll back to ${rollbackTo} from ${after?.number ?? 'nothing'}`);
  }
  const from = rollbackTo ?? after?.number ?? -1;
  if (head.number < from) refuse(chainId, `head ${head.number} lies below ${from}`);
  checkBlocks(chainId, blocks);
  const [lowest, highest] = [blocks[0], blocks.at(-1)];
  if (lowest && lowest.number <= from) refuse(chainId, `block ${lowest.number} is indexed already, up to ${from}`);
  if (highest && (highest.number > head.number || highest.timestamp > head.timestamp)) {
    refuse(chainId, `block ${highest.number} lies beyond the head ${head.number}`);
  }
  if (highest?.number === head.number && (highest.hash !== head.hash || highest.timestamp !== head.timestamp)) {
    refuse(chainId, 'the head has two hashes or times');
  }
  if (verified !== undefined && !(isCount(verified) && verified <= head.number)) {
    refuse(chainId, `verified block ${verified} lies beyond the head ${head.number}`);
  }
}

export function requireClaim(chainId: number, firstBlock: number): void {
  if (!isCount(chainId)) refuse(chainId, 'the chain id is not a number');
  if (!isCount(firstBlock)) refuse(chainId, `first block ${firstBlock} is not a whole number`);
}

export const requireRepair = ({ chainId, blocks }: Repair): void => checkBlocks(chainId, blocks);

function checkBlocks(chainId: number, blocks: readonly BlockInput[]): void {
  let before: BlockInput | undefined;
  for (const block of blocks) {
    checkRef(chainId, block);
    if (before && (block.number <= before.number || block.timestamp < before.timestamp)) {
      refuse(chainId, `block ${block.number} does not follow block ${before.number}`);
    }
    let previous = -1;
    for (const log of block.logs) {
      if (!isCount(log.logIndex) || log.logIndex <= previous) {
        refuse(chainId, `block ${block.number}: log ${log.logIndex} does not follow log ${previous}`);
      }
      previous = log.logIndex;
      const fault = faultOfLog(log);
      if (fault !== null) refuse(chainId, `block ${block.number}, log ${log.logIndex}: ${fault}`);
    }
    for (const settlement of block.settlements ?? []) checkSettlement(chainId, block, settlement);
    before = block;
  }
}

function checkRef(chainId: number, { number, hash, timestamp }: BlockRef): void {
  if (!isCount(number)) refuse(chainId, `block number ${number} is not a whole number`);
  if (!isBytes32(hash)) refuse(chainId, `block ${number}: hash ${hash} is not 32 bytes in lower case`);
  if (!isCount(timestamp)) refuse(chainId, `block ${number}: timestamp ${timestamp} is not a whole number`);
}

function checkSettlement(chainId: number, block: BlockInput, { vault, block: of, readAt, pairs }: Settlement): void {
  const indexes = new Set(
    block.logs
      .filter(({ event, revoked }) => event.type === 'unknownRevoked' && event.from === vault && !revoked)
      .map(({ logIndex }) => logIndex),
  );
  const isOfBlock = of.number === block.number && of.hash === block.hash && isCount(readAt) && readAt >= of.number;
  if (indexes.size === 0 || !isOfBlock)
    refuse(chainId, `block ${block.number} has no revocation of ${vault} to settle`);
  for (const { delegate, endedBy } of pairs) {
    if (!isAddress(delegate) || (endedBy !== null && !indexes.has(endedBy)))
      refuse(chainId, `block ${block.number}: the settlement of ${vault} with ${delegate} makes no sense`);
  }
}

function faultOfLog({ event, revoked, transactionHash }: LogInput): string | null {
  if (!isBytes32(transactionHash)) return `transaction ${transactionHash} is not 32 bytes in lower case`;
  if (revoked && (event?.type !== 'unknownRevoked' || !isAddress(revoked))) return `revoked ${revoked} is out of place`;
  switch (event?.type) {
    case 'granted':
      return faultOfDelegation(event.delegation);
    case 'ended':
      return faultOfKey(event.delegation);
    case 'vaultRevoked':
      return faultOfAddress(event.from);
    case 'delegateRevoked':
      if (event.from === event.to) return 'a revocation of oneself does not say whom it revoked';
      return faultOfAddress(event.from) ?? faultOfAddress(event.to);
    case 'unknownRevoked':
      return faultOfAddress(event.from);
    default:
      return 'the event is of no known type';
  }
}

const faultOfAddress = (address: Address) => (isAddress(address) ? null : `${address} is not a lower-case address`);

// Validates commits before anything is written.

import { type Address, faultOfDelegation, faultOfKey, isAddress, isBytes32 } from '../../registry/delegation.ts';
import { rejectWrite as reject } from '../errors.ts';
import type { BlockInput, BlockRef, CommitInput, LogInput, Settlement } from '../store.ts';

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export function requireCommit(commit: CommitInput): void {
  const { chainId, after, rollbackTo, blocks, head, verified } = commit;
  if (!isCount(chainId)) reject(chainId, 'the chain id is not a whole number');
  checkRef(chainId, head);
  // -1 rolls back every block.
  const isBlock = rollbackTo === -1 || isCount(rollbackTo);
  if (rollbackTo !== undefined && !(isBlock && after !== null && rollbackTo <= after.number)) {
    const newest = after ? `block ${after.number}` : 'an empty index';
    reject(chainId, `cannot roll back to block ${rollbackTo} from ${newest}`);
  }
  const from = rollbackTo ?? after?.number ?? -1;
  if (head.number < from) reject(chainId, `head ${head.number} is below block ${from}`);
  requireBlocks(chainId, blocks);
  const [lowest, highest] = [blocks[0], blocks.at(-1)];
  if (lowest && lowest.number <= from) reject(chainId, `block ${lowest.number} is already indexed (up to ${from})`);
  if (highest && (highest.number > head.number || highest.timestamp > head.timestamp))
    reject(chainId, `block ${highest.number} is beyond the head ${head.number}`);
  if (highest?.number === head.number && (highest.hash !== head.hash || highest.timestamp !== head.timestamp))
    reject(chainId, 'the head has two hashes or times');
  if (verified !== undefined && !(isCount(verified) && verified <= head.number))
    reject(chainId, `verified block ${verified} is beyond the head ${head.number}`);
}

export function requireClaim(chainId: number, firstBlock: number): void {
  if (!isCount(chainId)) reject(chainId, 'the chain id is not a whole number');
  if (!isCount(firstBlock)) reject(chainId, `first block ${firstBlock} is not a whole number`);
}

export function requireBlocks(chainId: number, blocks: readonly BlockInput[]): void {
  let before: BlockInput | undefined;
  for (const block of blocks) {
    checkRef(chainId, block);
    if (before && (block.number <= before.number || block.timestamp < before.timestamp))
      reject(chainId, `block ${block.number} does not follow block ${before.number}`);
    let previous = -1;
    for (const log of block.logs) {
      if (!isCount(log.logIndex) || log.logIndex <= previous)
        reject(chainId, `block ${block.number}: log ${log.logIndex} does not follow log ${previous}`);
      previous = log.logIndex;
      const fault = faultOfLog(log);
      if (fault !== null) reject(chainId, `block ${block.number}, log ${log.logIndex}: ${fault}`);
    }
    for (const settlement of block.settlements ?? []) checkSettlement(chainId, block, settlement);
    before = block;
  }
}

function checkRef(chainId: number, { number, hash, timestamp }: BlockRef): void {
  if (!isCount(number)) reject(chainId, `block number ${number} is not a whole number`);
  if (!isBytes32(hash)) reject(chainId, `block ${number}: hash ${hash} is not 32 bytes in lower case`);
  if (!isCount(timestamp)) reject(chainId, `block ${number}: timestamp ${timestamp} is not a whole number`);
}

function checkSettlement(chainId: number, block: BlockInput, { vault, block: of, readAt, pairs }: Settlement): void {
  const indexes = new Set(
    block.logs
      .filter(({ event, revoked }) => event.type === 'unknownRevoked' && event.from === vault && !revoked)
      .map(({ logIndex }) => logIndex),
  );
  const isOfBlock = of.number === block.number && of.hash === block.hash && isCount(readAt) && readAt >= of.number;
  if (indexes.size === 0 || !isOfBlock)
    reject(chainId, `block ${block.number} has no revocation of ${vault} to settle`);
  for (const { delegate, endedBy } of pairs) {
    if (!isAddress(delegate) || (endedBy !== null && !indexes.has(endedBy)))
      reject(chainId, `block ${block.number}: the settlement of ${vault} with ${delegate} is inconsistent`);
  }
}

function faultOfLog({ event, revoked, transactionHash }: LogInput): string | null {
  if (!isBytes32(transactionHash)) return `transaction ${transactionHash} is not 32 bytes in lower case`;
  if (revoked && (event?.type !== 'unknownRevoked' || !isAddress(revoked)))
    return `revoked ${revoked} is not allowed here`;
  switch (event?.type) {
    case 'granted':
      return faultOfDelegation(event.delegation);
    case 'ended':
      return faultOfKey(event.delegation);
    case 'vaultRevoked':
      return faultOfAddress(event.from);
    case 'delegateRevoked':
      if (event.from === event.to) return 'a delegateRevoked event must not revoke its own wallet';
      return faultOfAddress(event.from) ?? faultOfAddress(event.to);
    case 'unknownRevoked':
      return faultOfAddress(event.from);
    default:
      return 'unknown event type';
  }
}

const faultOfAddress = (address: Address) => (isAddress(address) ? null : `${address} is not a lower-case address`);

// Pins the block of each chain for a CSV check, and makes sure that all rows are answered at that block: by its hash, and by the feed
// of changes that its history is not rewritten meanwhile.

import { MAX_QUESTIONS } from '../api/batch-operation.ts';
import { CHANGES_OPERATION } from '../api/changes-operation.ts';
import type { ResponseOf } from '../api/operation.ts';
import { CHECKS } from '../api/operations.ts';
import { problemText } from '../api/problems.ts';
import { type CheckOptions, urlFor } from '../api/url.ts';
import { ZERO_ADDRESS } from '../registry/delegation.ts';
import { UsageError } from '../service/terminal.ts';
import type { Invocation } from './command.ts';
import { type Ask, jsonOf, NO_SERVICE } from './query-target.ts';
import { chainIdOf, optionName, whenOf } from './question-options.ts';

export interface PinnedBlock {
  readonly chainId: number;
  readonly block: number;
  /** Null if only the block's number is known. */
  readonly hash: string | null;
  /** The end of the feed of changes before the first row: all of them, or only final ones if the chain is stale. Null if it has none. */
  readonly feed: { readonly final: 'true' | 'false'; readonly cursor: string } | null;
}

/** The block that an answer names. */
type NamedBlock = { readonly number: number; readonly hash: string | null };

export type PinnedBlocks = ReturnType<typeof createPinnedBlocks>;

const DISCARD = 'Discard the output and run the command again.';

export function createPinnedBlocks(call: Invocation, ask: Ask) {
  const known = new Map<number, Promise<PinnedBlock | string>>();
  const final = new Set<number>();
  let mostAtOnce = 1;

  /** Asks about no wallet in particular, for what the answer says of its block. */
  const askBlock = (chainId: number, when: CheckOptions) =>
    ask(urlFor(CHECKS[2].all, { ...when, chainId, from: ZERO_ADDRESS, to: ZERO_ADDRESS }));

  const askChanges = (chainId: number, params: object) =>
    ask(urlFor(CHANGES_OPERATION, { chainId, limit: 1, ...params }));

  async function feedOf(chainId: number): Promise<PinnedBlock['feed']> {
    for (const final of ['false', 'true'] as const) {
      const response = await askChanges(chainId, { start: 'head', final });
      if (response.ok) return { final, cursor: (await jsonOf<ResponseOf<typeof CHANGES_OPERATION>>(response)).cursor };
    }
    return null;
  }

  async function isFinal(chainId: number, block: number): Promise<boolean> {
    if (final.has(chainId)) return true;
    const response = await askBlock(chainId, { block: 'finalized' });
    if (response.ok && blockOf(response).number >= block) final.add(chainId);
    return final.has(chainId);
  }

  async function pin(chainId: number): Promise<PinnedBlock | string> {
    const feed = await feedOf(chainId);
    const response = await askBlock(chainId, whenOf(call));
    // A question of the whole file is at fault as a whole; one chain of several is not.
    if (!response.ok && chainId === chainIdOf(call)) throw new UsageError(await problemText(response, optionName));
    if (!response.ok) return problemText(response);
    const { number: block, hash } = blockOf(response);
    if (hash === null && !(await isFinal(chainId, block)))
      throw new UsageError(
        `Block ${block} of chain ${chainId} is not final and the service does not know its hash, so a reorg could not be detected. Use --block finalized, or omit --block for the newest block.`,
      );
    process.stderr.write(`Chain ${chainId}, at block ${block}${hash === null ? '' : ` (${hash})`}.\n`);
    const limit = limitOf(response);
    if (limit !== null && mostAtOnce === 1) process.stderr.write(limitText(limit));
    // Each question counts as a request, so a limited caller may not send more at once than its limit.
    mostAtOnce = Math.max(1, Math.min(limit?.most ?? MAX_QUESTIONS, MAX_QUESTIONS));
    return { chainId, block, hash, feed };
  }

  /** Throws if an answer is not from the pinned block. */
  async function requireSame({ chainId, block, hash }: PinnedBlock, answered: NamedBlock): Promise<void> {
    if (answered.number !== block) throw new UsageError(NO_SERVICE);
    if (hash !== null && answered.hash === hash) return;
    // The hash of a final block may no longer be stored, but the block cannot be replaced. For other blocks a missing hash
    // proves nothing: after a reorg, the service may know only the new block's number.
    if ((hash === null || answered.hash === null) && (await isFinal(chainId, block))) return;
    throw new UsageError(`Chain ${chainId} had a reorg at block ${block} while the file was being checked. ${DISCARD}`);
  }

  return {
    /** The pinned block of a chain, or the API's reason why there is none. */
    of: (chainId: number) => known.getOrInsertComputed(chainId, pin),
    /** How many rows are asked about together: one until the service has said how many it accepts. */
    mostAtOnce: () => mostAtOnce,
    requireSame,
    /** Throws if a pinned block was replaced. Call it after the last row. */
    async confirm(): Promise<void> {
      for (const pinned of await Promise.all(known.values())) {
        if (typeof pinned === 'string') continue;
        const { chainId, block, feed } = pinned;
        const response = await askBlock(chainId, { block });
        const changes = feed && (await askChanges(chainId, feed));
        for (const failed of [response, changes])
          if (failed?.ok === false)
            throw new UsageError(
              `Block ${block} of chain ${chainId} could not be confirmed after the last row: ${await problemText(failed)} ${DISCARD}`,
            );
        await requireSame(pinned, blockOf(response));
        const [first] = changes === null ? [] : (await jsonOf<ResponseOf<typeof CHANGES_OPERATION>>(changes)).changes;
        if (first?.type === 'undo' && first.block.number < block)
          throw new UsageError(
            `History up to block ${block} of chain ${chainId} changed while the file was being checked. ${DISCARD}`,
          );
      }
    },
  };
}

function blockOf({ headers }: Response): NamedBlock {
  const number = Number(headers.get('x-block-number') ?? Number.NaN);
  if (!Number.isSafeInteger(number)) throw new UsageError(NO_SERVICE);
  return { number, hash: headers.get('x-block-hash') };
}

/** The rate limit of this caller; null if it has none. */
function limitOf({ headers }: Response): { readonly most: number; readonly seconds: number } | null {
  const [, most, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  return most === undefined ? null : { most: Number(most), seconds: Number(seconds) };
}

/** Says at once how long a file takes. */
function limitText({ most, seconds }: NonNullable<ReturnType<typeof limitOf>>): string {
  const minutes = Math.ceil((1000 / most) * (seconds / 60));
  return `The service answers ${most} rows in ${seconds} s, so 1,000 rows take about ${minutes} min. With an API key it is faster: --key.\n`;
}

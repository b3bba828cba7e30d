// What the state of a chain means for those who ask about it, in words.

import { BACKFILL_BLOCKS } from '../../api/problems.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import { dateText, durationText } from '../time-text.ts';

type Halt = NonNullable<NetworkRecord['halt']>;

const HALTED: { readonly [Code in Halt['code']]: string } = {
  'finality-violation': 'a block that was final has changed',
  'registry-mismatch': 'the registry gave other answers than this service about many wallets',
  'import-unfinished': 'its history is only partly imported',
};

const STILL_ANSWERED = 'Questions as of a finalized block are still answered.';

export const networkName = ({ name, chainId }: NetworkRecord): string => name ?? `Chain ${chainId}`;

/**
 * The badge has a word or two, and the summary is a whole sentence that names the chain. The detail says what is wrong and since when,
 * and what is answered all the same; it is empty if the chain is up to date.
 */
export function healthOf(network: NetworkRecord) {
  const { ready, head, halt, clockBehindSeconds, lagSeconds } = network;
  const name = networkName(network);
  if (ready) return { badge: 'Up to date', summary: `${name} is up to date.`, detail: '' };
  if (halt !== null)
    return {
      badge: 'Halted',
      summary: `${name} is halted: ${HALTED[halt.code]}. Its answers are refused until that is resolved.`,
      detail: `Since ${dateText(halt.since)}, no question about ${name} is answered, because the answer could be wrong. Other chains are not affected.`,
    };
  if (head === null)
    return {
      badge: 'Starting',
      summary: `${name} is starting; its answers are refused until its history is indexed.`,
      detail: `Nothing of ${name} is indexed yet.${followerTrouble(network)}`,
    };
  if (clockBehindSeconds > 0)
    return {
      badge: 'Clock wrong',
      summary: `The clock of this service is ${durationText(clockBehindSeconds)} behind ${name}; its answers are refused until the clock is set.`,
      detail: `Without the right time, the age of the newest block is not known. ${STILL_ANSWERED}`,
    };
  const percent = backfillPercent(network);
  if (percent !== null)
    return {
      badge: 'Backfilling',
      summary: `${name} is ${percent} % indexed${timeLeft(network)}; its answers are refused until it is up to date.`,
      detail: `The history is indexed up to ${dateText(head.timestamp)}. ${STILL_ANSWERED}${followerTrouble(network)}`,
    };
  return {
    badge: 'Behind',
    summary: `${name} is behind by ${durationText(lagSeconds ?? 0)}; its answers are refused until it catches up.`,
    detail: `The newest indexed block is from ${dateText(head.timestamp)}. ${STILL_ANSWERED}${followerTrouble(network)}`,
  };
}

/** Of all chains, for the top of the page. */
export function summaryOf(networks: readonly NetworkRecord[]): string {
  const away = networks.filter(({ ready }) => !ready);
  const [only] = networks;
  if (only === undefined) return 'This service follows no chains yet.';
  if (away.length === 0)
    return networks.length === 1 ? healthOf(only).summary : `All ${networks.length} chains are up to date.`;
  const [first] = away;
  if (first !== undefined && away.length === 1) return healthOf(first).summary;
  const names = away.map(networkName);
  const refused = `The answers of ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are refused.`;
  return `${countText(networks.length - away.length, networks.length)} up to date. ${refused}`;
}

const countText = (ready: number, all: number) =>
  ready === 0 ? `None of the ${all} chains is` : `${ready} of ${all} chains ${ready === 1 ? 'is' : 'are'}`;

/** How much of the history is indexed, rounded down; null if it is not being backfilled, as the problem `chain-not-ready` decides it. */
export function backfillPercent({ ready, halt, firstBlock, head, chainBlock }: NetworkRecord): number | null {
  if (ready || halt !== null || head === null || chainBlock === null) return null;
  if (chainBlock - head.number <= BACKFILL_BLOCKS) return null;
  if (firstBlock === null) return 0;
  const share = (head.number - firstBlock + 1) / Math.max(1, chainBlock - firstBlock + 1);
  return Math.floor(1000 * Math.min(1, Math.max(0, share))) / 10;
}

const timeLeft = ({ progress }: NetworkRecord) =>
  progress?.secondsLeft == null ? '' : `, with about ${durationText(progress.secondsLeft)} left`;

function followerTrouble({ progress }: NetworkRecord): string {
  const { failing = null, providers = [] } = progress ?? {};
  if (failing?.cause.startsWith('database')) return ' New blocks cannot be written to the database.';
  if (providers.length === 0 || providers.some(({ healthy }) => healthy)) return '';
  return providers.length === 1
    ? ' The node that it is read from does not answer properly.'
    : ` None of the ${providers.length} nodes that it is read from answers properly.`;
}

/** From which block on each delegation is proven against the hash of its block. */
export function provenText({ proofs: { mode, logsFrom }, firstBlock, head }: NetworkRecord): string {
  if (mode === null || head === null) return 'Not yet known';
  if (mode === 'compared') return 'No: blocks of this chain cannot be proven, its providers are compared';
  if (logsFrom === null || logsFrom > head.number) return 'Not yet';
  return logsFrom === firstBlock
    ? 'Everything, against block hashes'
    : `From block ${logsFrom} on, against block hashes`;
}

/** How much of the final history two providers agree on. */
export function confirmedText({
  firstBlock,
  finalizedBlock,
  confirmedBlock,
  progress,
  imported,
}: NetworkRecord): string {
  if (imported !== null)
    return `Imported up to block ${imported.to}, ${Math.floor(100 * imported.confirmed)} % confirmed by its own providers`;
  if (firstBlock === null || finalizedBlock === null) return 'No final block yet';
  if (confirmedBlock === null)
    return progress?.providers.length === 1 ? 'No: it is read from one provider only' : 'Not yet';
  const percent = Math.floor((100 * (confirmedBlock - firstBlock + 1)) / (finalizedBlock - firstBlock + 1));
  return percent >= 100
    ? `All final history, up to block ${confirmedBlock}`
    : `${percent} % of final history, up to block ${confirmedBlock}`;
}

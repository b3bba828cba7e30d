// What the programs of one service tell each other through their database: how the followers stand, and what was denied.

import type { DeniedSample } from '../chain/denied-sample.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import { jsonText, readJson } from '../store/json.ts';
import type { Notices } from '../store/notices.ts';

const FIGURES = 'registry_figures';
const DENIED = 'registry_denied';
/** Figures that were told longer ago say nothing of now. */
const FRESH_MS = 20_000;
const TELL_MS = 5000;
/** A message of more is none to PostgreSQL. */
const LONGEST = 7900;

type Denied = ReturnType<DeniedSample['take']>;

/** Others may use the channel too: what makes no sense is told, and left. */
const heardBy = (heard: (value: unknown) => void, onError: (error: unknown) => void) => (text: string) => {
  try {
    heard(readJson(text));
  } catch (error) {
    onError(error);
  }
};

const tellEach = (
  notices: Notices,
  channel: string,
  messages: readonly unknown[],
  onError: (error: unknown) => void,
) => {
  for (const text of messages.map(jsonText))
    if (Buffer.byteLength(text) < LONGEST) notices.publish(channel, text).catch(onError);
};

/** Tells how the followed chains stand, and hears what callers were denied. */
export function publishFollowerStatus(
  notices: Notices,
  followerStatus: () => readonly FollowerStatus[],
  onDenied: (...denied: Denied[number]) => void,
  onError: (error: unknown) => void,
): { stop(): void } {
  notices.subscribe(
    DENIED,
    heardBy((value) => onDenied(...(value as Denied[number])), onError),
  );
  const ours = () => followerStatus().filter(({ standby }) => !standby);
  const timer = setInterval(() => tellEach(notices, FIGURES, ours(), onError), TELL_MS);
  return { stop: () => clearInterval(timer) };
}

/** Hears how the followed chains stand, and tells what callers were denied. */
export function subscribeToFollowerStatus(notices: Notices, denials: DeniedSample, onError: (error: unknown) => void) {
  const known = new Map<number, { readonly followerStatus: FollowerStatus; readonly at: number }>();
  const note = (followerStatus: FollowerStatus) =>
    known.set(followerStatus.chainId, { followerStatus, at: performance.now() });
  notices.subscribe(
    FIGURES,
    heardBy((value) => note(value as FollowerStatus), onError),
  );
  const timer = setInterval(() => tellEach(notices, DENIED, denials.take(), onError), TELL_MS);
  return {
    followerStatus: (): readonly FollowerStatus[] =>
      [...known.values()]
        .filter(({ at }) => performance.now() - at < FRESH_MS)
        .map(({ followerStatus }) => followerStatus),
    stop: () => clearInterval(timer),
  };
}

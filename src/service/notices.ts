// Messages between the processes of one service through PostgreSQL: follower status, and the sample of denied questions.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import type { Notices } from '../store/engine.ts';
import { jsonText, readJson } from '../store/rows/cells.ts';
import type { OnError } from './log.ts';

const STATUS_CHANNEL = 'registry_follower_status';
const DENIED_CHANNEL = 'registry_denied';
const PUBLISH_MS = 5000;
/** A status that is older than this is dropped. */
const EXPIRE_MS = 20_000;
/** PostgreSQL rejects a NOTIFY payload of 8000 bytes or more. */
const MAX_PAYLOAD_BYTES = 7900;

type Denied = ReturnType<DeniedSample['take']>;

/** Anyone with access to the database can write to a channel: a message that cannot be read is logged and dropped. */
const onJson = (handle: (value: unknown) => void, onError: OnError) => (text: string) => {
  try {
    handle(readJson(text));
  } catch (error) {
    onError(error);
  }
};

const publish = (notices: Notices, channel: string, messages: readonly unknown[], onError: OnError) => {
  for (const text of messages.map(jsonText))
    if (Buffer.byteLength(text) < MAX_PAYLOAD_BYTES) notices.publish(channel, text).catch(onError);
};

/** For followers: publishes their status and receives denied questions. */
export function publishFollowerStatus(
  notices: Notices,
  followerStatus: () => readonly FollowerStatus[],
  onDenied: (...denied: Denied[number]) => void,
  onError: OnError,
): { stop(): void } {
  const onQuestions = onJson((value) => onDenied(...(value as Denied[number])), onError);
  notices.subscribe(DENIED_CHANNEL, onQuestions);
  // Without the counters: APIs do not show them, and a payload is small.
  const active = () =>
    followerStatus()
      .filter(({ standby }) => !standby)
      .map((status) => ({ ...status, rpc: {}, events: {}, providerFailures: {} }));
  const timer = setInterval(() => publish(notices, STATUS_CHANNEL, active(), onError), PUBLISH_MS);
  return { stop: () => clearInterval(timer) };
}

/** For APIs: receives the status of all followers and publishes denied questions. */
export function subscribeToFollowerStatus(notices: Notices, denied: DeniedSample, onError: OnError) {
  const latest = new Map<number, { readonly status: FollowerStatus; readonly at: number }>();
  const onStatus = onJson((value) => {
    const status = value as FollowerStatus;
    latest.set(status.chainId, { status, at: performance.now() });
  }, onError);
  notices.subscribe(STATUS_CHANNEL, onStatus);
  const timer = setInterval(() => publish(notices, DENIED_CHANNEL, denied.take(), onError), PUBLISH_MS);
  return {
    followerStatus: (): readonly FollowerStatus[] =>
      [...latest.values()].filter(({ at }) => performance.now() - at < EXPIRE_MS).map(({ status }) => status),
    stop: () => clearInterval(timer),
  };
}

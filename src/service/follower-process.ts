// The process that follows the chains beside the one that answers: neither can hold up the other.

import type { DeniedSample } from '../chain/denied-sample.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import { startChild } from './child.ts';
import type { Environment } from './config.ts';
import type { Log } from './log.ts';

export interface FollowerProcess {
  /** As the process told them last. */
  followerStatus(): readonly FollowerStatus[];
  stop(): Promise<void>;
}

/** It tells its followerStatus every second, but a long change of the store may hold it up. */
const SILENT_MS = 120_000;

/** Starts it, and starts it again whenever it ends by itself. Its audit is told what callers were denied. */
export function startFollowerProcess(
  log: Log,
  takeDenied: DeniedSample['take'],
  environment: Environment,
): FollowerProcess {
  let chains: readonly FollowerStatus[] = [];
  const { stop } = startChild({
    name: 'the following process',
    args: ['follow'],
    environment,
    log,
    silentMs: SILENT_MS,
    onLost: () => {
      chains = [];
    },
    onMessage(message, child) {
      const told = message as { type?: string; chains?: readonly FollowerStatus[] };
      if (told.type !== 'followerStatus' || told.chains === undefined) return;
      chains = told.chains;
      const denied = takeDenied();
      if (denied.length > 0) child.send({ type: 'denied', denied });
    },
  });
  return { followerStatus: () => chains, stop };
}

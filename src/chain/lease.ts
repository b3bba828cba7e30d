// One follower a chain: whoever holds its lease follows, and everyone else stands by. Commits are fenced by epoch besides: a
// holder that was frozen and comes back writes nothing. A holder that makes no progress gives the lease back.

import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Store } from '../store/store.ts';
import { type StopReason, sleep } from './run-follower.ts';

export interface LeaseOptions {
  readonly store: Pick<Store, 'lease' | 'release'>;
  readonly chainId: number;
  /** Unlike that of anyone else; this process unless it is given. */
  readonly holder?: string;
  readonly signal: AbortSignal;
  /** Told whenever we begin to stand by, or to follow. */
  readonly onChange: (isOurs: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** A holder that is not heard of for so long is gone; together with the pause between two tries less than ten seconds. */
const LEASE_MS = 7000;
const RENEW_MS = 2000;
const TRY_MS = 1500;
/** At first more often: whoever was here before may just be ending. */
const EAGER_MS = 100;
const EAGER_TRIES = 20;
/** After a stall: three times as long as a standby waits between two tries, and still no noticeable delay where there is none. */
const AWAY_MS = 5000;

/** Where processes can see each other: the system since it was started, and the container. */
function placeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

const PLACE = placeOf();
const HOLDER = `${PLACE} ${process.pid} ${randomBytes(6).toString('hex')}`;

/** Surely gone: a process of this very place that is no more. One that we may not see, or not signal, is there. */
function isGone(holder: string): boolean {
  const [place, pid] = holder.split(' ');
  if (place !== PLACE) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH';
  }
}

/** What is done while the lease is ours. It must end when its signal does. */
type Work = (signal: AbortSignal) => Promise<StopReason>;

/** Does the work whenever the lease is ours, until the signal comes. */
export async function holdLease(options: LeaseOptions, work: Work): Promise<void> {
  const { store, chainId, holder = HOLDER, signal, onChange, onError } = options;
  const release = () => store.release(chainId, holder).catch(onError);
  let wasOurs: boolean | null = null;
  for (let tries = 0; !signal.aborted; tries++) {
    const isOurs = await take(store, chainId, holder).catch((error) => {
      onError(error);
      return false;
    });
    if (isOurs !== wasOurs) onChange(isOurs);
    wasOurs = isOurs;
    if (isOurs && (await whileHeld(options, holder, work)) === 'stalled') {
      await release();
      await sleep(AWAY_MS, signal);
    } else await sleep(tries < EAGER_TRIES ? EAGER_MS : TRY_MS, signal);
  }
  await release();
}

async function take(store: LeaseOptions['store'], chainId: number, holder: string): Promise<boolean> {
  const found = await store.lease(chainId, holder, LEASE_MS);
  if (found === holder) return true;
  if (!isGone(found)) return false;
  await store.release(chainId, found);
  return (await store.lease(chainId, holder, LEASE_MS)) === holder;
}

async function whileHeld(
  { store, chainId, signal, onError }: LeaseOptions,
  holder: string,
  work: Work,
): Promise<StopReason> {
  const lost = new AbortController();
  let heldAt = performance.now();
  const renew = async () => {
    try {
      if ((await store.lease(chainId, holder, LEASE_MS)) === holder) heldAt = performance.now();
      else lost.abort();
    } catch (error) {
      onError(error);
      if (performance.now() - heldAt > LEASE_MS) lost.abort();
    }
  };
  let renewing: Promise<void> | null = null;
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
  }, RENEW_MS);
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
    // A renewal that came after the lease was given back would take it again.
    await renewing;
  }
}

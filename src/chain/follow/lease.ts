// Holds a chain's lease: one process follows a chain, the others stand by. Commits are also fenced by epoch, so that a holder
// that was frozen writes nothing when it continues. A holder that makes no progress releases the lease.

import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Store } from '../../store/store.ts';
import { type StopReason, sleep } from './run-follower.ts';

export interface LeaseOptions {
  readonly store: Pick<Store, 'lease' | 'release'>;
  readonly chainId: number;
  /** Unique. By default this process. */
  readonly holder?: string;
  readonly signal: AbortSignal;
  /** Called when this process gets the lease, and when it begins to stand by. */
  readonly onChange: (isOurs: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** A lease that is not renewed for this long expires. With one retry pause it is less than ten seconds. */
const LEASE_MS = 7000;
const RENEW_MS = 2000;
const RETRY_MS = 1500;
/** At the start retries are frequent: the previous process may be about to end. */
const EAGER_RETRY_MS = 100;
const EAGER_RETRIES = 20;
/** Pause after a stall. Longer than three retries of a standby, so that it gets the lease. */
const STALL_PAUSE_MS = 5000;

/** Identifies the machine since its boot, and the container: processes of one place see each other's ids. */
function findPlace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

const PLACE = findPlace();
const HOLDER = `${PLACE} ${process.pid} ${randomBytes(6).toString('hex')}`;

/** True only for a process of this place that does not exist any more. */
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

/** Runs while the lease is held. Must end when the signal aborts. */
type Work = (signal: AbortSignal) => Promise<StopReason>;

/** Runs the work whenever this process has the lease, until the signal aborts. */
export async function holdLease(options: LeaseOptions, work: Work): Promise<void> {
  const { store, chainId, holder = HOLDER, signal, onChange, onError } = options;
  const release = () => store.release(chainId, holder).catch(onError);
  let wasOurs: boolean | null = null;
  for (let tries = 0; !signal.aborted; tries++) {
    // Null if the store does not answer: then nobody is known to hold the lease.
    const isOurs = await take(store, chainId, holder).catch((error) => {
      onError(error);
      return null;
    });
    if (isOurs !== null && isOurs !== wasOurs) {
      onChange(isOurs);
      wasOurs = isOurs;
    }
    if (isOurs && (await runWhileHeld(options, holder, work)) === 'stalled') {
      await release();
      await sleep(STALL_PAUSE_MS, signal);
    } else await sleep(tries < EAGER_RETRIES ? EAGER_RETRY_MS : RETRY_MS, signal);
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

async function runWhileHeld({ store, chainId, signal, onError }: LeaseOptions, holder: string, work: Work) {
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
    // A renewal that ends after the release would take the lease again.
    await renewing;
  }
}

// One follower a chain: whoever holds its lease follows, and everyone else stands by. Commits are fenced by epoch besides: a
// holder that was frozen and comes back writes nothing.

import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Store } from '../store/store.ts';
import { sleep } from './run.ts';

export interface LeaseOptions {
  readonly store: Pick<Store, 'lease' | 'release'>;
  readonly chainId: number;
  readonly signal: AbortSignal;
  /** Told whenever we begin to stand by, or to follow. */
  readonly onTurn: (isOurs: boolean) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** A holder that is not heard of for so long is gone; together with the pause between two tries less than ten seconds. */
const LEASE_MS = 7000;
const RENEW_MS = 2000;
const TRY_MS = 1500;
/** At first more often: whoever was here before may just be ending. */
const EAGER_MS = 100;
const EAGER_TRIES = 20;

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

/** Does the work whenever the lease is ours, until the signal comes. The work must end when its own signal does. */
export async function holdLease(options: LeaseOptions, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { store, chainId, signal, onTurn, onTrouble } = options;
  let wasOurs: boolean | null = null;
  for (let tries = 0; !signal.aborted; tries++) {
    const isOurs = await take(store, chainId).catch((error) => {
      onTrouble(error);
      return false;
    });
    if (isOurs !== wasOurs) onTurn(isOurs);
    wasOurs = isOurs;
    if (isOurs) await whileHeld(options, work);
    await sleep(tries < EAGER_TRIES ? EAGER_MS : TRY_MS, signal);
  }
  await store.release(chainId, HOLDER).catch(onTrouble);
}

async function take(store: LeaseOptions['store'], chainId: number): Promise<boolean> {
  const holder = await store.lease(chainId, HOLDER, LEASE_MS);
  if (holder === HOLDER) return true;
  if (!isGone(holder)) return false;
  await store.release(chainId, holder);
  return (await store.lease(chainId, HOLDER, LEASE_MS)) === HOLDER;
}

async function whileHeld(
  { store, chainId, signal, onTrouble }: LeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
) {
  const lost = new AbortController();
  let heldAt = performance.now();
  const timer = setInterval(async () => {
    try {
      if ((await store.lease(chainId, HOLDER, LEASE_MS)) === HOLDER) heldAt = performance.now();
      else lost.abort();
    } catch (error) {
      onTrouble(error);
      if (performance.now() - heldAt > LEASE_MS) lost.abort();
    }
  }, RENEW_MS);
  try {
    await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
  }
}

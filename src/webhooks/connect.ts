// Connects to a receiver. A name is resolved once, all its addresses are checked, and the connection goes to one of exactly these
// addresses: a name that changes its address afterwards has no effect. The certificate is checked against the name.

import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { isAllowedAddress } from './networks.ts';
import { hostOf, type TargetRules } from './target.ts';

export interface ConnectOptions {
  /** Returns all addresses of a name. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Certificate authorities to trust instead of the system's, in PEM. */
  readonly ca?: string;
}

/**
 * - `status`: an answer other than 2xx or 3xx
 * - `redirect`: a 3xx answer; redirects are not followed
 * - `challenge`: a 2xx answer without the challenge
 * - `address-refused`: the URL or an address of its name is not allowed
 * - `protocol`: not a complete HTTP/1.1 answer, or one with too long headers
 */
export type SendFailure =
  | 'status'
  | 'redirect'
  | 'challenge'
  | 'timeout'
  | 'dns'
  | 'address-refused'
  | 'connect'
  | 'tls'
  | 'protocol';

/** Why a delivery got no answer. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly reason: SendFailure;

  constructor(reason: SendFailure) {
    super(`The delivery failed: ${reason}.`);
    this.reason = reason;
  }
}

const MOST_ADDRESSES = 4;
const CONNECT_FAILURES = /^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL|TIMEDOUT|ACCES|PERM|INVAL)$/;

const resolveAll = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address);

/** `stop` ends it at any time. `deadline` is in milliseconds of `performance.now()`. */
export async function connectTo(
  url: URL,
  { networks }: TargetRules,
  { resolve = resolveAll, ca }: ConnectOptions,
  deadline: number,
  stop: AbortSignal,
): Promise<Socket> {
  const host = hostOf(url);
  const addresses = isIP(host) !== 0 ? [host] : await resolve(host).catch(() => []);
  stop.throwIfAborted();
  if (addresses.length === 0) throw new SendError('dns');
  // One refused address refuses the name: the others may be a disguise.
  if (!addresses.every((one) => isAllowedAddress(one, networks))) throw new SendError('address-refused');
  const tried = addresses.slice(0, MOST_ADDRESSES);
  for (const [turn, address] of tried.entries()) {
    const left = tried.length - turn;
    try {
      // An address that does not answer leaves time for the others. `stop` ends the last one.
      const ms = left === 1 ? null : (deadline - performance.now()) / left;
      return await open(url, address, ca, ms, stop);
    } catch (error) {
      if (left === 1 || !(error instanceof SendError && error.reason === 'connect')) throw error;
    }
  }
  throw new SendError('connect');
}

function open(url: URL, address: string, ca: string | undefined, ms: number | null, stop: AbortSignal) {
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const host = hostOf(url);
  const socket = isTls
    ? connectTls({
        host: address,
        port,
        // The certificate is checked against it. An address in the URL is checked against the certificate's addresses.
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === undefined ? {} : { ca }),
        ALPNProtocols: ['http/1.1'],
        minVersion: 'TLSv1.2',
        // Set here so that NODE_TLS_REJECT_UNAUTHORIZED does not matter.
        rejectUnauthorized: true,
      })
    : connect({ host: address, port });
  return new Promise<Socket>((done, fail) => {
    const timer = ms === null ? undefined : setTimeout(() => end(new SendError('connect')), ms);
    const onStop = () => end(stop.reason);
    const end = (error: unknown) => {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
      if (error === null) return done(socket);
      // A later error of a socket that nobody uses must not end the process.
      socket.on('error', () => {});
      socket.destroy();
      fail(error);
    };
    stop.addEventListener('abort', onStop);
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(new SendError(!isTls || CONNECT_FAILURES.test(code ?? '') ? 'connect' : 'tls')),
    );
    socket.once('close', () => end(new SendError(isTls ? 'tls' : 'connect')));
    socket.once(isTls ? 'secureConnect' : 'connect', () => end(null));
  });
}

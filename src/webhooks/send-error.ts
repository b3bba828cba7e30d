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

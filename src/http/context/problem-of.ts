// Turns any error into a problem.

import { Problem } from '../../api/problems.ts';
import { StoreError } from '../../store/errors.ts';
import { providerTrouble } from './as-of.ts';
import type { FailedRequest, Service } from './service.ts';

/** The database is that of a newer program. */
export const outdated = () =>
  new Problem('not-ready', 'A newer version of the service has migrated the database. Upgrade this process.', {
    retryAfter: 30,
  });

/** `failed` names the request in the log. */
export function problemOf(error: unknown, service: Service, failed?: FailedRequest): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreError) {
    // A sandbox indexes a block a moment after it is made.
    const retryAfter = service.sandbox ? 1 : 5;
    switch (error.code) {
      case 'unavailable':
        service.onError?.(error, failed);
        return new Problem('not-ready', 'The database is unavailable.', { retryAfter });
      case 'newer-schema':
        return outdated();
      case 'not-started':
        return new Problem('chain-not-ready', `${error.message}${providerTrouble(service, error.chainId)}`, {
          retryAfter,
        });
      case 'before-first':
        return new Problem('not-indexed', error.message);
      case 'beyond-head':
        return new Problem('not-yet-indexed', error.message, { retryAfter });
      case 'rewritten':
        return new Problem('cursor-gone', `${error.message} Start again without a cursor.`);
      case 'revocation-unread':
        return new Problem('revocation-unread', error.message, { retryAfter });
      default:
        break;
    }
  }
  service.onError?.(error, failed);
  return new Problem('internal', "The request failed. The operator's log has the cause.");
}

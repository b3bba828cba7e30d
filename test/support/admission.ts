// Who may ask, in tests: limits for callers without a key, and no key that works.

import { type AdmissionOptions, createAdmission } from '../../src/http/limits/admission.ts';
import { createLimiter } from '../../src/http/limits/limiter.ts';

/** Requests, pages and lookups of keys have this limit each. */
export function admissionOf(most: number, more: Partial<AdmissionOptions> = {}, seconds = 10) {
  const limiter = () => createLimiter({ most, seconds });
  return createAdmission({
    anonymous: limiter(),
    pages: limiter(),
    lookups: limiter(),
    limiterOfKey: () => null,
    keys: { known: () => false, found: () => null, isFamiliar: () => true, lookUp: async () => false },
    proxies: { check: () => false },
    ...more,
  });
}

// Selects the v1 revocations of one wallet that name no delegate.

import { DELEGATE_REVOKED } from './log-row.ts';

/** For a wallet in $2 of the chain in $1. */
export const REVOCATION_LOGS = `FROM log WHERE chain = $1 AND version = 1 AND kind = ${DELEGATE_REVOKED}
  AND from_addr = $2 AND to_addr = $2 AND revoked IS NULL`;

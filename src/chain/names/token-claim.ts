// What token contracts call themselves. Another contract may call itself the same.

import type { Address } from '../../registry/delegation.ts';
import type { ContractCalls } from './contract-calls.ts';
import { decodeText, harmless } from './return-text.ts';

export interface TokenClaim {
  /** Its symbol, if it has no name. */
  readonly name: string;
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** ERC-20 and ERC-721 `name()`, `symbol()`, and ERC-20 `decimals()`. */
const FUNCTIONS = ['0x06fdde03', '0x95d89b41', '0x313ce567'];
const MAX_BYTES = 32 * 1024;

/** Null for a contract that says nothing that can be shown. */
export async function readClaims(calls: ContractCalls, contracts: readonly Address[], deadline: number) {
  const asked = contracts.flatMap((to) => FUNCTIONS.map((data) => ({ to, data })));
  const answers = await calls.each(asked, deadline);
  return contracts.map((_, at): TokenClaim | null => {
    const [called = null, unit = null, decimals = null] = answers.slice(FUNCTIONS.length * at);
    const symbol = textOf(unit);
    const name = textOf(called) ?? symbol;
    return name === null ? null : { name, symbol, decimals: decimalsOf(decimals) };
  });
}

function textOf(data: string | null): string | null {
  const text = harmless(decodeText(data ?? '0x', MAX_BYTES) ?? '');
  return text === '' ? null : text;
}

const decimalsOf = (data: string | null) => (/^0x0{62}[0-9a-f]{2}$/.test(data ?? '') ? Number(data) : null);

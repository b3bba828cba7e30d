// Migrates the sentences that earlier versions stored for a halted chain to halts as data.

import type { Bytes32 } from '../registry/delegation.ts';
import type { WriteTransaction } from './engine.ts';
import type { Halt } from './halt.ts';
import { jsonText } from './json.ts';

function haltOfSentence(sentence: string, since: number): Halt {
  const block = Number(/block (\d+)/i.exec(sentence)?.[1] ?? 0);
  if (sentence.startsWith('A block that was final has changed')) {
    const theirs = (/0x[0-9a-f]{64}/.exec(sentence)?.[0] ?? null) as Bytes32 | null;
    return { code: 'finality-violation', since, block, theirs };
  }
  if (sentence.startsWith('It is being imported')) return { code: 'import-unfinished', since };
  if (/^Block \d+ has a log here/.test(sentence)) return { code: 'index-mismatch', since, block };
  return { code: 'registry-mismatch', since, block, statements: [] };
}

/** Moves the sentence in `shut` to the data in `halt`. */
export async function migrateHalts(tx: WriteTransaction): Promise<void> {
  const since = Math.floor(Date.now() / 1000);
  for (const [chain, shut] of await tx.rows('SELECT chain, shut FROM chain WHERE shut IS NOT NULL', [])) {
    await tx.run('UPDATE chain SET halt = $2 WHERE chain = $1', [
      Number(chain),
      jsonText(haltOfSentence(String(shut), since)),
    ]);
  }
}

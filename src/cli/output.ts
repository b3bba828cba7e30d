// Writes the output of commands. A closed pipe is an error (exit code 2), never a "no" (exit code 1).

import { writeSync } from 'node:fs';

const STDOUT = 1;

/** Resolves once everything is written. */
export async function writeOut(output: string | Uint8Array): Promise<void> {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(STDOUT, bytes, done);
    } catch (error) {
      // The pipe is full and non-blocking: try again.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
      await Bun.sleep(1);
    }
  }
}
